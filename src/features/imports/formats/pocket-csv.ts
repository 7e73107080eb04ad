import { breather } from '../breath.ts'
import { hasColumns } from '../csv-table.ts'
import type { ImportFormat } from '../define-format.ts'
import { GatheredSources } from '../gather-sources.ts'
import type { ImportFile } from '../import-file.ts'
import type { ImportReport } from '../import-report.ts'
import { linkItem } from '../link-item.ts'
import { tagsIn } from '../names.ts'
import { datedRow } from '../read-dates.ts'

/** Pocket's last form: `title, url, time_added, tags, status`, one file or several parts of one. */
export const pocketCsv: ImportFormat = {
  id: 'pocket-csv',
  title: 'Pocket, CSV',
  recognises: ({ csv }) => hasColumns(csv, 'url', 'time added', 'status'),
  read: async function* (file, report) {
    const links = new GatheredSources()
    await gatherPocketCsv(file, links, report)
    yield* links.values()
  },
}

/** The rows of one part; `numbers` counts them over all parts of an archive. */
export async function gatherPocketCsv(
  file: ImportFile,
  links: GatheredSources,
  report: ImportReport,
  numbers = { row: 1 },
  part: string | null = null,
): Promise<void> {
  const breathe = breather()
  for (const row of file.csvRows(report, numbers, part)) {
    await breathe()
    const link = linkItem(row.get('url'), row.get('title'), row, report)
    if (!link) continue
    link.tags = tagsIn(row.get('tags'), /[|,]/)
    link.reading.saved = datedRow(row.get('time added'), row, report).created
    link.reading.archived = /^(?:archived?|read)$/i.test(row.get('status'))
    link.reading.favourite = row.get('favorite') === '1'
    links.addLink(link, row, report)
  }
}
