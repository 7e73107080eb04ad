import { graphemeStart } from '../../core/grapheme-boundary.ts'
import { lastSentenceEnd, linesOf, piecesOf, sentencesOf, type Sentence } from '../texts/digest-sentences.ts'
import { WIDEST } from './worth-of-words.ts'

/** A stretch of a text, and where in it: UTF-16 units before it and of the whole text. */
export interface Stretch {
  text: string
  before: number
  whole: number
}

/** A sentence or, of speech without marks, a piece; with the paragraph that it is of. */
export interface Candidate extends Sentence {
  paragraph: number
  isWhole: boolean
}

/** Headings after which a text has nothing to be read: what is listed there is looked up. */
const APPENDIX =
  /^(?:\d+\.?\s*)?(?:references|bibliography|works cited|citations|sources|notes|footnotes|endnotes|further reading|external links|see also|related (?:articles|posts|stories|reading)|acknowledge?ments|about the authors?|comments|literatur(?:verzeichnis)?|einzelnachweise|weblinks|quellen|références|bibliographie|notes et références|referencias|bibliografía|enlaces externos|referências|примечания|литература|ссылки|参考文献|參考文獻|参考资料|參考資料|脚注|注釈|อ้างอิง)\s*:?$/iu
/** Shares of a text: an appendix begins late, and below so much in sentences a text is speech without marks. */
const LATE = 0.5
const MOSTLY = 0.3
/** Characters of a paragraph that are looked at in one go, and of its end where it is cut between sentences. */
const LONGEST_PARAGRAPH = 20_000
const TAIL = 2_000

/** The sentences of a stretch in order, as one comes to them; nothing of an appendix. */
export function* sentencesOfText({ text: plain, before, whole }: Stretch): Generator<Candidate> {
  const isSpeech = !hasSentences(plain)
  let number = 0
  for (const paragraph of paragraphsOf(plain)) {
    number++
    if (before + paragraph.start > whole * LATE && APPENDIX.test(paragraph.text.slice(0, 80).trim())) return
    if (/\t/u.test(paragraph.text.slice(0, 200))) continue
    for (const sentence of sentencesOf(paragraph)) {
      if (sentence.ended && sentence.text.length <= WIDEST) {
        yield { text: sentence.text, start: sentence.start, paragraph: number, isWhole: true }
      } else if (isSpeech) {
        for (const piece of piecesOf(sentence)) yield { ...piece, paragraph: number, isWhole: false }
      }
    }
  }
}

/** Whether most of a text is in sentences that can be taken in, looked at from its beginning. */
function hasSentences(plain: string): boolean {
  const head = plain.slice(0, 60_000)
  let within = 0
  for (const paragraph of paragraphsOf(head)) {
    for (const { text, ended } of sentencesOf(paragraph))
      if (ended && text.length <= WIDEST) within += text.length
  }
  return within >= head.length * MOSTLY
}

/** Lines, those joined that go on with a small letter: captions and texts wrapped at a column. */
function* paragraphsOf(plain: string): Generator<Sentence> {
  let open: { start: number; end: number } | undefined
  for (const { text, start } of linesOf(plain)) {
    const follows = open !== undefined && start === open.end + 1 && /^\s*\p{Ll}/u.test(text.slice(0, 20))
    if (open && follows && start - open.start < LONGEST_PARAGRAPH) {
      open.end = start + text.length
      continue
    }
    if (open) yield* cut(plain, open)
    open = { start, end: start + text.length }
  }
  if (open) yield* cut(plain, open)
}

/** A paragraph, or parts of one that nobody wrote, so that no step of the work takes long. */
function* cut(plain: string, { start, end }: { start: number; end: number }): Generator<Sentence> {
  let from = start
  while (end - from > LONGEST_PARAGRAPH) {
    const tail = plain.slice(from + LONGEST_PARAGRAPH - TAIL, from + LONGEST_PARAGRAPH)
    const part = LONGEST_PARAGRAPH - TAIL + (lastSentenceEnd(tail) || tail.lastIndexOf(' ') + 1 || TAIL)
    const to = graphemeStart(plain, from + part)
    yield { text: plain.slice(from, to), start: from }
    from = to
  }
  yield { text: plain.slice(from, end), start: from }
}

/** Characters that a language model is shown at once. */
const SECTION = 24_000

/** Where a section ends that begins at an index: after a paragraph where it can, else a sentence, else a word. */
export function sectionEnd(plain: string, start: number, end: number): number {
  if (end - start <= SECTION * 1.25) return end
  const window = plain.slice(start, start + SECTION)
  const late = window.slice(SECTION / 2)
  const part = late.lastIndexOf('\n') + 1 || lastSentenceEnd(late) || late.lastIndexOf(' ') + 1 || SECTION / 2
  return graphemeStart(plain, start + SECTION / 2 + part)
}

/** The whole characters of a stretch of about so many, from after a sentence's end where one is near to a sentence's end. */
export function sentenceSlice(plain: string, start: number, length: number): string {
  const window = plain.slice(graphemeStart(plain, start), graphemeStart(plain, start + length))
  const opening = /(?<=[.!?…。！？]\s*)(?=\S)/u.exec(window.slice(0, 400))
  const from = start > 0 && opening ? opening.index : 0
  const end = lastSentenceEnd(window)
  return window.slice(from, end > from ? end : undefined).trim()
}
