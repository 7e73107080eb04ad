import { decodeText } from '../../capture/decode-text.ts'
import { civilDate } from '../../capture/civil-date.ts'
import type { ImportArchive } from '../archive.ts'
import { breather } from '../../../core/breath.ts'
import type { ImportFormat } from '../define-format.ts'
import type { ImportReport, RowPlace } from '../import-report.ts'
import { highlightOf, itemOf, noSource, noteOf, type ImportedItem } from '../imported.ts'
import { isObject, listOf, numberOf, textOf, type JsonObject } from '../json-values.ts'
import { authorNames, fullText, oneLine, tagsIn } from '../names.ts'
import { datedRow } from '../read-dates.ts'
import { kindOfAddress, webAddress } from '../web-address.ts'

const METADATA = /(?:^|\/)metadata_(\d+)_to_\d+\.json$/i
const MOST_CONTENT_BYTES = 32 * 2 ** 20

/**
 * The archive that Omnivore gave its readers: `metadata_N_to_M.json`, `content/SLUG.html` and `highlights/SLUG.md`. Texts are
 * unpacked one by one.
 */
export const omnivoreZip: ImportFormat = {
  id: 'omnivore-zip',
  title: 'Omnivore, ZIP archive',
  recognises: (file) => file.isZip && file.archive.entries.some(({ name }) => METADATA.test(name)),
  read: async function* (file, report) {
    const breathe = breather()
    const { archive } = file
    const used = new Set<string>()
    const slugs = new Set<string>()
    let row = 0
    const parts = archive.entries
      .flatMap(({ name }) => {
        const first = METADATA.exec(name)?.[1]
        return first === undefined ? [] : [{ name, first: Number(first) }]
      })
      .toSorted((a, b) => a.first - b.first || (a.name < b.name ? -1 : 1))
    for (const { name: part } of parts) {
      used.add(part)
      const folder = part.slice(0, part.lastIndexOf('/') + 1)
      for (const entry of entriesIn(archive, part, () => ++row, report)) {
        await breathe()
        const place: RowPlace = {
          row: ++row,
          part,
          text: `${textOf(entry['title'])} ${textOf(entry['url'])}`,
        }
        const item = itemFrom(entry, place, report)
        if (!item) continue
        const slug = textOf(entry['slug'])
        if (isPlainName(slug)) {
          const content = `${folder}content/${slug}.html`
          const highlights = `${folder}highlights/${slug}.md`
          used.add(content).add(highlights)
          if (!slugs.has(slug)) {
            const html = textIn(archive, content, report, place)
            if (html !== undefined && html.trim() !== '') item.text = { format: 'html', body: html }
            readHighlights(textIn(archive, highlights, report, place) ?? '', item, row)
          }
          slugs.add(slug)
        }
        yield item
      }
    }
    for (const { name } of archive.entries) {
      if (used.has(name) || /(?:^|\/)(?:\.DS_Store|__MACOSX\/.*)$/.test(name)) continue
      report.pass('refused', 'unknown_part', { row: ++row, part: name, text: name })
    }
    for (const name of archive.unsafe)
      report.pass('refused', 'unsafe_name', { row: ++row, part: name, text: name })
  },
}

function* entriesIn(
  archive: ImportArchive,
  part: string,
  nextRow: () => number,
  report: ImportReport,
): Generator<JsonObject> {
  let list: unknown
  try {
    list = JSON.parse(decodeText(archive.read(part) ?? new Uint8Array()).text)
  } catch {
    report.pass('refused', 'damaged_part', { row: nextRow(), part, text: part })
    return
  }
  for (const entry of Array.isArray(list) ? list : [list]) {
    if (isObject(entry)) yield entry
    else report.pass('refused', 'unrecognised', { row: nextRow(), part, text: JSON.stringify(entry) ?? '' })
  }
}

function itemFrom(entry: JsonObject, place: RowPlace, report: ImportReport): ImportedItem | undefined {
  const state = textOf(entry['state']).toUpperCase()
  if (state === 'DELETED') {
    report.pass('left', 'deleted', place)
    return undefined
  }
  const address = textOf(entry['url'])
  const url = webAddress(address)
  const title = oneLine(textOf(entry['title']))
  // Mail and uploaded files have an address of the service's own, or none.
  if (url === null && title === '') {
    report.pass('refused', address === '' ? 'no_address' : 'not_web', place)
    return undefined
  }
  report.take()
  const item = itemOf(
    {
      ...noSource(url === null ? 'article' : kindOfAddress(url)),
      url,
      title: title === url ? null : title || null,
      authors: authorNames(textOf(entry['author'])),
      description: fullText(textOf(entry['description'])) || null,
      published: civilDate(textOf(entry['publishedAt'])),
      coverUrl: webAddress(textOf(entry['thumbnail'])),
    },
    [place.row],
  )
  const labels = listOf(entry['labels']).map((label) => textOf(isObject(label) ? label['name'] : label))
  item.tags = tagsIn(labels.join('\n'), '\n')
  item.reading.saved = datedRow(textOf(entry['savedAt']), place, report).created
  item.reading.archived = state === 'ARCHIVED'
  const progress = numberOf(entry['readingProgress'])
  if (progress !== null && progress > 0 && progress <= 100)
    item.reading.percent = Math.round(progress * 10) / 10
  return item
}

const isPlainName = (slug: string): boolean => slug !== '' && !/[/\\\0]|^\.\.?$/.test(slug)

/** A text of the archive; what is too long or damaged is remarked, and the rest of its source goes in. */
function textIn(
  archive: ImportArchive,
  name: string,
  report: ImportReport,
  place: RowPlace,
): string | undefined {
  if ((archive.sizeOf(name) ?? 0) > MOST_CONTENT_BYTES) {
    report.remark('part_unread', { ...place, part: name })
    return undefined
  }
  try {
    const bytes = archive.read(name)
    return bytes && decodeText(bytes).text
  } catch {
    report.remark('part_unread', { ...place, part: name })
    return undefined
  }
}

/**
 * Highlights as Omnivore wrote them: each a quotation, then labels as `#label`, then the note. A note on the whole page stands
 * without a quotation and is followed by an empty stretch of its own.
 */
export function readHighlights(markdown: string, item: ImportedItem, row: number): void {
  const blocks = markdown.replaceAll(/\r\n?/g, '\n').split(/\n[^\S\n]*\n(?=> )/)
  for (const block of blocks) {
    if (!block.startsWith('> ')) {
      const note = fullText(block)
      if (note !== '') item.notes.push(noteOf(note, row))
      continue
    }
    const end = /\n[^\S\n]*\n/.exec(block)
    const quote = fullText(
      block
        .slice(0, end?.index)
        .split('\n')
        .map((line) => line.replace(/^> ?/, ''))
        .join('\n'),
    )
    const rest = end ? block.slice(end.index) : ''
    const { tags, note, isOfPage } = restOf(rest)
    const highlight = { ...highlightOf(quote, row), tags }
    if (note !== '') (isOfPage || quote === '' ? item.notes : highlight.notes).push(noteOf(note, row))
    if (quote !== '') item.highlights.push(highlight)
  }
}

function restOf(rest: string): { tags: string[]; note: string; isOfPage: boolean } {
  const first = /^\s*(#[^\n]*)(?:\n|$)/.exec(rest)
  const tags = first && /^#\S/.test(first[1]!) ? tagsIn(first[1]!.replace(/^#/, ''), /\s#/) : []
  const body = first && tags.length > 0 ? rest.slice(first[0].length) : rest
  return { tags, note: fullText(body), isOfPage: /\n\s*\n$/.test(body) }
}
