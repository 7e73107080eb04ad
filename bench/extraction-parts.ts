import { Readability } from '@mozilla/readability'
import { parseHTML } from 'linkedom'

export { readArticle } from '../src/features/capture/article-reader.ts'
export { decodeText } from '../src/features/capture/decode-text.ts'
export { plainTextOf } from '../src/features/texts/plain-text.ts'

/** The yardstick: the page parsed and read by Readability, nothing else. */
export function readWithReadabilityAlone(html: string): string {
  return new Readability(parseHTML(html).document).parse()?.content ?? ''
}
