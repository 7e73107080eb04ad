import type { ImportFormat } from '../define-format.ts'
import { GatheredSources, LinkList } from '../gather-sources.ts'
import { ImportFile } from '../import-file.ts'
import type { ImportReport } from '../import-report.ts'
import { highlightOf } from '../imported.ts'
import { isObject, listOf, textOf } from '../json-values.ts'
import { linkItem } from '../link-item.ts'
import { fullText } from '../names.ts'
import { datedRow } from '../read-dates.ts'
import { readPocketCsv, pocketCsv } from './pocket-csv.ts'

const PART = /(?:^|\/)part_\d+\.csv$/i
const ANNOTATIONS = /(?:^|\/)annotations\/part_\d+\.json$/i

/** Pocket's last export as it came: parts of the list, and the highlights in a file of their own. */
export const pocketZip: ImportFormat = {
  id: 'pocket-zip',
  title: 'Pocket, ZIP archive',
  recognises: (file) =>
    file.isZip && file.archive.entries.some(({ name }) => PART.test(name) || ANNOTATIONS.test(name)),
  read: async function* (file, report) {
    const links = new LinkList()
    const marked = new GatheredSources()
    const numbers = { row: 0 }
    const { archive } = file
    for (const { name } of archive.entries) {
      let part: ImportFile | undefined
      try {
        const bytes = PART.test(name) || ANNOTATIONS.test(name) ? archive.read(name) : undefined
        part = bytes && new ImportFile(bytes)
      } catch {
        report.pass('refused', 'damaged_part', { row: ++numbers.row, part: name, text: name })
        continue
      }
      if (part && PART.test(name) && pocketCsv.recognises(part))
        yield* readPocketCsv(part, links, report, numbers, name)
      else if (part && ANNOTATIONS.test(name)) gatherAnnotations(part, name, marked, report, numbers)
      else report.pass('refused', 'unknown_part', { row: ++numbers.row, part: name, text: name })
    }
    for (const name of archive.unsafe)
      report.pass('refused', 'unsafe_name', { row: ++numbers.row, part: name, text: name })
    yield* marked.values()
  },
}

function gatherAnnotations(
  file: ImportFile,
  part: string,
  marked: GatheredSources,
  report: ImportReport,
  numbers: { row: number },
): void {
  if (!Array.isArray(file.json)) {
    report.pass('refused', 'unrecognised', { row: ++numbers.row, part, text: file.head })
    return
  }
  for (const entry of file.json) {
    const fields = isObject(entry) ? entry : {}
    for (const mark of listOf(fields['highlights'])) {
      const quote = fullText(textOf(isObject(mark) ? mark['quote'] : ''))
      const place = { row: ++numbers.row, part, text: quote }
      if (quote === '') {
        report.pass('refused', 'no_words', place)
        continue
      }
      const link = linkItem(textOf(fields['url']), textOf(fields['title']), place, report)
      if (!link) continue
      report.take()
      const dated = datedRow(textOf(isObject(mark) ? mark['created_at'] : ''), place, report)
      marked.of(link.source).highlights.push({ ...highlightOf(quote, place.row), ...dated })
    }
  }
}
