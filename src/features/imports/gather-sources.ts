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

  /**
   * Puts a link of a list in. The same address again adds what it has that is new, and is told as repeated where it has
   * nothing new.
   */
  addLink(link: ImportedItem, place: RowPlace, report: ImportReport): void {
    const key = sourceKey(link.source)
    const known = this.#items.get(key)
    if (!known) {
      link.rows.push(place.row)
      this.#items.set(key, link)
      report.take()
      return
    }
    if (!addTo(known, link)) {
      report.pass('joined', 'repeated', place)
      return
    }
    known.rows.push(place.row)
    report.take()
  }

  values(): Iterable<ImportedItem> {
    return this.#items.values()
  }
}

function sourceKey({ url, title, authors }: ImportedSource): string {
  if (url !== null) return urlKey(url) ?? url
  return `\u001f${nameKey(title ?? '')}\u001f${authors.map(nameKey).join('\u001f')}`
}

function addTo(known: ImportedItem, link: ImportedItem): boolean {
  const tags = link.tags.filter((tag) => !known.tags.includes(tag))
  const highlights = link.highlights.filter(
    ({ quote }) => !known.highlights.some((other) => other.quote === quote),
  )
  const notes = link.notes.filter(({ body }) => !known.notes.some((other) => other.body === body))
  known.tags.push(...tags)
  known.highlights.push(...highlights)
  known.notes.push(...notes)
  return tags.length + highlights.length + notes.length > 0
}
