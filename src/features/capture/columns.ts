/** Where a piece of text stands on its page, in points, y growing downwards. */
export interface TextBox {
  x0: number
  x1: number
  /** Top and baseline. */
  y0: number
  y1: number
  /** Number of characters; tells a column of text from a column of figures. */
  chars: number
}

/** Boxes on one baseline. */
interface Row<T> {
  y0: number
  y1: number
  boxes: T[]
}

/** Rows between two rows that run across the gutter. */
interface Band<T> {
  spanning: boolean
  rows: Row<T>[]
}

/** A gutter is at least this wide, in heights of the text: word gaps of justified lines seldom line up that wide. */
const NARROWEST_GUTTER = 0.8
/** Fewer lines side by side than this is a table, a signature or a running head. */
const FEWEST_LINES = 3
/** A column of prose holds this many characters a line; page numbers, prices and a program's options hold less. */
const FEWEST_CHARS = 14
/** A column's lines fill this much of its width in the middle; cells of a table fill less. */
const LEAST_FILL = 0.5
/** The narrower column is at least this part of the wider one (four columns split 1 : 3). */
const LEAST_BALANCE = 0.28
/** Columns that are nested deeper than this are no columns. */
const DEEPEST = 4

/**
 * Splits the text of a page into regions in reading order: what runs across the page stands alone, columns between are
 * read one after the other, also when the file draws them line by line in turn. The boxes of a region keep the order of
 * their baselines.
 *
 * A gutter is a vertical strip that many lines on both sides leave empty. It is looked for by trying every position and
 * counting the lines that stand side by side there (a one-step form of the recursive X-Y cut: Nagy and Seth,
 * "Hierarchical representation of optically scanned documents", 1984, with rows that cross the strip as horizontal cuts).
 */
export function orderByColumns<T extends TextBox>(boxes: readonly T[], depth = 0): T[][] {
  if (boxes.length === 0) return []
  const rows = rowsOf(boxes)
  if (depth >= DEEPEST) return [rows.flatMap((row) => row.boxes)]
  const height = medianOf(boxes.map((box) => box.y1 - box.y0))
  const gutter = findGutter(rows, height)
  if (gutter === undefined) return [rows.flatMap((row) => row.boxes)]
  const regions: T[][] = []
  for (const band of bandsAt(rows, gutter, height)) {
    const all = band.rows.flatMap((row) => row.boxes)
    // A row alone that happens to have a gap there is a line like any other.
    if (band.spanning || band.rows.length === 1) {
      regions.push(all)
      continue
    }
    const left = all.filter((box) => box.x1 <= gutter)
    const right = all.filter((box) => box.x1 > gutter)
    regions.push(...orderByColumns(left, depth + 1), ...orderByColumns(right, depth + 1))
  }
  return regions
}

function findGutter<T extends TextBox>(rows: readonly Row<T>[], height: number): number | undefined {
  if (rows.length < FEWEST_LINES) return undefined
  const x0 = Math.min(...rows.map((row) => row.boxes[0]?.x0 ?? 0))
  const x1 = Math.max(...rows.flatMap((row) => row.boxes.map((box) => box.x1)))
  const margin = (x1 - x0) * 0.1
  const step = Math.max((height * NARROWEST_GUTTER) / 4, 1)
  let best = 0
  let from = 0
  let to = 0
  let open = false
  for (let x = x0 + margin; x <= x1 - margin; x += step) {
    const score = scoreOf(rows, x, height)
    if (score > best) {
      best = score
      from = x
      open = true
    }
    if (score < best) open = false
    else if (open) to = x
  }
  return best >= FEWEST_LINES ? (from + to) / 2 : undefined
}

/** The number of lines that stand side by side at `x`, in bands that look like columns. */
function scoreOf<T extends TextBox>(rows: readonly Row<T>[], x: number, height: number): number {
  let score = 0
  for (const band of bandsAt(rows, x, height)) {
    if (!band.spanning) score += sideBySide(band.rows, x)
  }
  return score
}

