import { breather } from '../../../core/breath.ts'
import type { ImportFormat } from '../define-format.ts'
import { LinkList } from '../gather-sources.ts'
import { structureTags } from '../html-tags.ts'
import { linkItem } from '../link-item.ts'
import { tagsIn } from '../names.ts'
import { datedRow } from '../read-dates.ts'

/** Pocket's older form: a page with one list of what is unread and one of what is read. */
export const pocketHtml: ImportFormat = {
  id: 'pocket-html',
  title: 'Pocket, HTML',
  recognises: ({ head }) =>
    /<a\s[^>]*\btime_added\s*=/i.test(head) || /<title>\s*Pocket Export\s*<\/title>/i.test(head),
  read: async function* (file, report) {
    const breathe = breather()
    const links = new LinkList()
    let lists = 0
    let isArchive = false
    let row = 0
    for (const tag of structureTags(file.text)) {
      await breathe()
      if (tag.isClosing) continue
      if (/^h[1-6]$/.test(tag.name)) {
        lists++
        // The second list holds what was read, in whatever language its heading is.
        isArchive =
          /archive|read\b(?!\s*later)/i.test(tag.text) && !/unread/i.test(tag.text) ? true : lists > 1
      }
      if (tag.name !== 'a' || !tag.attributes.has('href')) continue
      const address = tag.attributes.get('href') ?? ''
      const place = { row: ++row, line: tag.line, text: `${tag.text} ${address}` }
      const link = linkItem(address, tag.text, place, report)
      if (!link) continue
      link.tags = tagsIn(tag.attributes.get('tags') ?? '', ',')
      link.reading.saved = datedRow(tag.attributes.get('time_added'), place, report).created
      link.reading.archived = isArchive
      const listed = links.add(link, place, report)
      if (listed) yield listed
    }
  },
}
