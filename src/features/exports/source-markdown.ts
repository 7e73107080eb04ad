import type { Db } from '../../db/schema.ts'
import { placeInSource } from '../highlights/place-in-source.ts'
import { authorsOf, isbnsOf, tagsOf } from '../sources/source-store.ts'
import { clock } from './highlight-csv.ts'
import { linesOf, oneLine, plainAsMarkdown } from './plain-as-markdown.ts'
import { inReadingOrder } from './reading-order.ts'
import {
  allHighlights,
  commentsOn,
  notesOn,
  sourceForMarkdown,
  type MarkedSource,
} from './source-markdown-store.ts'

/** What a reader has of a source, as the parts that a Markdown file of it has. */
export interface SourceMarkdown {
  id: number
  title: string
  /** What stands at the top as YAML, in this order; what is not known is not there. */
  facts: readonly (readonly [name: string, value: string | readonly string[]])[]
  head: MarkdownBlock
  notes: readonly MarkdownBlock[]
  highlights: readonly MarkdownBlock[]
}

/** A stretch of the file that is ours: of a source, a note or a highlight, by its id. */
export interface MarkdownBlock {
  id: number
  body: string
}

export interface MarkdownScope {
  /** Notes on highlights and on the source. */
  notes: boolean
  /** The private note of a book. */
  private: boolean
}

/** Undefined where there is no such source, or it lies in the trash. */
export async function sourceMarkdown(
  db: Db,
  id: number,
  may: MarkdownScope,
): Promise<SourceMarkdown | undefined> {
  const source = await sourceForMarkdown(db, id)
  if (!source) return undefined
  const highlights = inReadingOrder(await allHighlights(db, id))
  const tags = await tagsOf(db, [id])
  const onHighlights = new Map<number | null, string[]>()
  const notes = may.notes ? await notesOn(db, id, { private: may.private }) : []
  if (may.notes)
    for (const { highlight_id, body } of await commentsOn(db, id)) {
      const same = onHighlights.get(highlight_id)
      if (same) same.push(body)
      else onHighlights.set(highlight_id, [body])
    }
  const ofHighlights = await tagsInPieces(
    db,
    highlights.map((highlight) => highlight.id),
  )
  return {
    id,
    title: source.title,
    facts: factsOf(source, tags.get(id) ?? []),
    head: { id, body: headOf(source) },
    notes: notes.map(({ id: noteId, body }) => ({ id: noteId, body: guarded(body) })),
    highlights: highlights.map((highlight) => ({
      id: highlight.id,
      body: [
        quotation(highlight.quote),
        quotation(placeOf(highlight, source), true),
        ...(onHighlights.get(highlight.id) ?? []).map(guarded),
        tagLine(ofHighlights.get(highlight.id) ?? []),
      ]
        .filter((part) => part !== '')
        .join('\n\n')
        .replace('\n\n> \u2014', '\n>\n> \u2014'),
    })),
  }
}

const PIECE = 5_000

async function tagsInPieces(db: Db, ids: readonly number[]): Promise<Map<number, string[]>> {
  const all = new Map<number, string[]>()
  for (let from = 0; from < ids.length; from += PIECE)
    for (const [id, names] of await tagsOf(db, ids.slice(from, from + PIECE))) all.set(id, names)
  return all
}

function factsOf(source: MarkedSource, tags: readonly string[]): SourceMarkdown['facts'] {
  const facts: [string, string | readonly string[] | null][] = [
    ['title', source.title],
    ['authors', authorsOf(source)],
    ['type', source.kind],
    ['url', source.url],
    ['site', source.site],
    ['published', source.published],
    ['publisher', source.publisher],
    ['language', source.language],
    ['isbn', isbnsOf(source)],
    ['tags', tags],
    ['saved', source.created_at],
  ]
  return facts.flatMap(([name, value]) =>
    value === null || (Array.isArray(value) && value.length === 0) ? [] : [[name, value] as const],
  )
}

function headOf(source: MarkedSource): string {
  const title = plainAsMarkdown(oneLine(source.title)) || 'Untitled'
  const about = [
    authorsOf(source)
      .map((name) => plainAsMarkdown(oneLine(name)))
      .join(', '),
    linked(oneLine(source.site ?? '') || 'Source', source.url) || plainAsMarkdown(oneLine(source.site ?? '')),
  ].filter((part) => part !== '')
  return about.length === 0 ? `# ${title}` : `# ${title}\n\n${about.join(' \u00b7 ')}`
}

