import { endsLikeSentence, isMatter, isProse, wordsOf } from './article-block.ts'
import type { ReadBlock } from './article-block.ts'
import { joinCaption } from './clean-tree-figures.ts'

/** What is known of the page, to recognise what merely repeats it. */
export interface PageFacts {
  url: string
  title: string
  description: string
  authors: string[]
}

/**
 * Takes out what stands around articles on all sites: title, byline and date above, pointers to other articles between,
 * biographies, sign-ups and rights below. Words between paragraphs of text are only touched where their form or their
 * elements' names say what they are.
 */
export function trimBlocks(blocks: readonly ReadBlock[], facts: PageFacts): ReadBlock[] {
  const kept = dropPointers(foldCaptions(blocks), facts).filter((block) => !isNamedFurniture(block))
  return dropEmptySections(trimEnd(trimStart(kept, facts), facts))
}

/* Captions */

const CREDIT =
  /^\(?(?:©|photo(?:graph)?(?:s)?(?: credit)?(?: by|:)|image(?: credit|s)?:|credit:|picture:|foto:)|\((?:image|photo|picture|foto|credit)\b[^)]*\)\s*$|\/\s*(?:getty|reuters|afp|ap)\b[^.]{0,30}$|\bgetty images\b[^.]{0,40}$/i

/** Words right under a picture, in its box, in the form of a credit or too short for a sentence, are its caption. */
function foldCaptions(blocks: readonly ReadBlock[]): ReadBlock[] {
  const prosePaths = new Set(blocks.filter(isProse).map(pathOf))
  const main = mostFrequent(blocks.filter(isProse).map(pathOf))
  const out: ReadBlock[] = []
  let box: string | undefined
  for (const block of blocks) {
    const before = out.at(-1)
    if (block.role === 'caption') {
      // The picture it belonged to is gone.
      if (before?.role !== 'figure' && block.words.length > 0) continue
    }
    const isUnderPicture =
      before?.role === 'figure' && block.node.type === 'paragraph' && block.role !== 'figure'
    if (isUnderPicture && before) {
      const isBoxed = pathOf(block) === box && box !== main && block.words.length <= 80
      const isCredit = block.words.length <= 60 && block.text.length <= 800 && CREDIT.test(block.text)
      const isLabel =
        block.words.length <= 15 && block.linked < 0.9 && !endsLikeSentence(block.text) && !isAllStrong(block)
      const isOwnPlace = isBoxed && (!prosePaths.has(pathOf(block)) || block.words.length <= 50)
      if (isOwnPlace || isCredit || (isLabel && !hasCaption(before))) {
        joinCaption(before, block)
        continue
      }
    }
    out.push(block)
    if (block.role === 'figure') box = pathOf(block)
  }
  return out
}

function pathOf(block: ReadBlock): string {
  return block.names.join(' < ')
}

function mostFrequent(values: string[]): string | undefined {
  const counts = new Map<string, number>()
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1)
  return [...counts].toSorted((a, b) => b[1] - a[1])[0]?.[0]
}

function hasCaption(block: ReadBlock): boolean {
  return 'children' in block.node && block.node.children.some(({ type }) => type === 'emphasis')
}

function isAllStrong({ node }: ReadBlock): boolean {
  return node.type === 'paragraph' && node.children.every(({ type }) => type === 'strong')
}

/* Pointers to other articles */

const POINTER =
  /^(?:\W{0,3})(?:(?:read|see|view|watch|learn|discover) (?:more|also|next|now|:)|also read|related\b|recommended\b|more (?:on|from|stories|articles|great|about)\b|don.?t miss|you (?:may|might) (?:also )?(?:like|enjoy|be interested)|click here|sign up|subscribe|join (?:our|us)|follow (?:us|me|our)|share (?:this|on)|trending|most (?:read|popular)|latest (?:news|stories|headlines)|up next|editor.?s picks?|lesen sie|mehr zum thema|siehe auch|lire aussi|à lire|voir aussi|lee también|leer más|te puede interesar|leia (?:também|mais)|veja (?:também|mais)|leggi anche|lees ook|baca juga|читайте также|смотрите также|см\. также|相关(?:阅读|文章)|関連記事|관련 ?기사)/iu

/** A line that only sends the reader elsewhere: named so, or one link to the same site without the form of a sentence. */
function dropPointers(blocks: readonly ReadBlock[], { url }: PageFacts): ReadBlock[] {
  const proses = blocks.filter(isProse).length
  const loneLinks = blocks.filter(isLoneLink)
  // A page made of links (a round-up, an index) keeps them.
  const linksAreContent = loneLinks.length * 3 > proses
  const dropped = new Set<ReadBlock>()
  for (const [index, block] of blocks.entries()) {
    if (isMatter(block) || block.role === 'figure' || block.role === 'note') continue
    const isNamed = POINTER.test(block.text)
    if (isNamed && block.linked >= 0.5) dropped.add(block)
    else if (isNamed && block.words.length <= 8 && !endsLikeSentence(block.text)) {
      const next = blocks[index + 1]
      if (!next || (next.linked >= 0.4 && !isProse(next))) {
        dropped.add(block)
        if (next) dropped.add(next)
      } else if (block.node.type !== 'heading') dropped.add(block)
    } else if (isLoneLink(block) && !linksAreContent && proses >= 5 && block.words.length >= 4) {
      const isShouted = block.text === block.text.toUpperCase() && /\p{Lu}/u.test(block.text)
      if (isShouted || block.links.every((link) => isSameSite(link, url))) dropped.add(block)
    }
  }
  return blocks.filter((block) => !dropped.has(block))
}

