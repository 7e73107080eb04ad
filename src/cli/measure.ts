/** Blocks whose characters take two columns (Unicode East Asian Width W and F, in ranges). */
const WIDE: readonly (readonly [number, number])[] = [
  [0x1100, 0x115f],
  [0x2e80, 0x303e],
  [0x3041, 0x33ff],
  [0x3400, 0x4dbf],
  [0x4e00, 0x9fff],
  [0xa000, 0xa4cf],
  [0xa960, 0xa97f],
  [0xac00, 0xd7a3],
  [0xf900, 0xfaff],
  [0xfe30, 0xfe6f],
  [0xff01, 0xff60],
  [0xffe0, 0xffe6],
  [0x17000, 0x18aff],
  [0x1b000, 0x1b2ff],
  [0x1f200, 0x1f2ff],
  [0x20000, 0x3fffd],
]

const EMOJI =
  /^(?:\p{Emoji_Presentation}|\p{Regional_Indicator}{2}|\p{Extended_Pictographic}\uFE0F|[#*0-9]\uFE0F?\u20E3)/u
const INVISIBLE = /^[\p{Mark}\p{Default_Ignorable_Code_Point}\p{Cc}]+$/u
const PLAIN = /^[\x20-\x7e]*$/

const graphemes = new Intl.Segmenter(undefined, { granularity: 'grapheme' })

function graphemeWidth(grapheme: string): number {
  if (INVISIBLE.test(grapheme)) return 0
  if (EMOJI.test(grapheme)) return 2
  const code = grapheme.codePointAt(0)!
  return WIDE.some(([from, to]) => code >= from && code <= to) ? 2 : 1
}

/** Columns of one line that holds no control codes. */
export function displayWidth(line: string): number {
  if (PLAIN.test(line)) return line.length
  let width = 0
  for (const { segment } of graphemes.segment(line)) width += graphemeWidth(segment)
  return width
}

/** At most `columns` of a line, with an ellipsis where something was cut. */
export function truncate(line: string, columns: number): string {
  if (displayWidth(line) <= columns) return line
  if (columns < 1) return ''
  let cut = ''
  let width = 0
  for (const { segment } of graphemes.segment(line)) {
    const next = graphemeWidth(segment)
    if (width + next > columns - 1) break
    cut += segment
    width += next
  }
  return `${cut.trimEnd()}…`
}

export const padEnd = (line: string, columns: number): string =>
  line + ' '.repeat(Math.max(0, columns - displayWidth(line)))

export const padStart = (line: string, columns: number): string =>
  ' '.repeat(Math.max(0, columns - displayWidth(line))) + line

/** A stretch of text in one style (the numbers of an SGR code, such as `1` for bold). */
export interface Span {
  text: string
  style?: string
}

/** Closing marks, which no line begins with. */
const CLOSING = /^[\p{Close_Punctuation}\p{Final_Punctuation}、。，．・：；？！ー々,.:;?!]/u

/** What no line is broken inside of, unless it is longer than a line. */
interface Atom {
  spans: Span[]
  width: number
  /** Whether white space stood before it. */
  gap: boolean
  last: string
}

/** Breaks a paragraph into lines of at most `columns`, at white space and between wide characters. */
export function wrap(paragraph: readonly Span[], columns: number): Span[][] {
  const most = Math.max(2, columns)
  const lines: Span[][] = []
  let line: Span[] = []
  let width = 0
  const end = () => {
    lines.push(line)
    line = []
    width = 0
  }
  for (const atom of atomsOf(paragraph)) {
    const gap = atom.gap && width > 0 ? 1 : 0
    if (width > 0 && width + gap + atom.width > most) end()
    else if (gap) {
      const { style } = atom.spans[0]!
      line.push(style !== undefined && style === line.at(-1)?.style ? { text: ' ', style } : { text: ' ' })
      width += 1
    }
    if (atom.width <= most) {
      line.push(...atom.spans)
      width += atom.width
      continue
    }
    for (const { text, ...style } of atom.spans) {
      let cut = ''
      for (const { segment } of graphemes.segment(text)) {
        const columnsOf = graphemeWidth(segment)
        if (width + columnsOf > most) {
          if (cut) line.push({ text: cut, ...style })
          cut = ''
          end()
        }
        cut += segment
        width += columnsOf
      }
      if (cut) line.push({ text: cut, ...style })
    }
  }
  if (line.length > 0 || lines.length === 0) end()
  return lines
}

/** The lines of a text without styles. */
export const wrapText = (text: string, columns: number): string[] =>
  wrap([{ text }], columns).map((line) => line.map((span) => span.text).join(''))

function atomsOf(paragraph: readonly Span[]): Atom[] {
  const atoms: Atom[] = []
  let gap = false
  for (const { text, ...style } of paragraph) {
    for (const word of text.split(/([ \t\r\n]+)/)) {
      if (word === '') continue
      if (/^[ \t\r\n]/.test(word)) {
        gap = true
        continue
      }
      for (const piece of piecesOf(word)) {
        const before = atoms.at(-1)
        const span = { text: piece, ...style }
        const width = displayWidth(piece)
        if (!before || gap || mayBreak(before.last, piece)) {
          atoms.push({ spans: [span], width, gap, last: piece })
        } else {
          before.spans.push(span)
          before.width += width
          before.last = piece
        }
        gap = false
      }
    }
  }
  return atoms
}

function piecesOf(word: string): string[] {
  if (PLAIN.test(word)) return [word]
  const pieces: string[] = []
  let wide = false
  for (const { segment } of graphemes.segment(word)) {
    const now = graphemeWidth(segment) === 2
    if (pieces.length > 0 && !now && !wide) pieces[pieces.length - 1] += segment
    else pieces.push(segment)
    wide = now
  }
  return pieces
}

function mayBreak(before: string, after: string): boolean {
  if (CLOSING.test(after)) return false
  const wideBefore = displayWidth(before) === 2 && [...graphemes.segment(before)].length === 1
  return (wideBefore && !/^\p{Open_Punctuation}/u.test(before)) || graphemeWidth(firstOf(after)) === 2
}

function firstOf(text: string): string {
  for (const { segment } of graphemes.segment(text)) return segment
  return ''
}