/** A link where there is an address of the web; empty where there is none. */
const linked = (words: string, url: string | null): string =>
  url !== null && /^https?:\/\//i.test(url) ? `[${plainAsMarkdown(words)}](${addressInLink(url)})` : ''

/** What would end the link, or its line, is written as its bytes. */
const addressInLink = (url: string): string =>
  url.replaceAll(/[\s<>()[\]\\`|"^{}]|\p{Cc}/gu, (mark) =>
    mark === '(' ? '%28' : mark === ')' ? '%29' : encodeURIComponent(mark),
  )

function quotation(text: string, isMarkdown = false): string {
  if (text === '') return ''
  return linesOf(isMarkdown ? text : plainAsMarkdown(text))
    .map((line) => `> ${line}`.trimEnd())
    .join('\n')
}

interface Marked {
  locator: string | null
  color: string | null
  quote: string
  state: 'anchored' | 'unanchored' | 'orphaned'
  written: string | null
  created_at: string
}

/** Where it stands, with a link to it, its colour and its date. */
function placeOf(
  { locator, color, quote, state, written, created_at }: Marked,
  source: MarkedSource,
): string {
  const { location, seconds } = placeInSource(locator)
  const words = [location === null ? '' : oneLine(location), seconds === null ? '' : clock(seconds)]
    .filter((part) => part !== '')
    .join(', ')
  const address = addressOf(source, { seconds, quote, isThere: state !== 'orphaned', locator })
  const where = linked(words || 'in the text', address) || plainAsMarkdown(words)
  const parts = [where, plainAsMarkdown(oneLine(color ?? '')), (written ?? created_at).slice(0, 10)]
  if (state === 'orphaned') parts.push('no longer in the text')
  return `\u2014 ${parts.filter((part) => part !== '').join(' \u00b7 ')}`
}

/** The address of the very place, where the web has a way to say it. */
function addressOf(
  { url, kind }: MarkedSource,
  {
    seconds,
    quote,
    isThere,
    locator,
  }: { seconds: number | null; quote: string; isThere: boolean; locator: string | null },
): string | null {
  if (url === null) return null
  const [page = '', fragment] = url.split(/#(.*)/s)
  if (seconds !== null) {
    const whole = Math.floor(seconds)
    if (/^https?:\/\/(?:www\.|m\.)?youtube\.com\/watch\?/i.test(page)) return `${page}&t=${whole}s`
    if (/^https?:\/\/youtu\.be\//i.test(page)) return `${page}${page.includes('?') ? '&' : '?'}t=${whole}s`
    // Media Fragments URI 1.0, 4.2.1
    return `${page}#t=${whole}`
  }
  const number = kind === 'pdf' && locator !== null ? /"page":"?(\d+)/.exec(locator)?.[1] : undefined
  if (number !== undefined) return `${page}#page=${number}`
  if (kind !== 'article' || !isThere) return url
  // https://wicg.github.io/scroll-to-text-fragment/
  const words = oneLine(quote).split(' ')
  const piece = (some: readonly string[]): string =>
    encodeURIComponent(some.join(' ').toWellFormed()).replaceAll('-', '%2D')
  const text = words.length > 12 ? `${piece(words.slice(0, 5))},${piece(words.slice(-5))}` : piece(words)
  return `${page}#${fragment ?? ''}:~:text=${text}`
}

function tagLine(names: readonly string[]): string {
  if (names.length === 0) return ''
  const shown = names.map((name) =>
    /^[\p{L}\p{N}_/-]+$/u.test(name) && /[^\p{N}]/u.test(name) ? `#${name}` : plainAsMarkdown(oneLine(name)),
  )
  return `Tags: ${shown.join(', ')}`
}

/** A note is the reader's own Markdown; only what would pass for a mark of ours is kept from doing so. */
const guarded = (note: string): string =>
  linesOf(note)
    .map((line) => line.replace(/^(\s*)<!--(?=\s*\/?commonplace\b)/i, String.raw`$1\<!--`).trimEnd())
    .join('\n')
    .replace(/^\n+|\n+$/g, '')