function isLoneLink(block: ReadBlock): boolean {
  return block.node.type === 'paragraph' && block.linked >= 0.95 && !/[.!?…]["'”’]?$/.test(block.text)
}

function isSameSite(link: string, url: string): boolean {
  const site = (address: string) =>
    URL.canParse(address)
      ? new URL(address).hostname
          .replace(/^www\./, '')
          .split('.')
          .slice(-2)
          .join('.')
      : ''
  return site(link) !== '' && site(link) === site(url)
}

/* Elements whose names say that they are furniture */

const FURNITURE =
  /(?:^|[\s_-])(?:newsletter|signup|sign-?up|email-?signup|related|recirc\w*|social|share|sharing|sharebar|author-?bio|bio|byline|about-?author|read-?more|promo\w*|print-?only|d-print-block|visible-print|comments?|breadcrumbs?|tags?|cookie\w*|cta|callout-?cta|advert\w*|sponsor\w*|slide-?count|toolbar|article-?tools|read-?next|most-?read|trending)(?:$|[\s_-]|__)/i

function isNamedFurniture(block: ReadBlock): boolean {
  if (isMatter(block) || block.role !== 'text' || block.words.length > 60) return false
  return block.names
    .slice(0, 2)
    .some((name) => name.length < 200 && FURNITURE.test(name.replace(/([a-z])([A-Z])/g, '$1-$2')))
}

/* Above the text */

const STANDFIRST = /summary|standfirst|sub-?(?:title|head)|\bdek\b|excerpt|teaser|strapline|description/i

function trimStart(blocks: readonly ReadBlock[], facts: PageFacts): ReadBlock[] {
  const first = blocks.findIndex(isProse)
  if (first === -1) return blocks.filter((block) => !repeats(block, facts.title))
  const head = blocks.slice(0, first).filter((block) => !isHeadFurniture(block, facts))
  const lead = blocks[first]
  // A summary set apart above the text; it stays with the page as its description.
  const isStandfirst =
    lead !== undefined &&
    lead.names.slice(0, 2).some((name) => STANDFIRST.test(name)) &&
    repeats(lead, facts.description) &&
    blocks.slice(first + 1).some(isProse)
  return [...head, ...blocks.slice(isStandfirst ? first + 1 : first)]
}

function isHeadFurniture(block: ReadBlock, facts: PageFacts): boolean {
  if (block.role === 'figure' || isMatter(block) || block.text.length > 1500) return false
  if (block.words.length === 0 && block.node.type !== 'thematicBreak') return true
  if (repeats(block, facts.title) || isDateLine(block.text) || isByline(block, facts)) return true
  if (block.node.type === 'heading') return repeats(block, facts.description)
  if (block.node.type === 'list') return block.linked > 0.6 || isByline(block, facts)
  return (
    (block.words.length <= 8 && block.linked > 0.6) ||
    (block.words.length <= 3 && !endsLikeSentence(block.text))
  )
}

/** True if the block says nothing but the text it is compared with, or the other way round. */
function repeats(block: ReadBlock, other: string): boolean {
  if (block.words.length === 0) return false
  const mine = block.words
  const theirs = wordsOf(other)
  if (theirs.length === 0) return false
  const known = new Set(theirs)
  const shared = mine.filter((word) => known.has(word)).length
  const isInside = shared >= mine.length * 0.9 && mine.length >= Math.min(theirs.length * 0.6, 30)
  return isInside && mine.length <= theirs.length * 1.6
}

function isByline({ text, words, links }: ReadBlock, { authors }: PageFacts): boolean {
  if (words.length > 25) return false
  if (
    /^(?:by|von|par|por|di|door|af|av|автор:?)\s+\p{Lu}/iu.test(text) &&
    words.length <= 15 &&
    !/[.!?]$/.test(text)
  )
    return true
  const isNamed = authors.some((author) => text.toLowerCase().includes(author.toLowerCase()))
  return isNamed && (words.length <= 8 || links.length > 0) && !/[.!?]$/.test(text)
}

const LOCALES = [
  'en',
  'de',
  'fr',
  'es',
  'pt',
  'it',
  'nl',
  'sv',
  'pl',
  'cs',
  'ru',
  'uk',
  'tr',
  'id',
  'fi',
  'el',
  'ro',
  'hu',
]
let dateWords: Set<string> | undefined

/** Months and weekdays of many languages, long and short, in lower case. */
function knownDateWords(): Set<string> {
  if (dateWords) return dateWords
  dateWords = new Set(
    'am pm at on est edt et pt pst pdt gmt utc bst cet ist de del às um uhr le la h of the 年 月 日'.split(
      ' ',
    ),
  )
  for (const label of 'published updated posted first last modified original created date veröffentlicht aktualisiert publié mis à jour publicado actualizado atualizado pubblicato опубликовано обновлено'.split(
    ' ',
  ))
    dateWords.add(label)
  for (const locale of LOCALES) {
    for (const style of ['long', 'short'] as const) {
      const month = new Intl.DateTimeFormat(locale, { day: 'numeric', month: style, timeZone: 'UTC' })
      const weekday = new Intl.DateTimeFormat(locale, { weekday: style, timeZone: 'UTC' })
      for (let at = 0; at < 12; at++)
        wordsOf(month.format(Date.UTC(2024, at, 1))).forEach((word) => dateWords?.add(word))
      for (let at = 1; at < 8; at++)
        wordsOf(weekday.format(Date.UTC(2024, 0, at))).forEach((word) => dateWords?.add(word))
    }
  }
  return dateWords
}

/** A line that holds a date or time and hardly anything else. */
function isDateLine(text: string): boolean {
  const words = wordsOf(text)
  if (words.length === 0 || words.length > 20 || !/\d/.test(text)) return false
  if (!/(?:19|20)\d\d|\d{1,2}[:.]\d\d|\bago\b/.test(text)) return false
  const known = knownDateWords()
  return words.filter((word) => /^\d+\p{L}{0,2}$/u.test(word) || known.has(word)).length >= words.length * 0.7
}

/* Below the text */

const RIGHTS =
  /©|\bcopyright\b|all rights reserved|may not be (?:published|reproduced)|affiliate (?:links?|commission)|alle rechte vorbehalten|tous droits réservés/i
const CONTACT =
  /^(?:write to|contact|email|follow|tweet|reach|send|join|subscribe|sign up|like us|share|tags?:|filed under|topics:|via\b|source:|tag:|citation:|print this|comments?\b)|[\w.+-]+@[\w-]+\.[a-z]{2,}|contributed (?:reporting|to this)|^\(?(?:additional )?(?:reporting|writing|editing) by\b|our (?:newsletter|forums?|app)\b/i
const BIOGRAPHY =
  /\b(?:is|was|are) (?:a|an|the|our|currently|based)\b|\bjoined\b|\b(?:writes|covers|reports|reporter|editor|writer|author|journalist|correspondent|book|twitter|@\w+)\b/i

function trimEnd(blocks: readonly ReadBlock[], facts: PageFacts): ReadBlock[] {
  const kept = [...blocks]
  for (let last = kept.at(-1); last; last = kept.at(-1)) {
    if (last.role === 'note' || last.role === 'figure' || isMatter(last)) break
    if (!isFootFurniture(last, facts)) break
    kept.pop()
  }
  // Beyond a picture, too: small pictures stand in biographies and among links.
  if (kept.length < blocks.length) while (kept.at(-1)?.role === 'figure' && kept.some(isProse)) kept.pop()
  return kept.some(isProse) || blocks.length === 0 ? kept : [...blocks]
}

function isFootFurniture(block: ReadBlock, facts: PageFacts): boolean {
  const { text, words } = block
  if (words.length === 0) return true
  if (words.length > 90 || text.length > 1500) return false
  if (block.node.type === 'heading') return true
  if (isDateLine(text) || isByline(block, facts)) return true
  if (words.length <= 20 && CREDIT.test(text)) return true
  if (words.length <= 60 && (RIGHTS.test(text) || CONTACT.test(text) || POINTER.test(text))) return true
  const isAuthor = facts.authors.some(
    (author) => author.length > 3 && text.toLowerCase().startsWith(author.toLowerCase()),
  )
  if (isAuthor && words.length <= 80 && BIOGRAPHY.test(text)) return true
  if (block.node.type === 'list')
    return block.linked > 0.7 && block.links.every((link) => isSameSite(link, facts.url))
  return words.length <= 8 && !endsLikeSentence(text) && (block.linked > 0.5 || words.length <= 2)
}

/** A heading with nothing under it up to the next of its rank, or at the very end, headed what was taken out. */
function dropEmptySections(blocks: readonly ReadBlock[]): ReadBlock[] {
  const out: ReadBlock[] = []
  for (let at = blocks.length - 1; at >= 0; at--) {
    const block = blocks[at]
    if (!block) continue
    const after = out.at(-1)
    const isEmpty =
      block.node.type === 'heading' &&
      (after === undefined ||
        (after.node.type === 'heading' && after.node.depth < block.node.depth && out.length > 1))
    if (!isEmpty) out.push(block)
  }
  return out.toReversed()
}
