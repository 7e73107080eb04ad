import { UNSPACED } from '../../core/text.ts'

/** Which words never make a passage, and how well others stand alone. Cues are of English; other languages go without. */

const EACH_UNSPACED = new RegExp(UNSPACED.source, 'gu')

/** Width that a passage needs to say something, and that a reader still takes in at a glance; see `widthOf`. */
const NARROWEST = 45
const NARROWEST_PIECE = 120
export const WIDEST = 600

/** Length of a text in characters of Latin script: one of a script without spaces says about as much as three. */
export function widthOf(text: string): number {
  return text.length + 2 * (text.match(EACH_UNSPACED)?.length ?? 0)
}

/** What pages say about themselves, and what is there to be looked up and not read. */
const BOILERPLATE = [
  /https?:\/\/|www\.|\S@\S+\.\p{L}|\.(?:com|org|net)\b/u,
  /[{}\\|`^~]|=>|==|\(\)|::|<\/?[a-z]|[;=]\s*$|\s[=+*/]\s/u,
  /^\s*(?:\[\d+\]|\^|[†‡*§]|\(\d+\))|\t/u,
  /\[\d+\]\s*$|\bet al\b|\bdoi\b|\bISBN\b|\barXiv\b|\bpp?\.\s*\d|\bvol\.|\bibid\b|\bRetrieved\b.*\d|\b(?:19|20)\d\d\)\./iu,
  /^(?:fig(?:ure)?|table|abb|abbildung|tabelle|tableau|figura|tabla|рис|photo|image|credit|source|quelle|foto|bild)\b\.?\s*[\d:(/]/iu,
  /^[图圖表][\s\d一二三四五六七八九十]|(?:図|表)\s*\d/u,
  /\b(?:photo(?:graph)?s?|image|illustration|picture)s? (?:by|credit|courtesy|via|source|:)|getty images|shutterstock|\bcourtesy of\b/iu,
  /\bcookie (?:policy|settings?|preferences?|notice|banner)|\b(?:use|uses|using|accept|allow|store|all) (?:of )?(?:all )?cookies\b|\bcookies (?:to|and similar)\b/iu,
  /\bprivacy (?:policy|notice)|\bterms (?:of|and) (?:use|service|conditions)|\ball rights reserved|©|\(c\) ?(?:19|20)\d\d|\bcopyright\b.*\d{4}|\bjavascript\b.*\b(?:enable|disabled|browser)/iu,
  /\b(?:subscribe|sign up|sign in|log ?in|register) (?:to|for|now|here|today|with|below)\b|\bnewsletters?\b|\bunsubscribe|\bfollow (?:us|me|him|her|them|@)|\bshare this\b|\bclick (?:here|on|the|to)\b|\bread more\b|\btap here\b|\bdownload (?:the|our) app/iu,
  /\bleave a (?:comment|reply)|\bcomments? (?:below|section|are closed)|\bthis (?:article|story|post|interview|transcript|essay) (?:was|has been|originally|first|is (?:part|an? excerpt|available))|\b(?:originally|first) (?:published|appeared)\b|\badvertisement\b|\bsponsored\b|\baffiliate\b|\b(?:hit|press|smash) (?:the|that) (?:like|subscribe)\b/iu,
  /\bis an? (?:[\p{L}-]+ ){0,4}(?:reporter|columnist|contributor|correspondent|freelancer|staff writer|senior writer|contributing \p{L}+) (?:at|for|with|who|based|covering)|\breporting by\b|\bedited by\b|\bcontributed to this (?:report|story)|\bupdated?(?: on)?:? .*\d{4}/iu,
  /\b(?:datenschutz|newsletter|alle rechte vorbehalten|tous droits réservés|todos los derechos reservados|todos os direitos reservados|politique de confidentialité|abonnez-vous|suscríbe|jetzt abonnieren|подпишитесь|все права защищены)/iu,
  /(?:版权所有|版權所有|转载|轉載|订阅|訂閱|点击|點擊|無断転載|著作権|著作權|キャンセル|购物车|隐私政策|隱私)/u,
]

/** A start that points to something said before. */
const LEANS = [
  /^["'“‘«(]*(?:he|she|they|it|its|his|her|their|this|these|those|that|such|but|and|or|nor|so|yet|rather|however|also|then|therefore|thus|hence|moreover|furthermore|additionally|besides|instead|otherwise|meanwhile|likewise|similarly|consequently|accordingly|nevertheless|nonetheless|still|again|too|another|others?|both|neither|either|here|there|the (?:latter|former|same|other|second|third)|for (?:example|instance|this reason)|in (?:addition|contrast|other words|turn|that case|particular|short|fact)|on the other hand|as (?:such|a result|well|mentioned|noted|above)|first(?:ly)?|second(?:ly)?|third(?:ly)?|finally|lastly|next|later|after (?:that|this)|because of (?:this|that)|of course|indeed|well|yes|no|oh|ok(?:ay)?|now|right|anyway|plus|even so|that said)\b/iu,
  /^["'“‘«(]*(?:er|sie|es|dies\p{L}*|jene\p{L}*|aber|und|oder|doch|denn|daher|deshalb|also|dann|dabei|damit|dadurch|außerdem|jedoch|trotzdem|auch|so|hier|dort|il|elle|ils|elles|cel[au]|ce|cette|ces|mais|et|donc|car|puis|alors|ainsi|cependant|pourtant|él|ella|ellos|ellas|est[aeo]s?|es[aeo]s?|pero|y|o|entonces|además|así|también|ele|ela|eles|elas|iss?o|mas|então|também|но|и|а|он|она|они|это|этот|эта|эти|поэтому|однако|также|тогда|maar|en|dus|hij|zij|het|deze|dit|dat|ma|e|quindi|però|questo|questa|quello)(?=[\s,])/iu,
  /^[“「『"]?(?:但|但是|可是|不过|不過|然而|而且|所以|因此|因为这|因為這|于是|於是|这|這|那|他|她|它|其|此|并且|並且|另外|同时|同時|接着|接著|しかし|だが|そして|また|だから|それ|これ|この|その|あの|彼|つまり|たとえば|例えば|ただし|さらに|なお|แต่|และ|ดังนั้น|เขา|เธอ|มัน)/u,
]

/** Words of someone who has come to something: a claim, a reason, a contrast (Edmundson's cue words, 1969). */
const CLAIMS = [
  /\b(?:not|never|no longer|isn't|aren't|don't|doesn't|is no)\b.{2,80}(?:\bbut\b|;|—|\brather\b)|\brather than\b|\binstead of\b|\bmore\b.{1,60}\bthan\b|\bless\b.{1,60}\bthan\b/iu,
  /\bbecause\b|\btherefore\b|\bthus\b|\bmeans? that\b|\bthe (?:reason|point|key|lesson|trick|secret|truth|problem|question|goal|purpose|difference|only way|best way|danger|idea) \b|\bleads? to\b|\bdepends on\b|\bso that\b|\bin order to\b/iu,
  /\b(?:important|essential|crucial|matters?|fundamental|central|necessary|impossible|inevitable|surprising(?:ly)?|remarkabl[ey]|powerful|valuable)\b/iu,
  /\b(?:always|never|every|nothing|everything|nobody|no one|anyone|only|cannot|must|all|most|best|worst|greatest|first|largest|none)\b/iu,
  /\b(?:found|shows?|showed|suggests?|reveals?|discovered|learned|realized|concluded|estimates?|proves?|argues?)\b/iu,
  /\b(?:if|when|whenever|unless)\b.{3,90},|\bis (?:a|an|the|to|what|how|not)\b|\bare (?:the|what|not)\b/iu,
]

/** Somebody who is not named, early on. */
const SOMEBODY = /^(?:[\p{L}\p{M}’'-]+[\s,]+){1,4}(?:he|she|they|him|her|them|his|their)\b/iu
const HOUSEKEEPING =
  /\b(?:in (?:this|the (?:next|previous|following)) (?:article|post|chapter|section|essay|video|episode|book|piece|story|guide)|as (?:we|you|i) (?:saw|see|said|will)|let(?:'|’)s|i(?:'|’)ll|we(?:'|’)ll|i will (?:show|explain|describe|discuss|try)|(?:see|shown|listed|described|mentioned|discussed) (?:below|above)|the following|stay tuned|thanks? (?:you )?(?:for|to)|welcome (?:to|back)|check out|buy|order now|available (?:at|on|for)|\$\d+ off|discount|coupon)\b/iu
const HEARSAY =
  /\b(?:said|says|told|tells|added|adds|wrote|tweeted|according to|spokes(?:man|woman|person)|announced|replied|asked)\b/iu
const QUESTION = /[?？؟]["'”’»)\]」』）]*$/u
const BEGINNING = /^["'“‘«([¿¡「『（—-]*[\p{Lu}\p{Lo}\d]/u

/** Whether a stretch of text is talk that might be marked: neither furniture of a page nor code, table, list of names. */
export function isTalk(text: string): boolean {
  const letters = text.match(/[\p{L}\p{M}]/gu)?.length ?? 0
  if (
    letters < text.length * 0.6 ||
    /[^\s\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}。、，！？：；“”‘’「」『』（）]{45}/u.test(
      text,
    )
  )
    return false
  return !BOILERPLATE.some((pattern) => pattern.test(text))
}

/** Whether words point to what stands before them, so that they need it. */
export const leans = (text: string): boolean => LEANS.some((pattern) => pattern.test(text))

export const isQuestion = (text: string): boolean => QUESTION.test(text)

/**
 * How well words stand alone and how much they look like a thought, about 1; 0 where they never make a passage. `isWhole`:
 * they are whole sentences, and not a piece of speech without marks.
 */
export function standing(text: string, isWhole: boolean): number {
  const width = widthOf(text)
  if (width < NARROWEST || width > WIDEST) return 0
  let worth = width < 60 ? 0.6 : width < 85 ? 0.85 : width <= 330 ? 1 : width <= 450 ? 0.85 : 0.6
  if (!isWhole) return isSpeech(text) ? worth : 0
  if (isQuestion(text) || !BEGINNING.test(text)) return 0
  if (!areBalanced(text)) worth *= 0.35
  if (leans(text)) worth *= 0.5
  else if (SOMEBODY.test(text)) worth *= 0.7
  if (HOUSEKEEPING.test(text)) worth *= 0.5
  if (HEARSAY.test(text)) worth *= 0.8
  if (/!["'”’»)]*$/u.test(text)) worth *= 0.75
  if (/^[([]/u.test(text)) worth *= 0.4
  const digits = text.match(/\d/gu)?.length ?? 0
  if (digits > text.length * 0.05) worth *= digits > text.length * 0.12 ? 0.3 : 0.7
  const words = text.match(/\p{L}[\p{L}\p{M}'’-]*/gu) ?? []
  const names = words.slice(1).filter((word) => /^\p{Lu}/u.test(word)).length
  if (words.length > 4 && names > words.length * 0.3) worth *= 0.6
  if (/\b(?:I|my|me|I'm|I’m|I've|I’ve)\b/u.test(text)) worth *= 0.85
  const claims = CLAIMS.filter((pattern) => pattern.test(text)).length
  return worth * (1 + 0.15 * Math.min(4, claims))
}

/** Whether a piece without sentences is what somebody said, and no list of things and amounts. */
function isSpeech(text: string): boolean {
  const count = (marks: RegExp) => text.match(marks)?.length ?? 0
  return (
    widthOf(text) >= NARROWEST_PIECE &&
    count(/\d/gu) < text.length * 0.03 &&
    count(/[,;:[\]()]/gu) < text.length * 0.04
  )
}

/** Whether every quotation mark and bracket that opens also closes. */
function areBalanced(text: string): boolean {
  const count = (marks: RegExp) => text.match(marks)?.length ?? 0
  return (
    count(/"/gu) % 2 === 0 &&
    count(/“/gu) === count(/”/gu) &&
    count(/[(（]/gu) === count(/[)）]/gu) &&
    count(/[«「『]/gu) === count(/[»」』]/gu)
  )
}
