import { createHash } from 'node:crypto'
import { readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

export interface Sample {
  name: string
  bytes: Uint8Array
  /** SHA-256, as the media store names it. */
  hash: string
}

/** The page, the PDF and the EPUB that come with the program. */
export function readSamples(): Sample[] {
  const here = import.meta.url
  const folder = fileURLToPath(new URL(here.endsWith('.ts') ? '../../samples' : '../samples', here))
  return readdirSync(folder)
    .filter((name) => /\.(?:html|pdf|epub)$/.test(name))
    .toSorted()
    .map((name) => {
      const bytes = new Uint8Array(readFileSync(join(folder, name)))
      return { name, bytes, hash: createHash('sha256').update(bytes).digest('hex') }
    })
}
