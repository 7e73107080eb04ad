import { medianOf } from './columns.ts'
import { joinLines, lexiconOf, type Lexicon } from './pdf-hyphens.ts'
import type { Line } from './pdf-lines.ts'

/** One page as read: its number from 1 and its lines in reading order, running heads gone. */
export interface PageLines {
  page: number
  lines: readonly Line[]
}

/** An entry of the document's own table of contents. */
export interface OutlineEntry {
  title: string
  /** Page number from 1. */
  page: number
  /** 0 for the outermost entries. */
  depth: number
}

/** A piece of a document. `level` counts as in Markdown: 1 to 6. */
export type Block = { text: string; starts: PageStart[] } & (
  | { kind: 'heading'; level: number }
  | { kind: 'paragraph' }
  | { kind: 'item' }
)

/** Where a page begins inside a block's text: an offset in UTF-16 units. */
export interface PageStart {
  page: number
  offset: number
}

const BULLET = /^[•‣▪◦●○■□⁃∙·]\s*(?=\S)/u
const NUMBERED = /^(?:\(?\d{1,3}[.)]|\[\d{1,3}\]|\([a-z]\))\s+\S/u
const SENTENCE_END = /[.!?…:;。！？](?:["'”’»)\]]|\d{1,3})*$/u
/** A line this much taller than the text is a heading. */
const HEADING_SIZE = 1.15
/** Longer than this is no heading, whatever its size. */
const LONGEST_HEADING = 200

interface Facts {
  /** Size of most of the text. */
  body: number
  bodyFont: string
  /** Usual distance of baselines by size, rounded. */
  leading: Map<number, number>
  /** Level of each heading size. */
  levels: Map<number, number>
  /** Whether paragraphs begin with an indent. */
  indents: boolean
  lexicon: Lexicon
}

interface Open {
  kind: 'heading' | 'paragraph' | 'item'
  level: number
  lines: { line: Line; page: number }[]
}

/**
 * Joins lines into headings, paragraphs and list items, across columns and pages.
 *
 * A paragraph ends where the size changes, where the gap to the next line is larger than the usual one, where the next
 * line is indented, or where a line ends a sentence although the next word would still have fitted. Between columns and
 * pages, where gaps say nothing, it goes on unless a sentence ended and nothing speaks for going on.
 */
export function blocksOf(pages: readonly PageLines[], outline: readonly OutlineEntry[] = []): Block[] {
  const facts = factsOf(pages)
  const entries = new Map<number, OutlineEntry[]>()
  for (const entry of outline) entries.set(entry.page, [...(entries.get(entry.page) ?? []), entry])
  const open: Open[] = []
  for (const { page, lines } of pages) {
    const titled = outlineLines(lines, entries.get(page) ?? [])
    for (const [index, line] of lines.entries()) {
      const current = open.at(-1)
      const last = current?.lines.at(-1)
      const level = titled.get(line)?.level ?? headingLevel(line, facts)
      if (level !== undefined) {
        const goesOn =
          current?.kind === 'heading' &&
          last?.page === page &&
          current.level === level &&
          titled.get(line)?.entry === titled.get(last.line)?.entry &&
          line.base - last.line.base < 1.8 * line.size &&
          Math.abs(line.size - last.line.size) < 0.05 * line.size
        if (goesOn) current.lines.push({ line, page })
        else open.push({ kind: 'heading', level, lines: [{ line, page }] })
        continue
      }
      const previous = last && { line: last.line, samePage: last.page === page }
      if (!current || !previous || current.kind === 'heading') {
        open.push({ kind: BULLET.test(line.text) ? 'item' : 'paragraph', level: 0, lines: [{ line, page }] })
      } else if (BULLET.test(line.text)) {
        open.push({ kind: 'item', level: 0, lines: [{ line, page }] })
      } else if (beginsParagraph(previous, line, near(lines, index), current, facts)) {
        open.push({ kind: 'paragraph', level: 0, lines: [{ line, page }] })
      } else {
        current.lines.push({ line, page })
      }
    }
  }
  return open
    .map((block) => closed(block, facts.lexicon))
    .map((block) =>
      block.kind === 'heading' && block.text.length > LONGEST_HEADING
        ? { ...block, kind: 'paragraph' as const }
        : block,
    )
    .filter((block) => block.text !== '')
}

function closed(block: Open, lexicon: Lexicon): Block {
  let text = ''
  let page = 0
  const starts: PageStart[] = []
  for (const { line, page: its } of block.lines) {
    const added = block.kind === 'item' && text === '' ? line.text.replace(BULLET, '') : line.text
    text = text === '' ? added : joinLines(text, added, lexicon)
    if (its !== page) {
      // A word cut by the page's end counts to the page on which it ends.
      const at = text.length - added.length
      starts.push({ page: its, offset: Math.max(at, 0) })
      page = its
    }
  }
  return block.kind === 'heading'
    ? { kind: 'heading', level: block.level, text, starts }
    : { kind: block.kind, text, starts }
}

/** The right edge near a line: text that flows round a picture has an edge of its own. */
function near(lines: readonly Line[], index: number): number {
  const region = lines[index]?.region
  const around = lines.slice(Math.max(index - 3, 0), index + 3).filter((line) => line.region === region)
  return Math.max(...around.map((line) => line.x1))
}

function beginsParagraph(
  previous: { line: Line; samePage: boolean },
  line: Line,
  edge: number,
  current: Open,
  facts: Facts,
): boolean {
  const last = previous.line
  const em = Math.max(line.size, 1)
  const ended = SENTENCE_END.test(last.text)
  if (Math.abs(line.size / Math.max(last.size, 1) - 1) > 0.12) return true
  const startsLow = /^\p{Ll}/u.test(line.text)
  const indented = line.x0 - line.left > 0.8 * em && line.x0 - line.left < 6 * em
  const sameFlow = previous.samePage && line.region === last.region && line.base > last.base
  if (!sameFlow) {
    if (startsLow) return false
    if (!ended) return false
    const full = last.x1 > last.right - 2 * em
    return !(full && facts.indents && !indented)
  }
  const usual = facts.leading.get(Math.round(line.size)) ?? 1.2 * em
  const gap = line.base - last.base
  if (gap > 1.3 * usual) return true
  if (current.kind === 'item') {
    // The item goes on while its lines stand under its words.
    return (
      line.x0 < last.x0 - 0.5 * em ||
      (ended && line.x0 <= line.left + 0.3 * em && last.x0 > last.left + 0.5 * em)
    )
  }
  const lastIndented = last.x0 - last.left > 0.8 * em
  if (indented && !lastIndented) return true
  if (indented && lastIndented && current.lines.length === 1 && facts.indents) {
    // Two indented lines in a row: paragraphs of one line, unless the first one is full.
    return last.x1 < edge - 2 * em
  }
  if (!indented && lastIndented && current.lines.length > 1) return true
  if (line.x0 < line.left - 0.8 * em) return true
  if (NUMBERED.test(line.text) && (ended || last.x1 < edge - 4 * em)) return true
  if (ended && !startsLow) {
    const word = line.text.split(' ')[0] ?? ''
    const width = ((line.x1 - line.x0) * word.length) / Math.max(line.text.length, 1)
    return last.x1 + width + 0.5 * em < Math.min(edge, line.right)
  }
  return false
}

function factsOf(pages: readonly PageLines[]): Facts {
  const bySize = new Map<number, number>()
  const byFont = new Map<string, number>()
  const gaps = new Map<number, number[]>()
  let indented = 0
  let counted = 0
  for (const { lines } of pages) {
    let last: Line | undefined
    for (const line of lines) {
      const size = Math.round(line.size * 2) / 2
      bySize.set(size, (bySize.get(size) ?? 0) + line.text.length)
      byFont.set(line.font, (byFont.get(line.font) ?? 0) + line.text.length)
      counted++
      const offset = line.x0 - line.left
      if (offset > 0.8 * line.size && offset < 4 * line.size) indented++
      if (last && last.region === line.region && Math.abs(last.size - line.size) < 0.5) {
        const gap = line.base - last.base
        const key = Math.round(line.size)
        if (gap > 0.5 * line.size && gap < 4 * line.size) {
          const found = gaps.get(key)
          if (found) found.push(gap)
          else gaps.set(key, [gap])
        }
      }
      last = line
    }
  }
  const body = commonest(bySize) ?? 10
  const sizes = [...bySize.keys()].filter((size) => size >= body * HEADING_SIZE).toSorted((a, b) => b - a)
  const levels = new Map<number, number>()
  for (const [index, size] of sizes.entries()) levels.set(size, Math.min(index + 1, 4))
  return {
    body,
    bodyFont: commonest(byFont) ?? '',
    leading: new Map([...gaps].map(([size, found]) => [size, usualGap(found)])),
    levels,
    indents: indented > 0.02 * counted && indented < 0.5 * counted,
    lexicon: lexiconOf(pages.flatMap(({ lines }) => lines.map((line) => line.text))),
  }
}

/** The commonest gap, not the mean: gaps between paragraphs pull the mean up. */
function usualGap(gaps: readonly number[]): number {
  const rounded = new Map<number, number>()
  for (const gap of gaps) {
    const key = Math.round(gap * 2) / 2
    rounded.set(key, (rounded.get(key) ?? 0) + 1)
  }
  return Math.min(commonest(rounded) ?? medianOf(gaps), medianOf(gaps))
}

function commonest<K>(counts: ReadonlyMap<K, number>): K | undefined {
  let best: K | undefined
  let most = 0
  for (const [key, count] of counts) {
    if (count > most) {
      most = count
      best = key
    }
  }
  return best
}

function headingLevel(line: Line, facts: Facts): number | undefined {
  if (line.text.length > LONGEST_HEADING || !/\p{L}/u.test(line.text)) return undefined
  return facts.levels.get(Math.round(line.size * 2) / 2)
}

/** The lines that the table of contents names, with the level that it gives them. */
function outlineLines(
  lines: readonly Line[],
  entries: readonly OutlineEntry[],
): Map<Line, { level: number; entry: OutlineEntry }> {
  const found = new Map<Line, { level: number; entry: OutlineEntry }>()
  for (const entry of entries) {
    const wanted = unnumbered(entry.title)
    if (wanted === '') continue
    for (const [index, line] of lines.entries()) {
      if (found.has(line)) continue
      let joined = ''
      let count = 0
      while (count < 3 && unnumbered(joined).length < wanted.length) {
        const next = lines[index + count]
        if (!next) break
        joined += ` ${next.text}`
        count++
      }
      if (unnumbered(joined) !== wanted) continue
      for (const part of lines.slice(index, index + count)) {
        found.set(part, { level: Math.min(entry.depth + 2, 6), entry })
      }
      break
    }
  }
  return found
}

/** Letters and digits alone. The number of a heading ("2.1 Methods") goes, since the outline may lack it. */
function unnumbered(text: string): string {
  const letters = text
    .toLowerCase()
    .normalize('NFKC')
    .replaceAll(/[^\p{L}\p{N}]+/gu, '')
  return letters.replace(/^\d+/u, '') || letters
}
