import type { Line } from './pdf-lines.ts'

/** How far into the page, in lines from either edge, running heads and feet are looked for. */
const DEPTH = 3
/** Lines at the same height on different pages differ by less than this many points. */
const SAME_HEIGHT = 4

/**
 * The lines of each page without running heads, running feet and page numbers.
 *
 * A line goes when it stands at the page's edge, apart from the text (by its size, or by a gap of more than a line), and
 * comes again at the same height on other pages: in the same words, numbers apart, on at least three pages (two of a
 * document of two or three), or with a page number at its end that counts along with the pages, whatever chapter it names.
 */
export function withoutFurniture(pages: readonly (readonly Line[])[]): Line[][] {
  const kept = pages.map((lines) => [...lines])
  for (const edge of ['top', 'bottom'] as const) {
    for (let depth = 0; depth < DEPTH; depth++) {
      const going = repeated(kept, edge)
      if (going.size === 0) break
      for (const [index, lines] of kept.entries()) kept[index] = lines.filter((line) => !going.has(line))
    }
  }
  return kept
}

function repeated(pages: readonly Line[][], edge: 'top' | 'bottom'): Set<Line> {
  const needed = pages.length >= 4 ? 3 : 2
  const groups = new Map<string, { line: Line; page: number }[]>()
  const numbered = new Map<number, { line: Line; page: number }[]>()
  for (const [page, lines] of pages.entries()) {
    for (const line of outermost(lines, edge)) {
      add(groups, shapeOf(line.text), { line, page })
      const number = numberAtEnd(line.text)
      if (number !== undefined) add(numbered, number - page, { line, page })
    }
  }
  const going = new Set<Line>()
  for (const [shape, group] of groups) {
    if (group.length < needed) continue
    const isNumber =
      shape === '#' || /^(page |seite |p\. ?|- |– |\| )?#( -| –| \|| of #| von #| \/ #|\/#)?$/u.test(shape)
    for (const { line, page } of group) {
      const alike = group.filter(
        (other) => other.page !== page && Math.abs(other.line.base - line.base) < SAME_HEIGHT,
      )
      const pagesAlike = new Set(alike.map((other) => other.page))
      if (pagesAlike.size + 1 < needed) continue
      if (isNumber ? countsAlong(line, page, alike) : true) going.add(line)
    }
  }
  for (const group of numbered.values()) {
    for (const { line } of group) {
      const alike = group.filter((other) => Math.abs(other.line.base - line.base) < SAME_HEIGHT)
      if (alike.length >= Math.max(needed, 3)) going.add(line)
    }
  }
  return going
}

function add<K, V>(groups: Map<K, V[]>, key: K, value: V): void {
  const group = groups.get(key)
  if (group) group.push(value)
  else groups.set(key, [value])
}

/** The page number with which a running head begins or ends. */
function numberAtEnd(text: string): number | undefined {
  const found = /^(\d{1,4})(?=\s|$)|(?<=^|\s)(\d{1,4})$/u.exec(text)
  return found ? Number(found[1] ?? found[2]) : undefined
}

/** True when another page's number differs as the pages do. */
function countsAlong(line: Line, page: number, others: readonly { line: Line; page: number }[]): boolean {
  const number = numberIn(line.text)
  if (number === undefined) return false
  return others.some((other) => {
    const its = numberIn(other.line.text)
    return its !== undefined && its - number === other.page - page
  })
}

/** The line, or the lines side by side, next to the edge, when they stand apart from the text. */
function outermost(lines: readonly Line[], edge: 'top' | 'bottom'): Line[] {
  const sign = edge === 'top' ? 1 : -1
  const sorted = lines.toSorted((a, b) => sign * (a.base - b.base))
  const first = sorted[0]
  if (!first) return []
  const same = sorted.filter((line) => Math.abs(line.base - first.base) < 0.5 * first.size)
  const next = sorted[same.length]
  if (!next) return same
  const gap = Math.abs(next.base - first.base)
  const second = sorted.find((line) => sign * (line.base - next.base) > 0.5 * next.size)
  const usualGap = second ? Math.abs(second.base - next.base) : 1.2 * next.size
  const apart =
    gap > 1.25 * usualGap || gap > 2 * next.size || Math.abs(first.size - next.size) > 0.05 * next.size
  return same.filter((line) => apart || /^\P{L}*\d+\P{L}*$/u.test(line.text) || isRoman(line.text))
}

/** A line's words with every number as `#`. */
function shapeOf(text: string): string {
  if (isRoman(text)) return '#'
  return text.toLowerCase().replaceAll(/\d+/gu, '#').replaceAll(/\s+/gu, ' ').trim()
}

function isRoman(text: string): boolean {
  return /^[ivxlc]{1,8}$/iu.test(text.trim())
}

function numberIn(text: string): number | undefined {
  const digits = /\d+/u.exec(text)
  if (digits) return Number(digits[0])
  return isRoman(text) ? romanValue(text.trim().toLowerCase()) : undefined
}

function romanValue(text: string): number {
  const values: Record<string, number> = { i: 1, v: 5, x: 10, l: 50, c: 100 }
  let sum = 0
  for (let i = 0; i < text.length; i++) {
    const value = values[text[i] ?? ''] ?? 0
    sum += value < (values[text[i + 1] ?? ''] ?? 0) ? -value : value
  }
  return sum
}
