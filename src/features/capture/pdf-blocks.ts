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
  /** Lines of a program, each on its own. */
  | { kind: 'code' }
)

/** Where a page begins inside a block's text: an offset in UTF-16 units. */
export interface PageStart {
  page: number
  offset: number
}

const BULLET = /^[•‣▪◦●○■□⁃∙·]\s*(?=\S)/u
const NUMBERED = /^(?:\(?\d{1,3}[.)]|\[\d{1,3}\]|\([a-z]\))\s+\S/u
const SENTENCE_END = /[.!?…:;。！？](?:["'”’»)\]]|\d{1,3})*$/u
/** Dots that lead to a page number. */
const LEADERS = /(?:\s*\.){4,}\s*/gu
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
  /** Fonts in which headings of the text's own size are set. */
  headingFonts: Set<string>
  /** Whether paragraphs begin with an indent. */
  indents: boolean
  /** The whole document is typed: letters of one width mean nothing. */
  isTyped: boolean
  lexicon: Lexicon
}

interface Open {
  kind: Block['kind']
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
      const level = titled.get(line)?.level ?? headingLevel(line, facts) ?? fontLevel(lines, index, facts)
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
      if (!facts.isTyped && line.fixedPitch && !(previous && runsOn(previous, line, facts))) {
        if (current?.kind === 'code') current.lines.push({ line, page })
        else open.push({ kind: 'code', level: 0, lines: [{ line, page }] })
      } else if (!current || !previous || current.kind === 'heading' || current.kind === 'code') {
        open.push({ kind: BULLET.test(line.text) ? 'item' : 'paragraph', level: 0, lines: [{ line, page }] })
      } else if (BULLET.test(line.text)) {
        open.push({ kind: 'item', level: 0, lines: [{ line, page }] })
      } else if (
        beginsParagraph(
          previous,
          line,
          { edge: near(lines, index), next: lineAfter(lines, index) },
          current,
          facts,
        )
      ) {
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
  const left = Math.min(...block.lines.map(({ line }) => line.x0))
  for (const { line, page: its } of block.lines) {
    const added = wordsOf(block, line, left, text === '')
    if (text === '') text = added
    else text = block.kind === 'code' ? `${text}\n${added}` : joinLines(text, added, lexicon)
    if (its !== page) {
      // A word cut by the page's end counts to the page on which it ends.
      starts.push({ page: its, offset: Math.max(text.length - added.length, 0) })
      page = its
    }
  }
  return block.kind === 'heading'
    ? { kind: 'heading', level: block.level, text, starts }
    : { kind: block.kind, text, starts }
}

function wordsOf(block: Open, line: Line, left: number, isFirst: boolean): string {
  if (block.kind === 'code') return ' '.repeat(Math.round((line.x0 - left) / (0.6 * line.size))) + line.text
  const text = line.text.replaceAll(LEADERS, ' … ').trim()
  return block.kind === 'item' && isFirst ? text.replace(BULLET, '') : text
}

/** The right edge near a line: text that flows round a picture has an edge of its own. */
function near(lines: readonly Line[], index: number): number {
  const region = lines[index]?.region
  const around = lines.slice(Math.max(index - 3, 0), index + 3).filter((line) => line.region === region)
  return Math.max(...around.map((line) => line.x1))
}

/** The next line of the same column. */
function lineAfter(lines: readonly Line[], index: number): Line | undefined {
  const line = lines[index]
  const next = lines[index + 1]
  return line && next && next.region === line.region && next.base > line.base ? next : undefined
}

/** A line of a table of contents. */
function isLeader(line: Line): boolean {
  return line.text.search(LEADERS) > 0
}

/** True when `line` is the rest of a sentence, such as a long name of a program inside a paragraph. */
function runsOn(previous: { line: Line; samePage: boolean }, line: Line, facts: Facts): boolean {
  const last = previous.line
  if (last.fixedPitch || SENTENCE_END.test(last.text) || !previous.samePage || last.region !== line.region)
    return false
  const usual = facts.leading.get(Math.round(last.size)) ?? 1.2 * last.size
  return (
    line.base - last.base <= 1.3 * usual &&
    Math.abs(line.x0 - last.left) < last.size &&
    last.x1 > last.right - 4 * last.size
  )
}

function beginsParagraph(
  previous: { line: Line; samePage: boolean },
  line: Line,
  { edge, next }: { edge: number; next: Line | undefined },
  current: Open,
  facts: Facts,
): boolean {
  const last = previous.line
  const em = Math.max(line.size, 1)
  const ended = SENTENCE_END.test(last.text)
  if (Math.abs(line.size / Math.max(last.size, 1) - 1) > 0.12) return true
  if (isLeader(last) || isLeader(line)) return true
  const startsLow = /^\p{Ll}/u.test(line.text)
  const full = last.x1 > Math.min(edge, last.right) - 2 * em
  const sameFlow = previous.samePage && line.region === last.region && line.base > last.base
  if (!sameFlow) {
    if (startsLow || !ended) return false
    return !(last.x1 > last.right - 2 * em && facts.indents && !isIndented(line, next))
  }
  const usual = facts.leading.get(Math.round(line.size)) ?? 1.2 * em
  const gap = line.base - last.base
  const isEven = next !== undefined && Math.abs(next.base - line.base - gap) < 0.08 * gap
  if (gap > (full && !ended ? 1.8 : full && isEven ? 1.6 : 1.3) * usual) return true
  if (current.kind === 'item') {
    // The item goes on while its lines stand under its words.
    return (
      line.x0 < last.x0 - 0.5 * em ||
      (ended && line.x0 <= line.left + 0.3 * em && last.x0 > last.left + 0.5 * em)
    )
  }
  if (isShifted(last, line, current.lines.length, { full, ended, em }, facts)) return true
  if (NUMBERED.test(line.text) && (ended || last.x1 < edge - 4 * em)) return true
  if (ended && !startsLow) {
    const word = line.text.split(' ')[0] ?? ''
    const width = ((line.x1 - line.x0) * word.length) / Math.max(line.text.length, 1)
    return last.x1 + width + 0.5 * em < Math.min(edge, line.right)
  }
  return false
}

/**
 * True when a line's left edge says that a paragraph begins. The edge of a paragraph's second and later lines is its own;
 * its first line may stand further in (an indent) or further out (as in bibliographies).
 */
function isShifted(
  last: Line,
  line: Line,
  count: number,
  { full, ended, em }: { full: boolean; ended: boolean; em: number },
  facts: Facts,
): boolean {
  const shift = line.x0 - last.x0
  const isLevel = Math.abs(shift) <= 0.8 * em
  if (count > 1) return !isLevel
  // Two indented lines in a row are paragraphs of one line, unless the first one is full.
  if (isLevel) return facts.indents && line.x0 - line.left > 0.8 * em && !full
  if (shift < 0) return ended && !full
  return !full || (ended && facts.indents)
}

/** Whether a first line stands further in than the one below it. */
function isIndented(line: Line, next: Line | undefined): boolean {
  return line.x0 - (next?.x0 ?? line.left) > 0.8 * line.size
}

function factsOf(pages: readonly PageLines[]): Facts {
  const bySize = new Map<number, number>()
  const byFont = new Map<string, number>()
  const gaps = new Map<number, number[]>()
  let indented = 0
  let counted = 0
  let typed = 0
  for (const { lines } of pages) {
    let last: Line | undefined
    for (const [index, line] of lines.entries()) {
      const size = Math.round(line.size * 2) / 2
      bySize.set(size, (bySize.get(size) ?? 0) + line.text.length)
      byFont.set(line.font, (byFont.get(line.font) ?? 0) + line.text.length)
      counted++
      if (line.fixedPitch) typed++
      const next = lines[index + 1]
      const before = last?.region === line.region ? last : undefined
      if (before && next?.region === line.region && stands(line, before) && stands(line, next)) indented++
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
  const bodyFont = commonest(byFont) ?? ''
  return {
    body,
    bodyFont,
    headingFonts: headingFontsOf(pages, bodyFont, body),
    leading: new Map([...gaps].map(([size, found]) => [size, usualGap(found)])),
    levels,
    indents: indented > 0.02 * counted,
    isTyped: typed > 0.5 * counted,
    lexicon: lexiconOf(pages.flatMap(({ lines }) => lines.map((line) => line.text))),
  }
}

/** Whether a line stands further in than another, as far as indents go. */
function stands(line: Line, other: Line): boolean {
  const offset = line.x0 - other.x0
  return offset > 0.8 * line.size && offset < 4 * line.size
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
  if (line.text.length > LONGEST_HEADING || !/\p{L}/u.test(line.text) || isLeader(line)) return undefined
  return facts.levels.get(Math.round(line.size * 2) / 2)
}

/** Below the levels of size: a heading that only its font shows. */
function fontLevel(lines: readonly Line[], index: number, facts: Facts): number | undefined {
  const line = lines[index]
  if (
    !line ||
    !facts.headingFonts.has(line.font) ||
    !standsOverText(lines, index, facts.bodyFont, facts.body)
  )
    return undefined
  return Math.min(Math.max(facts.levels.size, 1) + 1, 5)
}

/**
 * Fonts, such as the bold one, that are used for short lines over the text, at least twice, and hardly ever for other
 * whole lines (as the italic one is).
 */
function headingFontsOf(pages: readonly PageLines[], bodyFont: string, body: number): Set<string> {
  const over = new Map<string, number>()
  const whole = new Map<string, number>()
  for (const { lines } of pages) {
    for (const [index, line] of lines.entries()) {
      if (!line.isOneFont || line.font === bodyFont || line.size > body * HEADING_SIZE) continue
      whole.set(line.font, (whole.get(line.font) ?? 0) + 1)
      if (standsOverText(lines, index, bodyFont, body)) over.set(line.font, (over.get(line.font) ?? 0) + 1)
    }
  }
  return new Set(
    [...over].flatMap(([font, count]) => (count >= 2 && count >= 0.6 * (whole.get(font) ?? 0) ? [font] : [])),
  )
}

/** A short line in one font that is not the text's, begins like a heading, and has text or a heading's second line below. */
function standsOverText(lines: readonly Line[], index: number, bodyFont: string, body: number): boolean {
  const line = lines[index]
  const next = lines[index + 1]
  if (!line?.isOneFont || line.fixedPitch || line.font === bodyFont || line.size < 0.85 * body) return false
  if (line.text.length > 90 || !/^[\p{Lu}\p{N}]/u.test(line.text) || !/\p{L}{2}/u.test(line.text))
    return false
  if (/[.,;:]$/u.test(line.text) || isLeader(line) || /^(?:fig|tab|abb)\p{L}*\.?\s*\d/iu.test(line.text))
    return false
  return next !== undefined && next.font === bodyFont && next.text.length > 30
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
