import { cueOf, decodeReferences, possibleTime, type Cue } from './caption-cues.ts'

/** Start and end tags of the elements that hold words: `p` and `s` of srv3 (`timedtext`), `text` of srv1 (`transcript`). */
const ELEMENT = /<(p|text)((?:\s[^<>]{0,2000})?)(?:\/>|>([^]*?)(?:<\/\1\s*>|(?=<(?:p|text)[\s>])|$))/gu

/**
 * The cues of YouTube's captions in XML: srv3 (`<p t="…" d="…">`, milliseconds, with `<s>` for words) and srv1
 * (`<text start="…" dur="…">`, seconds, whose references are escaped twice). Undefined where it is neither.
 */
export function readXmlCaptions(text: string): Cue[] | undefined {
  if (!isXmlCaptions(text)) return undefined
  const cues: Cue[] = []
  for (const [, name, attributes = '', content = ''] of text.matchAll(ELEMENT)) {
    const words = decodeReferences(
      content.replaceAll(/<br\s*\/?>/giu, '\n').replaceAll(/<\/?[a-z][^<>]{0,2000}>/giu, ''),
    )
    const isFirst = name === 'text'
    const start = numberIn(attributes, isFirst ? 'start' : 't', isFirst ? 1 : 1000)
    const length = numberIn(attributes, isFirst ? 'dur' : 'd', isFirst ? 1 : 1000)
    const end = start === undefined || length === undefined ? undefined : start + length
    const cue = cueOf(start, possibleTime(end), isFirst ? decodeReferences(words) : words)
    if (cue) cues.push(cue)
  }
  return cues
}

/** Whether a file begins as one of the two does. */
export const isXmlCaptions = (head: string): boolean =>
  /^\uFEFF?\s*(?:<\?xml[^<>]{0,200}>\s*)?<(?:timedtext|transcript)[\s>]/u.test(head)

function numberIn(attributes: string, name: string, perSecond: number): number | undefined {
  const value = new RegExp(`\\s${name}\\s*=\\s*["']\\s*(-?\\d{1,15}(?:\\.\\d{1,9})?)\\s*["']`, 'u').exec(
    attributes,
  )
  return value ? Number(value[1]) / perSecond : undefined
}
