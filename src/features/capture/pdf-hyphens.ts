/** The words of a document as they stand inside its lines, lower case. */
export interface Lexicon {
  words: ReadonlySet<string>
  /** Words written with a hyphen, such as `well-known`. */
  compounds: ReadonlySet<string>
}

/** First parts that English joins by a hyphen nearly always. */
const COMPOUND_STARTS = new Set(
  'self well cross half quasi twenty thirty forty fifty sixty seventy eighty ninety middle three four five eight nine'.split(
    ' ',
  ),
)
/** First parts that English joins by a hyphen to a word of its own; they also begin words (`ten-dency`, `low-er`). */
const MAYBE_STARTS = new Set(
  (
    'high low long short full real large small two six seven ten one first second third fourth old new open closed hard ' +
    'soft left right far near all ill ex so non'
  ).split(' '),
)
const COMPOUND_ENDS = new Set('based oriented driven minded century'.split(' '))
const SUFFIX = /^(?:er|est|ly|en|ened|ed|ing|ish|ness|less|ful|ity|hood|ship|s|es|ware|ary|able|ment)$/u
/** Words that follow a hanging hyphen: "pre- and post-war", "Haupt- und Nebensatz". */
const AFTER_HANGING = new Set('and or to und oder bis bzw et ou y o e en of'.split(' '))

const WORD = /[\p{L}\p{M}]+(?:['’][\p{L}\p{M}]+)*(?:[-‐][\p{L}\p{M}]+)*/gu

/** Collects the words of a document. Words that a line's end cuts are left out: they are what is asked about. */
export function lexiconOf(lines: Iterable<string>): Lexicon {
  const words = new Set<string>()
  const compounds = new Set<string>()
  for (const line of lines) {
    const whole = line.replace(/[\p{L}\p{M}]+[-‐\u00ad]$/u, '')
    for (const [word] of whole.matchAll(WORD)) {
      const known = word.toLowerCase().replaceAll('‐', '-')
      ;(known.includes('-') ? compounds : words).add(known)
    }
  }
  return { words, compounds }
}

/**
 * Joins two lines of one paragraph.
 *
 * A hyphen at the end of the first is taken out when it only breaks a word, and stays when it belongs to the word. The
 * document itself is the best witness: `well-` + `known` is whatever it is elsewhere in the text. Without a witness the
 * hyphen stays before a capital or a digit (Jean-Paul, COVID-19), after a part that has a hyphen already
 * (state-of-the-art), and where the parts are those of a compound (self-, -based; long- before a word that the document has by itself). Everything
 * else is joined: in running prose a hyphen at a line's end breaks a word far more often than it joins two.
 */
export function joinLines(first: string, second: string, lexicon: Lexicon): string {
  if (first === '' || second === '') return first + second
  if (first.endsWith('\u00ad')) return first.slice(0, -1) + second
  const end = /([\p{L}\p{M}\p{N}'’-]+)[-‐]$/u.exec(first)
  const start = /^[\p{L}\p{M}\p{N}]+/u.exec(second)?.[0]
  if (end?.[1] && start) {
    if (AFTER_HANGING.has(start.toLowerCase()) && !lexicon.words.has((end[1] + start).toLowerCase())) {
      return `${first} ${second}`
    }
    return isWordBreak(end[1], start, lexicon) ? first.slice(0, -1) + second : first + second
  }
  if (/\S—$/u.test(first)) return first + second
  return isUnspaced(first.at(-1) ?? '') && isUnspaced(second[0] ?? '') ? first + second : `${first} ${second}`
}

function isWordBreak(before: string, after: string, lexicon: Lexicon): boolean {
  if (!/^\p{Ll}/u.test(after) || /\p{N}$/u.test(before)) return false
  const lastPart = before.split('-').at(-1) ?? before
  const joined = (lastPart + after).toLowerCase()
  const compound = `${before}-${after}`.toLowerCase()
  if (lexicon.words.has(joined) && !lexicon.compounds.has(compound)) return true
  if (lexicon.compounds.has(compound)) return lexicon.words.has(joined)
  if (before.includes('-')) return false
  const first = before.toLowerCase()
  if (COMPOUND_ENDS.has(after) && first.length > 3) return false
  if (COMPOUND_STARTS.has(first)) return SUFFIX.test(after)
  return !(MAYBE_STARTS.has(first) && lexicon.words.has(after) && !SUFFIX.test(after))
}

/** Chinese and Japanese put no space between words; a line's end adds none. */
function isUnspaced(char: string): boolean {
  return /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\u3000-\u303f\uff00-\uffef]/u.test(char)
}
