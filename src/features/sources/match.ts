import type { Selectable } from 'kysely'
import { nameKey } from '../../core/text.ts'
import type { Db, SourceTable } from '../../db/schema.ts'
import { isbn13Of } from './isbn.ts'
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
  return names.every((name) => name !== '') ? names.join('\u001f') : ''
}

/**
 * The source that this is, if the library has it: by ISBN, then by address, then by title and first author. The last never
 * joins two sources that each have an address or an ISBN of their own: those were told apart by someone.
 * Every way into the library asks here. Trashed sources are found too.
 */
export async function findMatch(db: Db, wanted: Wanted): Promise<Selectable<SourceTable> | undefined> {
  const isbns = (wanted.isbns ?? []).map(isbn13Of).filter((isbn) => isbn !== undefined)
  if (isbns.length > 0) {
    const found = await db
      .selectFrom('source')
      .selectAll()
      .where('isbn13', 'in', isbns)
      .orderBy('id')
      .executeTakeFirst()
    if (found) return found
  }
  const keys = (wanted.urls ?? []).map(urlKey).filter((key) => key !== undefined)
  if (keys.length > 0) {
    const found = await db
      .selectFrom('source_url')
      .innerJoin('source', 'source.id', 'source_url.source_id')
      .selectAll('source')
      .where('source_url.url_key', 'in', keys)
      .orderBy('source.id')
      .executeTakeFirst()
    if (found) return found
  }
  const key = matchKey(wanted.title ?? '', wanted.authors ?? [])
  if (key === '') return undefined
  const same = await db.selectFrom('source').selectAll().where('match_key', '=', key).orderBy('id').execute()
  return same.find(
    (source) => (keys.length === 0 || source.url === null) && (isbns.length === 0 || source.isbn13 === null),
  )
}
