import { breather } from '../../../core/breath.ts'
import { hasColumns } from '../csv-table.ts'
import type { ImportFormat } from '../define-format.ts'
import { LinkList } from '../gather-sources.ts'
import { highlightOf } from '../imported.ts'
import { linkItem } from '../link-item.ts'
import { fullText, oneLine, tagsInList } from '../names.ts'
import { datedRow } from '../read-dates.ts'

/** Instapaper: `URL, Title, Selection, Folder, Timestamp` and, newer, `Tags`. Every other folder is one the reader made. */
export const instapaperCsv: ImportFormat = {
  id: 'instapaper-csv',
  title: 'Instapaper, CSV',
  recognises: ({ csv }) => hasColumns(csv, 'url', 'folder', 'timestamp'),
  read: async function* (file, report) {
    const breathe = breather()
    const links = new LinkList()
    for (const row of file.csvRows(report)) {
      await breathe()
      const link = linkItem(row.get('url'), row.get('title'), row, report)
      if (!link) continue
      const selection = fullText(row.get('selection'))
      const { created } = datedRow(row.get('timestamp'), row, report)
      if (selection !== '') link.highlights.push(highlightOf(selection, row.row))
      link.tags = tagsInList(row.get('tags'))
      link.reading.saved = created
      const folder = oneLine(row.get('folder'))
      link.reading.archived = /^archive$/i.test(folder)
      link.reading.favourite = /^(?:starred|liked)$/i.test(folder)
      if (folder !== '' && !/^(?:unread|archive|starred|liked|home)$/i.test(folder)) link.folder = [folder]
      const listed = links.add(link, row, report)
      if (listed) yield listed
    }
  },
}
