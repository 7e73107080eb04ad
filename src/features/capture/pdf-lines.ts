import { medianOf, orderByColumns, rowsOf, type TextBox } from './columns.ts'

/** A piece of text as pdf.js gives it (`TextItem`), with its place already in page space (y downwards). */
export interface PlacedText {
  text: string
  /** The text matrix times the page's matrix: a, b, c, d, x, y. */
  matrix: readonly number[]
  /** Length along the baseline, in points. */
  width: number
  font: string
  /** All letters of the font are of one width. */
  fixedPitch: boolean
  rightToLeft: boolean
}

/** A line of text in reading order. Lengths are points, y grows downwards. */
export interface Line {
  text: string
  x0: number
  x1: number
  base: number
  size: number
  /** The font of most of its characters. */
  font: string
  /** All of it is in that font. */
  isOneFont: boolean
  /** Set in letters of one width from end to end, as programs are. */
  fixedPitch: boolean
  /** Edges of the column that it stands in: where most lines begin, and where the long ones end. */
  left: number
  right: number
  /** Number of its column on the page, from 0. */
  region: number
}

interface Run extends TextBox {
  text: string
  font: string
  fixedPitch: boolean
  rightToLeft: boolean
  spaceBefore: boolean
}

/** Runs of one or two letters this much taller than the text around them are initials. */
const INITIAL_SIZE = 1.8
/** Runs further apart than this part of their height are two words. */
const WORD_GAP = 0.15

/** The lines of one page in reading order; marks in the margin that are turned against the text are left out. */
export function linesOf(items: readonly PlacedText[]): Line[] {
  const lines: Line[] = []
  for (const [region, runs] of orderByColumns(runsOf(items)).entries()) {
    const found = linesOfRegion(runs, region)
    const left = commonEdge(found.map((line) => line.x0))
    const right = farEdge(found.map((line) => line.x1))
    for (const line of found) lines.push({ ...line, left, right })
  }
  return lines
}

function runsOf(items: readonly PlacedText[]): Run[] {
  const turn = commonTurn(items)
  const runs: Run[] = []
  let spaceBefore = false
  for (const item of items) {
    if (item.text.trim() === '') {
      spaceBefore = true
      continue
    }
    if (turnOf(item.matrix) !== turn) continue
    const [, , c = 0, d = 0, e = 0, f = 0] = item.matrix
    const [x, y] = turned(e, f, turn)
    const size = Math.hypot(c, d)
    const text = item.text.trim()
    const run = {
      text,
      x0: x,
      x1: x + item.width,
      y0: y - size,
      y1: y,
      chars: [...text].length,
      font: item.font,
      fixedPitch: item.fixedPitch,
      rightToLeft: item.rightToLeft,
      spaceBefore: spaceBefore || /^\s/u.test(item.text),
    }
    spaceBefore = /\s$/u.test(item.text)
    if (size > 0 && !isDrawnTwice(runs, run)) runs.push(run)
  }
  return runs
}

/** Bold by drawing twice, a hair apart. */
function isDrawnTwice(runs: readonly Run[], run: Run): boolean {
  const near = (run.y1 - run.y0) * 0.15
  return runs
    .slice(-8)
    .some(
      (other) =>
        other.text === run.text && Math.abs(other.x0 - run.x0) < near && Math.abs(other.y1 - run.y1) < near,
    )
}

/** Quarter turns of the writing direction; undefined for slanted text such as a watermark. */
function turnOf(matrix: readonly number[]): number | undefined {
  const [a = 0, b = 0] = matrix
  const quarters = Math.atan2(b, a) / (Math.PI / 2)
  const turn = Math.round(quarters)
  return Math.abs(quarters - turn) < 0.1 ? (turn + 4) % 4 : undefined
}

function commonTurn(items: readonly PlacedText[]): number {
  const counts = [0, 0, 0, 0]
  for (const item of items) {
    const turn = turnOf(item.matrix)
    if (turn !== undefined) counts[turn] = (counts[turn] ?? 0) + item.text.trim().length
  }
  return counts.indexOf(Math.max(...counts))
}

