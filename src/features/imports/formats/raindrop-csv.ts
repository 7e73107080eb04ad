import { breather } from '../../../core/breath.ts'
import { hasColumns } from '../csv-table.ts'
import type { ImportFormat } from '../define-format.ts'
import { LinkList } from '../gather-sources.ts'
import { highlightOf, noteOf, type ImportedHighlight } from '../imported.ts'
import { linkItem } from '../link-item.ts'
import { foldersIn, fullText, oneLine, tagsIn } from '../names.ts'
import { datedRow } from '../read-dates.ts'
import { webAddress } from '../web-address.ts'

/**
 * Raindrop.io: `id, title, note, excerpt, url, folder, tags, created, cover, highlights, favorite`; older exports lack some of
 * them or call the excerpt `description`.
 */
export const raindropCsv: ImportFormat = {
  id: 'raindrop-csv',
  title: 'Raindrop.io, CSV',
  recognises: ({ csv }) => hasColumns(csv, 'url', 'folder', 'created'),
  read: async function* (file, report) {
    const breathe = breather()
    const links = new LinkList()
    for (const row of file.csvRows(report)) {
      await breathe()
      const link = linkItem(row.get('url'), row.get('title'), row, report)
      if (!link) continue
      link.source.description = fullText(row.get('excerpt') || row.get('description')) || null
      link.source.coverUrl = webAddress(row.get('cover'))
      const { created } = datedRow(row.get('created'), row, report)
      const note = fullText(row.get('note'))
      if (note !== '') link.notes.push({ ...noteOf(note, row.row), created })
      link.highlights = highlightsIn(row.get('highlights'), row.row)
      link.tags = tagsIn(row.get('tags'), ',')
      link.folder = foldersIn(row.get('folder')).filter((name, i) => i > 0 || !/^unsorted$/i.test(name))
      link.reading.saved = created
      link.reading.favourite = /^(?:true|1|yes)$/i.test(row.get('favorite') || row.get('favourite'))
      const listed = links.add(link, row, report)
      if (listed) yield listed
    }
  },
}

const LABEL = /^(highlight|note|colou?r)\s*:\s*/i

/** All highlights of a page lie in one cell: under labels, parted by empty lines, or one in each line. */
function highlightsIn(cell: string, row: number): ImportedHighlight[] {
  const text = fullText(cell)
  if (text === '') return []
  const lines = text.split('\n')
  if (lines.some((line) => /^highlight\s*:/i.test(line))) return labelled(lines, row)
  const parts = /\n\s*\n/.test(text) ? text.split(/\n\s*\n/) : lines
  return parts.map(fullText).flatMap((quote) => (quote === '' ? [] : [highlightOf(quote, row)]))
}

function labelled(lines: readonly string[], row: number): ImportedHighlight[] {
  const highlights: ImportedHighlight[] = []
  let into = ''
  const add = (highlight: ImportedHighlight | undefined, line: string): void => {
    if (!highlight) return
    if (into === 'note') {
      const [note] = highlight.notes
      if (note) note.body += `\n${line}`
      else highlight.notes.push(noteOf(line, row))
    } else if (into === 'highlight') highlight.quote += highlight.quote === '' ? line : `\n${line}`
    else highlight.color = oneLine(line).toLowerCase() || highlight.color
  }
  for (const line of lines) {
    const label = LABEL.exec(line)
    if (label) into = label[1]!.toLowerCase().replace('colour', 'color')
    if (label && into === 'highlight') highlights.push(highlightOf('', row))
    const rest = label ? line.slice(label[0].length) : line
    if (rest.trim() !== '') add(highlights.at(-1), rest)
  }
  for (const highlight of highlights) {
    highlight.quote = fullText(highlight.quote)
    highlight.notes = highlight.notes.filter((note) => (note.body = fullText(note.body)) !== '')
  }
  return highlights.filter(({ quote }) => quote !== '')
}
