import { nameKey } from '../../core/text.ts'
import { urlKey } from '../sources/url-key.ts'
import type { ImportReport, RowPlace } from './import-report.ts'
import { itemOf, type ImportedItem, type ImportedSource } from './imported.ts'

/** The sources of a file, each once, in the order in which they first appear. */
export class GatheredSources {
  readonly #items = new Map<string, ImportedItem>()

  /** The item of this source, made where it is the first mention. */
  of(source: ImportedSource): ImportedItem {
    const key = sourceKey(source)
    const known = this.#items.get(key)
    if (known) return known
    const item = itemOf(source)
    this.#items.set(key, item)
    return item
  }

  values(): Iterable<ImportedItem> {
    return this.#items.values()
  }
}

function sourceKey({ url, title, authors }: ImportedSource): string {
  if (url !== null) return urlKey(url) ?? url
  return `\u001f${nameKey(title ?? '')}\u001f${authors.map(nameKey).join('\u001f')}`
}

interface Known {
  tags: Set<string>
  /** Of highlights and notes. */
  words: Set<string>
}

/**
 * The links of a list one by one, without keeping them: of each address only what is known of it, so that a row that says
 * nothing new is told as repeated. One that has something new gives its page once more, with what it has.
 */
export class LinkList {
  /** Null for a page of which only the address is known, as of most. */
  readonly #known = new Map<string, Known | null>()

  /** The item to give on; undefined where the row only repeats. */
  add(link: ImportedItem, place: RowPlace, report: ImportReport): ImportedItem | undefined {
    const key = sourceKey(link.source)
    const known = this.#known.get(key)
    const { tags } = link
    const words = [...link.highlights.map(({ quote }) => quote), ...link.notes.map(({ body }) => body)]
    const isKnown =
      known !== undefined &&
      tags.every((tag) => known?.tags.has(tag)) &&
      words.every((text) => known?.words.has(text))
    if (isKnown) {
      report.pass('joined', 'repeated', place)
      return undefined
    }
    if (known) {
      for (const tag of tags) known.tags.add(tag)
      for (const text of words) known.words.add(text)
    } else {
      const hasMore = tags.length + words.length > 0
      this.#known.set(key, hasMore ? { tags: new Set(tags), words: new Set(words) } : null)
    }
    link.rows.push(place.row)
    report.take()
    return link
  }
}
