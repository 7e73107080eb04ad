import { breather } from '../../../core/breath.ts'
import { hasColumns } from '../csv-table.ts'
import type { ImportFormat } from '../define-format.ts'
import { LinkList } from '../gather-sources.ts'
import type { ImportFile } from '../import-file.ts'
import type { ImportReport } from '../import-report.ts'
import type { ImportedItem } from '../imported.ts'
import { linkItem } from '../link-item.ts'
import { tagsIn } from '../names.ts'
import { datedRow } from '../read-dates.ts'

/** Pocket's last form: `title, url, time_added, tags, status`, one file or several parts of one. */
export const pocketCsv: ImportFormat = {
  id: 'pocket-csv',
  title: 'Pocket, CSV',
  recognises: ({ csv }) => hasColumns(csv, 'url', 'time added', 'status'),
  read: async function* (file, report) {
    yield* readPocketCsv(file, new LinkList(), report)
  },
}

/** The rows of one part; `numbers` counts them over all parts of an archive. */
export async function* readPocketCsv(
  file: ImportFile,
  links: LinkList,
  report: ImportReport,
  numbers = { row: 1 },
  part: string | null = null,
): AsyncGenerator<ImportedItem> {
  const breathe = breather()
  for (const row of file.csvRows(report, numbers, part)) {
    await breathe()
    const link = linkItem(row.get('url'), row.get('title'), row, report)
    if (!link) continue
    link.tags = tagsIn(row.get('tags'), /[|,]/)
    link.reading.saved = datedRow(row.get('time added'), row, report).created
    link.reading.archived = /^(?:archived?|read)$/i.test(row.get('status'))
    link.reading.favourite = row.get('favorite') === '1'
    const listed = links.add(link, row, report)
    if (listed) yield listed
  }
}
