import type { Db } from '../../db/schema.ts'
import { nameKey } from '../../core/text.ts'
import { MatchIndex, type Wanted } from '../sources/match.ts'
import { urlKey } from '../sources/url-key.ts'
import type { ImportedItem, ImportedSource } from './imported.ts'
import { findRemembered, loadSources, loadTags } from './known-store.ts'
import type { KnownSource } from './known-source.ts'
import { keyOf } from './mark-place.ts'
import { tagNames } from './tag-names.ts'

/** What of the library concerns some items of a file. */
export class KnownLibrary {
  readonly sources = new Map<number, KnownSource>()
  /** Id of a tag by what makes its name. */
  readonly tags = new Map<string, number>()
  readonly #match = new MatchIndex()
  /** The source that a digest stood for in an earlier import. */
  readonly #remembered = new Map<string, number>()

  /** Reads whatever is not known yet about these items. */
  async learn(db: Db, items: readonly ImportedItem[]): Promise<void> {
    await this.#match.load(
      db,
      items.map(({ source }) => wantedOf(source)),
    )
    const keys = new Set(
      items.flatMap(({ source }) => sourceKeys(source)).filter((key) => !this.#remembered.has(key)),
    )
    for (const { key, id } of await findRemembered(db, [...keys])) this.#remembered.set(key, id)
    const ids = new Set<number>()
    for (const { source } of items) {
      const id = this.#idOf(source)
      if (id !== undefined && !this.sources.has(id)) ids.add(id)
    }
    for (const known of await loadSources(db, [...ids])) this.sources.set(known.source.id, known)
    const names = new Set(
      items
        .flatMap(tagNames)
        .map(nameKey)
        .filter((key) => !this.tags.has(key)),
    )
    for (const { id, name_key } of await loadTags(db, [...names])) this.tags.set(name_key, id)
  }

  /** The source of an item; undefined where the library has none. */
  find(source: ImportedSource): KnownSource | undefined {
    const id = this.#idOf(source)
    return id === undefined ? undefined : this.sources.get(id)
  }

  /** Whether a digest is kept for a source. */
  remembers(key: string): boolean {
    return this.#remembered.has(key)
  }

  remember(key: string, sourceId: number): void {
    this.#remembered.set(key, sourceId)
  }

  /** A source that is about to be added. */
  add(known: KnownSource, source: ImportedSource): void {
    this.sources.set(known.source.id, known)
    this.#match.add(known.source, source.url === null ? [] : [source.url])
  }

  #idOf(source: ImportedSource): number | undefined {
    const matched = this.#match.find(wantedOf(source))
    if (matched) return matched.id
    for (const key of sourceKeys(source)) {
      const id = this.#remembered.get(key)
      if (id !== undefined) return id
    }
    return undefined
  }
}

const wantedOf = ({ isbns, url, title, authors }: ImportedSource): Wanted => ({
  isbns,
  ...(url !== null && { urls: [url] }),
  ...(title !== null && { title, authors }),
})

/** Digests of what a file says that tells a source: its address and ISBNs, else its title and authors, however few they are. */
export function sourceKeys({ isbns, url, title, authors }: ImportedSource): string[] {
  const keys = isbns.map((isbn) => keyOf('isbn', isbn))
  const address = url === null ? undefined : urlKey(url)
  if (address !== undefined) keys.push(keyOf('url', address))
  if (keys.length > 0) return keys
  return [keyOf('title', nameKey(title ?? ''), nameKey(authors[0] ?? ''))]
}
