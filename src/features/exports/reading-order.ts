interface Placed {
  id: number
  start_offset: number | null
  locator: string | null
  created_at: string
}

/** The names of a locator by which something can be put in order, and which of them says most. */
const TELLING = ['seconds', 'location', 'page', 'percent'] as const

/**
 * Highlights of one source in the order in which they are read: as they stand in its text, then by the place that came with
 * them (seconds, location, page, percent), then as they were made.
 */
export function inReadingOrder<T extends Placed>(highlights: readonly T[]): T[] {
  return highlights
    .map((highlight) => ({ highlight, key: keyOf(highlight) }))
    .toSorted(
      (a, b) =>
        a.key[0] - b.key[0] ||
        a.key[1] - b.key[1] ||
        compare(a.highlight.created_at, b.highlight.created_at) ||
        a.highlight.id - b.highlight.id,
    )
    .map(({ highlight }) => highlight)
}

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)

function keyOf({ start_offset, locator }: Placed): [kind: number, place: number] {
  if (start_offset !== null) return [0, start_offset]
  const told = locator === null ? undefined : parsed(locator)
  for (const [n, name] of TELLING.entries()) {
    const place = numberIn(told?.get(name))
    if (place !== undefined) return [n + 1, place]
  }
  return [TELLING.length + 1, 0]
}

function parsed(locator: string): Map<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(locator)
    return typeof value === 'object' && value !== null ? new Map(Object.entries(value)) : undefined
  } catch {
    return undefined
  }
}

/** The number that a place begins with; roman ones stand before the first page. */
function numberIn(place: unknown): number | undefined {
  if (typeof place === 'number') return place
  if (typeof place !== 'string') return undefined
  const digits = /^\d+(?:\.\d+)?/.exec(place.trim())
  if (digits) return Number(digits[0])
  const roman = /^[ivxlc]+$/i.test(place.trim()) ? romanNumber(place.trim().toLowerCase()) : undefined
  return roman === undefined ? undefined : roman - 1_000
}

const ROMAN: Readonly<Record<string, number>> = { i: 1, v: 5, x: 10, l: 50, c: 100 }

function romanNumber(text: string): number {
  let sum = 0
  for (let at = 0; at < text.length; at++) {
    const value = ROMAN[text[at]!] ?? 0
    sum += value < (ROMAN[text[at + 1]!] ?? 0) ? -value : value
  }
  return sum
}