function turned(x: number, y: number, turn: number): [number, number] {
  if (turn === 1) return [y, -x]
  if (turn === 2) return [-x, -y]
  if (turn === 3) return [-y, x]
  return [x, y]
}

function linesOfRegion(runs: readonly Run[], region: number): Omit<Line, 'left' | 'right'>[] {
  const usual = medianOf(
    runs.flatMap((run) => Array.from({ length: Math.min(run.chars, 40) }, () => run.y1 - run.y0)),
  )
  const isInitial = (run: Run) =>
    run.chars <= 2 && run.y1 - run.y0 >= INITIAL_SIZE * usual && /^\p{Lu}/u.test(run.text)
  const standsAlone = (run: Run) =>
    !runs.some(
      (other) =>
        other !== run && other.y1 - other.y0 > 0.8 * (run.y1 - run.y0) && Math.abs(other.y1 - run.y1) < 1,
    )
  const initials = runs.filter((run) => isInitial(run) && standsAlone(run))
  const rest = initials.length > 0 ? runs.filter((run) => !initials.includes(run)) : runs
  const lines = rowsOf(rest).map((row) => lineOf(row.boxes, region))
  for (const initial of initials) {
    const line = lines.find(
      (line) =>
        line.x0 > initial.x0 &&
        line.size * INITIAL_SIZE <= initial.y1 - initial.y0 &&
        line.base > initial.y0 &&
        line.base - line.size < initial.y1 &&
        line.x0 - initial.x1 < 2 * line.size,
    )
    if (line) {
      line.text = initial.text + line.text
      line.x0 = initial.x0
    } else {
      lines.push(lineOf([initial], region))
    }
  }
  return lines.toSorted((a, b) => a.base - b.base)
}

function lineOf(runs: readonly Run[], region: number): Omit<Line, 'left' | 'right'> {
  const backwards = charsWhere(runs, (run) => run.rightToLeft) * 2 > charsWhere(runs, () => true)
  const ordered = backwards ? runs.toReversed() : runs
  let text = ''
  let last: Run | undefined
  for (const run of ordered) {
    if (last) {
      const gap = backwards ? last.x0 - run.x1 : run.x0 - last.x1
      const size = Math.max(last.y1 - last.y0, run.y1 - run.y0)
      if (run.spaceBefore || gap > WORD_GAP * size) text += ' '
    }
    text += run.text
    last = run
  }
  const main = mainRun(runs)
  return {
    text: text.replaceAll(/\s+/gu, ' ').trim(),
    x0: Math.min(...runs.map((run) => run.x0)),
    x1: Math.max(...runs.map((run) => run.x1)),
    base: main.y1,
    size: main.y1 - main.y0,
    font: main.font,
    isOneFont: runs.every((run) => run.font === main.font),
    fixedPitch: runs.every((run) => run.fixedPitch),
    region,
  }
}

function charsWhere(runs: readonly Run[], isWanted: (run: Run) => boolean): number {
  return runs.reduce((sum, run) => sum + (isWanted(run) ? run.chars : 0), 0)
}

/** The longest run stands for its line: note marks and formulas do not change its size. */
function mainRun(runs: readonly Run[]): Run {
  return runs.reduce((best, run) => (run.chars > best.chars ? run : best))
}

/** The commonest value, within a point and a half; the smallest of equals. */
function commonEdge(values: readonly number[]): number {
  let best = values[0] ?? 0
  let most = 0
  for (const value of values.toSorted((a, b) => a - b)) {
    const count = values.filter((other) => Math.abs(other - value) < 1.5).length
    if (count > most) {
      most = count
      best = value
    }
  }
  return best
}

/** Nearly the largest value, so that one line that runs over does not move the edge. */
function farEdge(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.floor((sorted.length - 1) * 0.95)] ?? 0
}
