import { boundKey } from '../../core/bound-key.ts'
import { nameKey } from '../../core/text.ts'
import type { Db } from '../../db/schema.ts'
import { isbn13Of } from './isbn.ts'
import { findByIsbn, findByUrlKey, listByMatchKey, type Source } from './source-store.ts'
import { urlKey } from './url-key.ts'

export interface Wanted {
  isbns?: readonly string[]
  urls?: readonly string[]
  title?: string
  authors?: readonly string[]
}

/** Title and first author as one key; empty where either is missing, and then never matched. */
export function matchKey(title: string, authors: readonly string[]): string {
  const names = [nameKey(title), nameKey(authors[0] ?? '')]
  return names.every((name) => name !== '') ? boundKey(names.join('\u001f')) : ''
}

/**
 * The source that this is, if the library has it: by ISBN, then by address, then by title and first author. The last never
 * joins two sources that each have an address or an ISBN of their own: those were told apart by someone.
 * Every way into the library asks here. Trashed sources are found too.
 */
export async function findMatch(db: Db, wanted: Wanted): Promise<Source | undefined> {
  const isbns = (wanted.isbns ?? []).map(isbn13Of).filter((isbn) => isbn !== undefined)
  const byIsbn = isbns.length > 0 ? await findByIsbn(db, isbns) : undefined
  if (byIsbn) return byIsbn
  const keys = (wanted.urls ?? []).map(urlKey).filter((key) => key !== undefined)
  const byUrl = keys.length > 0 ? await findByUrlKey(db, keys) : undefined
  if (byUrl) return byUrl
  const key = matchKey(wanted.title ?? '', wanted.authors ?? [])
  if (key === '') return undefined
  const same = await listByMatchKey(db, key)
  return same.find(
    (source) => (keys.length === 0 || source.url === null) && (isbns.length === 0 || source.isbn13 === null),
  )
}
