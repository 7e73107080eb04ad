/**
 * English words that carry grammar and not matter. In a small library counting cannot tell them from the others; a question
 * that has any other word can do without them.
 */
const COMMON = new Set(
  `a about after again all also am an and any are as at be because been before being between both but by can could did do
does doing done for from get had has have having he her here hers him his how i if in into is it its just like me more
most much my no not now of off on one only or other our out over own she should so some such t s than that the their them
then there these they this those through to too under up us very was we were what when where which while who whom whose
why will with would you your`.split(/\s+/),
)

export const isCommonWord = (word: string): boolean => COMMON.has(word)