function sideBySide<T extends TextBox>(rows: readonly Row<T>[], x: number): number {
  const left = sideOf(rows, (box) => box.x1 <= x)
  const right = sideOf(rows, (box) => box.x1 > x)
  const lines = Math.min(left.lines, right.lines)
  if (lines < FEWEST_LINES) return 0
  if (Math.min(left.chars, right.chars) < FEWEST_CHARS) return 0
  if (Math.min(left.fill, right.fill) < LEAST_FILL) return 0
  if (Math.min(left.width, right.width) < LEAST_BALANCE * Math.max(left.width, right.width)) return 0
  const overlap = Math.min(left.y1, right.y1) - Math.max(left.y0, right.y0)
  if (overlap < 0.5 * Math.min(left.y1 - left.y0, right.y1 - right.y0)) return 0
  return lines
}

interface Side {
  lines: number
  width: number
  /** Medians over the lines: part of the width that is filled, and characters. */
  fill: number
  chars: number
  y0: number
  y1: number
}

function sideOf<T extends TextBox>(rows: readonly Row<T>[], isHere: (box: T) => boolean): Side {
  const widths: number[] = []
  const chars: number[] = []
  let x0 = Infinity
  let x1 = -Infinity
  let y0 = Infinity
  let y1 = -Infinity
  for (const row of rows) {
    let from = Infinity
    let to = -Infinity
    let count = 0
    for (const box of row.boxes) {
      if (!isHere(box)) continue
      from = Math.min(from, box.x0)
      to = Math.max(to, box.x1)
      count += box.chars
    }
    if (count === 0) continue
    widths.push(to - from)
    chars.push(count)
    x0 = Math.min(x0, from)
    x1 = Math.max(x1, to)
    y0 = Math.min(y0, row.y0)
    y1 = Math.max(y1, row.y1)
  }
  const width = Math.max(x1 - x0, 1)
  return { lines: widths.length, width, fill: medianOf(widths) / width, chars: medianOf(chars), y0, y1 }
}

function bandsAt<T extends TextBox>(rows: readonly Row<T>[], x: number, height: number): Band<T>[] {
  const bands: Band<T>[] = []
  for (const row of rows) {
    // A word gap of a large title is no gutter, so the strip widens with the row's own height.
    const half = (Math.max(row.y1 - row.y0, height) * NARROWEST_GUTTER) / 2
    const spanning = row.boxes.some((box) => box.x0 < x + half && box.x1 > x - half)
    const last = bands.at(-1)
    if (last && last.spanning === spanning) last.rows.push(row)
    else bands.push({ spanning, rows: [row] })
  }
  return bands
}

/** Boxes by baseline, each row from left to right. Sub- and superscripts stay with their line. */
export function rowsOf<T extends TextBox>(boxes: readonly T[]): Row<T>[] {
  const sorted = boxes.toSorted((a, b) => a.y1 - b.y1 || a.x0 - b.x0)
  const rows: Row<T>[] = []
  for (const box of sorted) {
    const row = rows.at(-1)
    if (row && box.y1 - row.y1 < 0.5 * Math.max(row.y1 - row.y0, box.y1 - box.y0)) {
      row.boxes.push(box)
      // The baseline of a row is that of its tallest box: a raised note mark comes first but does not set it.
      if (box.y1 - box.y0 > row.y1 - row.y0) {
        row.y0 = box.y0
        row.y1 = box.y1
      }
    } else {
      rows.push({ y0: box.y0, y1: box.y1, boxes: [box] })
    }
  }
  for (const row of rows) row.boxes.sort((a, b) => a.x0 - b.x0)
  return rows
}

export function medianOf(values: readonly number[]): number {
  if (values.length === 0) return 0
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.floor(sorted.length / 2)] ?? 0
}
