import { createHash } from 'node:crypto'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import type { MediaStore } from '../../core/outside.ts'
import { readGiven } from '../capture/read-given.ts'
import { RENDERER_VERSION } from '../capture/sanitise.ts'
import type { NewText } from '../texts/text-store.ts'
import type { ImportedItem, ImportedText } from './imported.ts'

const pack = promisify(gzip)

const TYPES: Record<ImportedText['format'], string> = {
  html: 'text/html; charset=utf-8',
  markdown: 'text/markdown; charset=utf-8',
  text: 'text/plain; charset=utf-8',
}

export interface CarriedText {
  text: NewText
  /** SHA-256 of its Markdown. */
  hash: string
}

/** Reads a text that a file brings along as a page or file of its own would be read. Throws `Failure`. */
export async function readCarriedText(
  { text, source }: Pick<ImportedItem, 'text' | 'source'>,
  signal?: AbortSignal,
): Promise<CarriedText | undefined> {
  if (!text || text.body.trim() === '') return undefined
  const bytes = new TextEncoder().encode(text.body)
  const given = { bytes, contentType: TYPES[text.format], url: source.url ?? undefined }
  const { markdown, plain, html, words, places } = await readGiven(given, signal)
  const hash = createHash('sha256').update(markdown).digest('hex')
  const renderer = html === null ? null : String(RENDERER_VERSION)
  const method = 'import'
  return {
    text: {
      markdown,
      plain,
      html,
      renderer,
      method,
      words,
      places: places && JSON.stringify(places),
      raw: null,
    },
    hash,
  }
}

/** Keeps what a text was made from, as captures do. Throws `quota_exceeded` where there is no room for it. */
export const keepOriginal = async (media: MediaStore, { body }: ImportedText): Promise<string> =>
  media.put(await pack(new TextEncoder().encode(body)))
