import type { Db } from '../../db/schema.ts'
import { fileTitle, type ExportEntry } from './export-entry.ts'
import {
  exportedHighlights,
  exportedSources,
  FIRST_PLACE,
  markdownOf,
  notesOnHighlights,
  notesOnSource,
  readsOf,
  tagNamesOf,
  type ExportedHighlight,
  type ExportedSource,
} from './export-store.ts'

/** How many files of each kind were written. */
export interface MarkdownCounts {
  texts: number
  notes: number
  highlights: number
}

/**
 * Every source as a reader would want it without any program of ours: its text under `texts/`, and under `notes/` what the reader
 * marked and wrote. What lies in the trash is not among them (it is in the tables).
 */
export async function* exportMarkdown(db: Db, counts: MarkdownCounts): AsyncGenerator<ExportEntry> {
  for (let last = 0; ;) {
    const sources = await exportedSources(db, last)
    if (sources.length === 0) return
    last = sources.at(-1)!.id
    for (const source of sources) {
      if (source.trashed_at !== null) continue
      const name = `${fileTitle(source.title)}-${source.id}.md`
      const { text_id } = source
      if (text_id !== null) {
        counts.texts++
        yield { name: `texts/${name}`, content: textOf(db, source, text_id) }
      }
      const notes = await notesFile(db, source, counts)
      if (!notes) continue
      counts.notes++
      yield { name: `notes/${name}`, content: notes }
    }
  }
}

async function* textOf(db: Db, source: ExportedSource, textId: number): AsyncGenerator<string> {
  const facts: [string, unknown][] = [
    ['id', source.id],
    ['kind', source.kind],
    ['title', source.title],
    ['authors', JSON.parse(source.authors)],
    ['site', source.site],
    ['url', source.url],
    ['published', source.published],
    ['isbn', source.isbn13],
    ['added', source.created_at],
    ['captured', source.captured_at],
  ]
  yield '---\n'
  for (const [name, value] of facts) if (value !== null) yield `${name}: ${yaml(value)}\n`
  yield '---\n\n'
  yield `${await markdownOf(db, textId)}\n`
}

/** JSON is YAML, but for the marks that older parsers take for line breaks or refuse. */
const yaml = (value: unknown): string =>
  JSON.stringify(value).replaceAll(
    /[\u007f-\u009f\u2028\u2029\ufeff]/g,
    (mark) => `\\u${mark.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )

/** What the reader made of a source; undefined where that is nothing. */
async function notesFile(
  db: Db,
  source: ExportedSource,
  counts: MarkdownCounts,
): Promise<AsyncIterable<string> | undefined> {
  const tags = await tagNamesOf(db, source.id)
  const reads = await readsOf(db, source.id)
  const notes = await notesOnSource(db, source.id)
  const first = await exportedHighlights(db, source.id, FIRST_PLACE)
  if (tags.length + reads.length + notes.length + first.length === 0) return undefined
  return (async function* () {
    yield `# ${oneLine(source.title)}\n`
    const authors = (JSON.parse(source.authors) as string[]).join(', ')
    const about = [authors, source.site, source.url].filter(Boolean)
    if (about.length > 0) yield `\n${about.join(' · ')}\n`
    if (tags.length > 0) yield `\nTags: ${tags.join(', ')}\n`
    if (reads.length > 0) yield '\n## Read\n'
    for (const read of reads) {
      const dates = [read.started_on, read.finished_on].map((day) => day ?? '?').join(' to ')
      const known = read.started_on !== null || read.finished_on !== null
      const stars = read.rating === null ? '' : `, ${read.rating / 4} of 5 stars`
      yield `\n- ${read.status.replaceAll('_', ' ')}${known ? `, ${dates}` : ''}${stars}\n`
      if (read.review !== null) yield `\n${indented(read.review, '  ')}\n`
    }
    if (notes.length > 0) yield '\n## Notes\n'
    for (const { body } of notes) yield `\n${body}\n`
    if (first.length > 0) yield '\n## Highlights\n'
    for (let page = first; page.length > 0;) {
      const comments = await notesOnHighlights(
        db,
        page.map(({ id }) => id),
      )
      const on = new Map<number | null, string[]>()
      for (const { highlight_id, body } of comments)
        on.set(highlight_id, [...(on.get(highlight_id) ?? []), body])
      for (const highlight of page) {
        counts.highlights++
        yield `\n${indented(highlight.quote, '> ')}\n`
        const place = placeIn(highlight)
        if (place !== '') yield `\n${place}\n`
        for (const body of on.get(highlight.id) ?? []) yield `\n${body}\n`
      }
      const { start_offset: start, id } = page.at(-1)!
      page = await exportedHighlights(db, source.id, { start, id })
    }
  })()
}

function placeIn({ locator, color, state, created_at }: ExportedHighlight): string {
  const parts: string[] = []
  const where: unknown = locator === null ? undefined : JSON.parse(locator)
  if (where !== null && typeof where === 'object')
    parts.push(...Object.entries(where).map(([name, value]) => `${name} ${oneLine(String(value))}`))
  if (color !== null) parts.push(color)
  if (state === 'orphaned') parts.push('its words are no longer in the text')
  parts.push(created_at.slice(0, 10))
  return parts.join(' · ')
}

const oneLine = (text: string): string => text.replaceAll(/\s+/g, ' ').trim()

const indented = (text: string, begin: string): string =>
  text
    .split('\n')
    .map((line) => `${begin}${line}`.trimEnd())
    .join('\n')
