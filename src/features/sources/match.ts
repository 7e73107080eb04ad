import { boundKey } from '../../core/bound-key.ts'
import { nameKey } from '../../core/text.ts'
import type { Db } from '../../db/schema.ts'
import { isbn13Of } from './isbn.ts'
import { isbnsOf, listByIsbns, listByMatchKeys, listByUrlKeys, type Source } from './source-store.ts'
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
 * Every way into the library asks here, or `MatchIndex` for many at once. Trashed sources are found too.
 */
export async function findMatch(db: Db, wanted: Wanted): Promise<Source | undefined> {
  const index = new MatchIndex()
  await index.load(db, [wanted])
  return index.find(wanted)
}

interface WantedKeys {
  isbns: string[]
  urls: string[]
  key: string
}

function keysOf({ isbns = [], urls = [], title = '', authors = [] }: Wanted): WantedKeys {
  return {
    isbns: isbns.map(isbn13Of).filter((isbn) => isbn !== undefined),
    urls: urls.map(urlKey).filter((key) => key !== undefined),
    key: matchKey(title, authors),
  }
}

/** Sources that may be the ones that are wanted; what is about to be added can be put in as well. */
export class MatchIndex {
  readonly #byIsbn = new Map<string, Source[]>()
  readonly #byUrl = new Map<string, Source[]>()
  readonly #byKey = new Map<string, Source[]>()

  /** Takes in whatever the library has for these. */
  async load(db: Db, all: readonly Wanted[]): Promise<void> {
    const keys = all.map(keysOf)
    const isbns = [...new Set(keys.flatMap((one) => one.isbns))]
    const urls = [...new Set(keys.flatMap((one) => one.urls))]
    const titles = [...new Set(keys.map(({ key }) => key).filter((key) => key !== ''))]
    for (const source of isbns.length > 0 ? await listByIsbns(db, isbns) : [])
      for (const isbn of isbnsOf(source)) file(this.#byIsbn, isbn, source)
    for (const { url_key, ...source } of urls.length > 0 ? await listByUrlKeys(db, urls) : [])
      file(this.#byUrl, url_key, source)
    for (const source of titles.length > 0 ? await listByMatchKeys(db, titles) : [])
      file(this.#byKey, source.match_key, source)
  }

  /** A source that is not in the library yet, with its addresses. */
  add(source: Source, urls: readonly string[]): void {
    for (const isbn of isbnsOf(source)) file(this.#byIsbn, isbn, source)
    for (const url of urls) {
      const key = urlKey(url)
      if (key !== undefined) file(this.#byUrl, key, source)
    }
    if (source.match_key !== '') file(this.#byKey, source.match_key, source)
  }

  /** Of those that were taken in. */
  find(wanted: Wanted): Source | undefined {
    const { isbns, urls, key } = keysOf(wanted)
    const same = oldest(isbns, this.#byIsbn) ?? oldest(urls, this.#byUrl)
    if (same || key === '') return same
    return this.#byKey
      .get(key)
      ?.find(
        (source) =>
          (urls.length === 0 || source.url === null) && (isbns.length === 0 || source.isbn13 === null),
      )
  }
}

function file(index: Map<string, Source[]>, key: string, source: Source): void {
  const filed = index.get(key)
  if (!filed) index.set(key, [source])
  else if (filed.every(({ id }) => id !== source.id)) filed.push(source)
}

/** The source that was in the library first. */
function oldest(keys: readonly string[], index: ReadonlyMap<string, readonly Source[]>): Source | undefined {
  let first: Source | undefined
  for (const key of keys)
    for (const source of index.get(key) ?? [])
      if (!first || source.created_at < first.created_at) first = source
  return first
}
