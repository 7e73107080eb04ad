import type { Writable } from 'node:stream'
import { displayWidth, padEnd, padStart, truncate, wrap, type Span } from './measure.ts'

/** Styles by what they say; the numbers are SGR codes that every terminal scheme keeps readable. */
export const STYLE = {
  strong: '1',
  dim: '2',
  emphasis: '3',
  link: '4',
  title: '1',
  good: '32',
  warning: '33',
  bad: '31',
  accent: '36',
  match: '1;33',
} as const

/** The widest that running text is set, however wide the terminal is. */
const READABLE = 90
/** Width of text that no terminal shows. */
const UNSEEN = 80
/** The widest that a column is padded where no terminal says how wide it is: one long title must not stretch every row. */
const PADDED = 60

export interface TerminalFacts {
  tty: boolean
  columns: number | undefined
  color: boolean
}

export interface Column {
  title: string
  align?: 'right'
  /** A column that gives way when the row is too wide for the terminal. */
  flexible?: boolean
  /** Fewest columns of a flexible one. */
  least?: number
  /** Left off, the last such column first, where the terminal has no room for it. */
  spare?: boolean
}

/** Where a command prints for people. */
export class Printer {
  readonly tty: boolean
  /** Columns of the terminal; undefined where the output goes to a file or another program. */
  readonly columns: number | undefined
  readonly #output: Writable
  readonly #color: boolean

  constructor(output: Writable, { tty, columns, color }: TerminalFacts) {
    this.#output = output
    this.tty = tty
    this.columns = tty ? columns || UNSEEN : undefined
    this.#color = color
  }

  /** Columns that running text is set in. */
  get measure(): number {
    return Math.min(this.columns ?? UNSEEN, READABLE)
  }

  write(text: string): void {
    this.#output.write(text)
  }

  line(...spans: (string | Span)[]): void {
    this.write(`${this.paint(spans.map((span) => (typeof span === 'string' ? { text: span } : span)))}\n`)
  }

  /** Spans with their colour codes, or without them. */
  paint(spans: readonly Span[]): string {
    return joined(spans)
      .map(({ text, style }) => (style && this.#color ? `\u001b[${style}m${text}\u001b[0m` : text))
      .join('')
  }

  /** Running text, wrapped, every line after `indent`. */
  paragraph(text: string | readonly Span[], indent = ''): void {
    const spans = typeof text === 'string' ? [{ text }] : text
    for (const line of wrap(spans, this.measure - displayWidth(indent))) this.line(indent, ...line)
  }

  /**
   * Rows in columns. On a terminal the flexible columns share what is left of its width, long cells are cut, and spare
   * columns are left off; elsewhere nothing is.
   */
  table(columns: readonly Column[], rows: readonly (readonly (string | Span)[])[]): void {
    const dropped = this.columns === undefined ? -1 : spareAt(columns, rows, this.columns)
    if (dropped >= 0)
      return this.table(
        columns.toSpliced(dropped, 1),
        rows.map((row) => row.toSpliced(dropped, 1)),
      )
    const cells = rows.map((row) => row.map((cell) => (typeof cell === 'string' ? { text: cell } : cell)))
    const widths = columns.map(({ title }, at) =>
      Math.max(displayWidth(title), ...cells.map((row) => displayWidth(row[at]?.text ?? ''))),
    )
    if (this.columns === undefined)
      for (const [at, width] of widths.entries()) widths[at] = Math.min(width, PADDED)
    else shrink(columns, widths, this.columns)
    const print = (row: readonly Span[]) => {
      const set = columns.map(({ align }, at) => {
        const { text = '', ...style } = row[at] ?? {}
        const cut = this.columns === undefined ? text : truncate(text, widths[at]!)
        const last = at === columns.length - 1
        const padded = align === 'right' ? padStart(cut, widths[at]!) : last ? cut : padEnd(cut, widths[at]!)
        return { text: padded, ...style }
      })
      this.write(
        `${set
          .map((span) => this.paint([span]))
          .join('  ')
          .trimEnd()}\n`,
      )
    }
    if (columns.some(({ title }) => title))
      print(columns.map(({ title }) => ({ text: title, style: STYLE.dim })))
    for (const row of cells) print(row)
  }

  json(value: unknown): void {
    this.write(`${jsonText(value)}\n`)
  }
}

/** Neighbours of the same style as one. */
function joined(spans: readonly Span[]): Span[] {
  const runs: Span[] = []
  for (const span of spans) {
    const last = runs.at(-1)
    if (last && last.style === span.style) runs[runs.length - 1] = { ...last, text: last.text + span.text }
    else runs.push(span)
  }
  return runs
}

/** The column to leave off so that a row fits, or -1. */
function spareAt(
  columns: readonly Column[],
  rows: readonly (readonly (string | Span)[])[],
  most: number,
): number {
  const needed = columns.map(({ title, flexible, least = 8 }, at) => {
    const texts = rows
      .map((row) => row[at] ?? '')
      .map((cell) => (typeof cell === 'string' ? cell : cell.text))
    const widest = Math.max(displayWidth(title), ...texts.map(displayWidth))
    return flexible ? Math.min(widest, least) : widest
  })
  const fits = needed.reduce((sum, width) => sum + width + 2, -2) <= most
  return fits ? -1 : columns.findLastIndex(({ spare }) => spare)
}

function shrink(columns: readonly Column[], widths: number[], most: number): void {
  const gaps = 2 * (columns.length - 1)
  const over = () => widths.reduce((sum, width) => sum + width, gaps) - most
  const flexible = columns.flatMap(({ flexible: gives, least = 8 }, at) => (gives ? [{ at, least }] : []))
  while (over() > 0) {
    const widest = flexible
      .filter(({ at, least }) => widths[at]! > least)
      .toSorted((a, b) => widths[b.at]! - widths[a.at]!)[0]
    if (!widest) return
    widths[widest.at]! -= 1
  }
}

/** JSON for a program that may stand behind a terminal: no control character goes out as it is. */
export const jsonText = (value: unknown): string =>
  JSON.stringify(value, null, 2).replaceAll(
    /[\u007f-\u009f]/g,
    (control) => `\\u${control.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )

/** What must not reach a terminal from a title or a text: control codes, and marks that reverse the writing direction. */
const UNPRINTABLE = /(?![\n\t])[\p{Cc}\u202a-\u202e\u2066-\u2069]/gu

/** Foreign text made safe to print; lines and tabs stay. */
export const printable = (text: string): string => text.replaceAll('\r\n', '\n').replaceAll(UNPRINTABLE, '')

/** Foreign text as one safe line. */
export const oneLine = (text: string): string => printable(text.replaceAll(/\s+/g, ' ')).trim()
