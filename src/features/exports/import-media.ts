import { createHash } from 'node:crypto'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import { z } from 'zod'
import type { Library } from '../../core/library.ts'
import { damagedArchive, unpackFile, unpackLines, type Archive } from './read-zip.ts'

const pack = promisify(gzip)

const mediaRow = z.object({
  kind: z.string(),
  media: z.string(),
  file: z.string().nullable(),
})

export interface TakenMedia {
  files: number
  missing: number
  /** Originals that are packed again to other bytes, by their old name. */
  renamed: Map<string, string>
}

const MOST_FILE = 2 ** 30

/** Puts in the files, each under the name that rows have for it. What is there already counts as put anew. */
export async function takeMedia(
  { outside: { media } }: Pick<Library, 'outside'>,
  { bytes, files, signal }: Archive,
  dryRun: boolean,
  onProgress: (done: number, total: number, what: string) => void,
): Promise<TakenMedia> {
  const taken: TakenMedia = { files: 0, missing: 0, renamed: new Map() }
  const list = files.get('library/media.jsonl')
  if (!list) throw damagedArchive(new RangeError('media'))
  const total = [...files.keys()].filter((name) => name.startsWith('media/')).length
  const done = new Set<string>()
  for await (const line of unpackLines(bytes, list)) {
    signal.throwIfAborted()
    let row: z.output<typeof mediaRow>
    try {
      row = mediaRow.parse(JSON.parse(line))
    } catch (error) {
      throw damagedArchive(error)
    }
    if (done.has(row.media)) continue
    done.add(row.media)
    if (row.file === null) {
      taken.missing++
      continue
    }
    const file = files.get(row.file)
    if (!file || file.size > MOST_FILE) throw damagedArchive(new RangeError(`media: ${row.file}`))
    const parts: Uint8Array[] = []
    for await (const part of unpackFile(bytes, file)) parts.push(part)
    const whole = Buffer.concat(parts)
    // Originals are kept packed and go out as they came.
    const kept = hashOf(whole) === row.media || row.kind !== 'original' ? whole : await pack(whole)
    const hash = hashOf(kept)
    if (hash !== row.media) {
      if (row.kind !== 'original') throw damagedArchive(new RangeError(`media: ${row.file}`))
      // Another version of zlib packs to other bytes.
      taken.renamed.set(row.media, hash)
    }
    if (!dryRun) await media.put(kept)
    onProgress(++taken.files, total, 'Taking in files')
  }
  return taken
}

const hashOf = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex')
