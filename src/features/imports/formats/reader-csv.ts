import { breather } from '../../../core/breath.ts'
import { hasColumns } from '../csv-table.ts'
import type { ImportFormat } from '../define-format.ts'
import { LinkList } from '../gather-sources.ts'
import { linkItem } from '../link-item.ts'
import { tagsInList } from '../names.ts'
import { datedRow } from '../read-dates.ts'

/**
 * The library of Readwise Reader: `Title, URL, ID, Document tags, Saved date, Reading progress, Location, Seen`. Feed items
 * that were never opened are not the reader's and are left out.
 */
export const readerCsv: ImportFormat = {
  id: 'reader-csv',
  title: 'Readwise Reader, CSV of the library',
  recognises: ({ csv }) => hasColumns(csv, 'title', 'url', 'document tags', 'saved date'),
  read: async function* (file, report) {
    const breathe = breather()
    const links = new LinkList()
    for (const row of file.csvRows(report)) {
      await breathe()
      const link = linkItem(row.get('url'), row.get('title'), row, report)
      if (!link) continue
      const progress = Number(row.get('reading progress') || '0')
      const tags = tagsInList(row.get('document tags'))
      const place = row.get('location').toLowerCase()
      const isSeen = /^(?:true|1|yes)$/i.test(row.get('seen'))
      if (place === 'feed' && !isSeen && !(progress > 0) && tags.length === 0) {
        report.pass('left', 'feed', row)
        continue
      }
      link.tags = tags
      link.reading.saved = datedRow(row.get('saved date'), row, report).created
      link.reading.archived = place === 'archive'
      link.reading.favourite = place === 'shortlist'
      if (progress > 0 && progress <= 1) link.reading.percent = Math.round(progress * 1000) / 10
      const listed = links.add(link, row, report)
      if (listed) yield listed
    }
  },
}
