import type { Change } from '../../core/library.ts'
import type { Db, SourceKind } from '../../db/schema.ts'
import { findMatch, matchKey, type Wanted } from './match.ts'
import { addSourceUrl, authorsOf, findSource, type Source } from './source-store.ts'
import { restoreSource } from './trash.ts'

/** A source as somebody names it who has none of its text. */
export interface NamedWork {
  kind: SourceKind
  title: string
  authors: readonly string[]
  /** http or https. */
  url?: string | undefined
  /** BCP 47. */
  language?: string | undefined
}

const wantedOf = ({ title, authors, url }: NamedWork): Wanted => ({
  title,
  authors,
  ...(url !== undefined && { urls: [url] }),
})

/** The source that is meant, if the library has it; one in the trash too. */
export const findNamedWork = (db: Db, work: NamedWork): Promise<Source | undefined> =>
  findMatch(db, wantedOf(work))

/**
 * The source that is meant, made where there is none. One that is known comes out of the trash and learns what was not known of
 * it. Search is told by the caller of a new source.
 */
export async function ensureSource(
  change: Change,
  work: NamedWork,
): Promise<{ source: Source; created: boolean }> {
  const known = await findNamedWork(change.db, work)
  const id = known?.id ?? (await insertSource(change, work))
  if (known) {
    await restoreSource(change, known)
    const authors = authorsOf(known).length > 0 ? authorsOf(known) : work.authors
    await change.update('source', id, {
      authors: JSON.stringify(authors),
      match_key: matchKey(known.title, authors),
      url: known.url ?? work.url ?? null,
      language: known.language ?? work.language ?? null,
      updated_at: change.at,
    })
  }
  if (work.url !== undefined) await addSourceUrl(change, id, work.url)
  const source = await findSource(change.db, id)
  return { source: source!, created: known === undefined }
}

const insertSource = (change: Change, { kind, title, authors, url, language }: NamedWork): Promise<number> =>
  change.insert('source', {
    kind,
    title,
    match_key: matchKey(title, authors),
    authors: JSON.stringify(authors),
    url,
    language,
    created_at: change.at,
    updated_at: change.at,
  })
