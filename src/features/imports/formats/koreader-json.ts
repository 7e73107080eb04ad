import { breather } from '../../../core/breath.ts'
import type { ImportFormat } from '../define-format.ts'
import type { ImportFile } from '../import-file.ts'
import type { RowPlace } from '../import-report.ts'
import { highlightOf, itemOf, noSource, noteOf, type ImportedLocator } from '../imported.ts'
import { isObject, listOf, textOf, type JsonObject } from '../json-values.ts'
import { koreaderAuthors, nameOfFile } from '../koreader.ts'
import { fullText, oneLine } from '../names.ts'
import { datedRow } from '../read-dates.ts'

/** KOReader's export of one book (`title`, `entries`) or of many (`documents`). Its times are seconds since 1970. */
export const koreaderJson: ImportFormat = {
  id: 'koreader-json',
  title: 'KOReader, JSON',
  recognises: (file) => documentsIn(file) !== undefined,
  read: async function* (file, report) {
    const breathe = breather()
    let row = 0
    for (const document of documentsIn(file) ?? []) {
      const stated = isObject(document) ? oneLine(textOf(document['title'])) : ''
      const title = stated === 'Unknown Book' ? '' : stated
      const name = title || (isObject(document) ? nameOfFile(textOf(document['file'])) : '')
      const item = itemOf({
        ...noSource('book'),
        title: name,
        authors: isObject(document) ? koreaderAuthors(textOf(document['author'])) : [],
      })
      const entries = isObject(document)
        ? listOf(document['entries']).flatMap((entry) => entriesOf(entry))
        : []
      for (const entry of entries) {
        await breathe()
        const quote = fullText(textOf(entry['text']))
        const note = fullText(textOf(entry['note']))
        const place: RowPlace = { row: ++row, text: `${quote} ${note}` }
        if (name === '') report.pass('refused', 'no_title', place)
        else if (entry['sort'] === 'bookmark' || (quote === '' && note === '' && !entry['image']))
          report.pass('bookmark', 'bookmark', place)
        else if (quote === '' && note === '') report.pass('refused', 'drawing', place)
        else {
          report.take()
          const { created, unreadDate } = datedRow(textOf(entry['time']), place, report)
          const notes = note === '' ? [] : [{ ...noteOf(note, row), created }]
          const locator = locatorOf(entry)
          if (quote === '') item.notes.push(...notes.map((alone) => ({ ...alone, locator })))
          else {
            const color = textOf(entry['color']).toLowerCase() || null
            item.highlights.push({ ...highlightOf(quote, row), locator, notes, color, created, unreadDate })
          }
        }
      }
      if (item.highlights.length + item.notes.length === 0) continue
      if (title === '') report.remark('title_from_name', { row: item.highlights[0]?.row ?? row, text: name })
      yield item
    }
  },
}

function documentsIn(file: ImportFile): unknown[] | undefined {
  if (!file.isJson || !/"(?:entries|documents)"/.test(file.head)) return undefined
  const { json } = file
  if (!isObject(json)) return undefined
  if (json['entries'] !== undefined && (json['title'] !== undefined || json['file'] !== undefined))
    return [json]
  const documents = listOf(json['documents'])
  return documents.some((document) => isObject(document) && 'entries' in document) ? documents : undefined
}

/** Older versions keep several clippings of a chapter in one list. */
function entriesOf(entry: unknown): JsonObject[] {
  if (Array.isArray(entry)) return entry.filter(isObject)
  return isObject(entry) ? [entry] : []
}

function locatorOf(entry: JsonObject): ImportedLocator | null {
  const page = oneLine(textOf(entry['page']))
  const chapter = oneLine(textOf(entry['chapter']))
  if (page === '' && chapter === '') return null
  return { ...(page !== '' && !page.startsWith('/') && { page }), ...(chapter !== '' && { chapter }) }
}
