import { createHash } from 'node:crypto'
import { promisify } from 'node:util'
import { gunzip } from 'node:zlib'
import type { Library } from '../../core/library.ts'
import { endingOf, type ExportEntry } from './export-entry.ts'
import { namedMedia, type NamedMedia } from './export-store.ts'

const unpack = promisify(gunzip)

/** A row of `library/media.jsonl`. */
interface MediaRow {
  kind: NamedMedia['kind']
  /** Null for the report on a file. */
  sourceId: number | null
  /** Of the text, capture, source or import that names it. */
  rowId: number
  /** As the tables name it. */
  media: string
  /** Where it lies in the archive; null where the file is not there any more. */
  file: string | null
  /** What it was called when it was handed in. */
  name: string | null
}

export interface MediaCounts {
  files: number
  bytes: number
  /** Files that rows name and that are not there. */
  missing: string[]
}

/**
 * The original pages, files and covers, each once and as it came: pages are unpacked. One of them is in memory at a time. The
 * list of what belongs to which row comes last.
 */
export async function* exportMedia(
  { db, outside: { media } }: Pick<Library, 'db' | 'outside'>,
  counts: MediaCounts,
): AsyncGenerator<ExportEntry> {
  const list: string[] = []
  /** Where what lies: by the name that the store has for it, and by the SHA-256 of what was written. Null for what is missing. */
  const places = new Map<string, string | null>()
  for (const kind of ['given', 'original', 'cover', 'report'] as const) {
    for (let last = 0; ;) {
      const page = await namedMedia(db, kind, last)
      if (page.length === 0) break
      last = page.at(-1)!.id
      for (const named of page) {
        if (!places.has(named.hash)) {
          const kept = await media.get(named.hash)
          const bytes = kept && (kind === 'original' ? await unpacked(kept) : kept)
          const own = bytes && createHash('sha256').update(bytes).digest('hex')
          const known = own === undefined ? undefined : places.get(own)
          if (known) places.set(named.hash, known)
          else if (bytes && own !== undefined) {
            const name = `${FOLDERS[kind]}/${named.id}${endingOf(named.name) || sniffed(bytes)}`
            places.set(own, name).set(named.hash, name)
            counts.files++
            counts.bytes += bytes.length
            yield { name, content: [bytes], isCompressed: !/\.(?:html|txt)$/.test(name) }
          } else {
            places.set(named.hash, null)
            counts.missing.push(named.hash)
          }
        }
        const row: MediaRow = {
          kind,
          sourceId: named.sourceId,
          rowId: named.id,
          media: named.hash,
          file: places.get(named.hash) ?? null,
          name: named.name,
        }
        list.push(`${JSON.stringify(row)}\n`)
      }
    }
  }
  yield { name: 'library/media.jsonl', content: list }
}

const FOLDERS = {
  given: 'media/given',
  original: 'media/originals',
  cover: 'media/covers',
  report: 'media/reports',
} as const

/** Ours are compressed by gzip; whatever is not goes out as it is. */
async function unpacked(bytes: Uint8Array): Promise<Uint8Array> {
  try {
    return await unpack(bytes)
  } catch {
    return bytes
  }
}

const SIGNS: readonly [sign: string, ending: string][] = [
  ['%PDF', '.pdf'],
  ['PK\u0003\u0004', '.epub'],
  ['\u00ff\u00d8\u00ff', '.jpg'],
  ['\u0089PNG', '.png'],
  ['GIF8', '.gif'],
  ['RIFF', '.webp'],
]

/** By how it begins: what is none of these is a page if it has a tag near its beginning, else plain text. */
function sniffed(bytes: Uint8Array): string {
  const begin = Buffer.from(bytes.subarray(0, 2_000)).toString('latin1')
  const known = SIGNS.find(([sign]) => begin.startsWith(sign))
  return known?.[1] ?? (/<[a-z!?]/i.test(begin) ? '.html' : '.txt')
}
