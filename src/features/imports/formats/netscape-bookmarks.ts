import { breather } from '../../../core/breath.ts'
import type { ImportFormat } from '../define-format.ts'
import { LinkList } from '../gather-sources.ts'
import { structureTags } from '../html-tags.ts'
import type { RowPlace } from '../import-report.ts'
import { noteOf, type ImportedItem } from '../imported.ts'
import { linkItem } from '../link-item.ts'
import { fullText, oneLine, tagsIn } from '../names.ts'
import { datedRow } from '../read-dates.ts'

/**
 * The bookmark file of every browser and of most bookmark services: links in nested folders, with `ADD_DATE` in seconds and
 * sometimes `TAGS`. https://learn.microsoft.com/previous-versions/windows/internet-explorer/ie-developer/platform-apis/aa753582(v=vs.85)
 */
export const netscapeBookmarks: ImportFormat = {
  id: 'netscape-bookmarks',
  title: 'bookmarks of a browser, HTML',
  recognises: ({ head }) =>
    /<!doctype\s+netscape-bookmark-file/i.test(head) ||
    (/<dl\b/i.test(head) && /<dt>\s*<a\s[^>]*\bhref\s*=/i.test(head)),
  read: async function* (file, report) {
    const breathe = breather()
    const links = new LinkList()
    /** Folders that are open; null for a list that has no heading. */
    const folders: (string | null)[] = []
    let heading: string | null = null
    let row = 0
    let open: { link: ImportedItem; place: RowPlace } | undefined
    /** The link before, with the description that may have followed it. */
    const close = (): ImportedItem | undefined => {
      const listed = open && links.add(open.link, open.place, report)
      open = undefined
      return listed
    }
    for (const tag of structureTags(file.text)) {
      await breathe()
      if (tag.name === 'h3' && !tag.isClosing) heading = oneLine(tag.text)
      if (tag.name === 'dl') {
        if (tag.isClosing) folders.pop()
        else folders.push(heading)
        heading = null
      }
      if (tag.name === 'dd' && !tag.isClosing && open) {
        const description = fullText(tag.text)
        if (description !== '') open.link.notes.push(noteOf(description, row))
      }
      if (tag.name !== 'a' || tag.isClosing || !tag.attributes.has('href')) continue
      const before = close()
      if (before) yield before
      const address = tag.attributes.get('href') ?? ''
      const place: RowPlace = { row: ++row, line: tag.line, text: `${tag.text} ${address}` }
      const link = linkItem(address, tag.text, place, report)
      if (!link) continue
      link.tags = tagsIn(tag.attributes.get('tags') ?? '', ',')
      link.folder = folders.filter((name) => name !== null && name !== '').map(String)
      link.reading.saved = datedRow(tag.attributes.get('add_date'), place, report).created
      link.reading.favourite = tag.attributes.get('data-important') === 'true'
      // Pinboard and its like.
      link.reading.archived = tag.attributes.get('toread') === '0'
      open = { link, place }
    }
    const last = close()
    if (last) yield last
  },
}
