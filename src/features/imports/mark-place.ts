import { hash } from 'node:crypto'
import { foldText } from '../highlights/fold.ts'
import type { ImportedHighlight, ImportedLocator } from './imported.ts'

/** Where a mark stands as far as a file or the library knows, for telling equal words at two places apart. */
export interface MarkPlace extends ImportedLocator {
  /** What stands around it, where there is no other way to tell. */
  before?: string
  after?: string
  /** Of a note: the highlight that it is on. */
  on?: number
}

/** What makes two quotes or notes the same words. */
export const wordsOf = (text: string): string =>
  isPlain(text)
    ? text.toLowerCase().replaceAll(/\s+/g, ' ').trim()
    : foldText(text).text.trim() || text.trim()

/** Most texts have only signs that fold to themselves: no dashes and nothing beyond ASCII. */
const isPlain = (text: string): boolean => /^[\w .,;:!?'"()\n]*$/.test(text)

/** A digest of what was put together, short enough to be kept for every mark. */
export const keyOf = (...parts: readonly (string | number | null)[]): string =>
  hash('sha256', parts.join('\u001f'), 'base64url').slice(0, 24)

const CONTEXT = 32

/** Null where nothing is known. */
export function placeOf({
  locator,
  prefix,
  suffix,
}: Pick<ImportedHighlight, 'locator' | 'prefix' | 'suffix'>): MarkPlace | null {
  const place: MarkPlace = { ...locator }
  if (!tellsPlace(locator)) {
    const before = prefix === null ? '' : wordsOf(prefix.slice(-CONTEXT))
    const after = suffix === null ? '' : wordsOf(suffix.slice(0, CONTEXT))
    if (before !== '') place.before = before
    if (after !== '') place.after = after
  }
  return Object.keys(place).length > 0 ? place : null
}

const tellsPlace = (locator: ImportedLocator | null): boolean =>
  locator !== null && Object.keys(locator).some((key) => key !== 'chapter' && key !== 'label')

/** A place that was kept as JSON; one that cannot be read says nothing. */
export function readPlace(json: string | null): MarkPlace | null {
  if (json === null) return null
  try {
    const value: unknown = JSON.parse(json)
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as MarkPlace) : null
  } catch {
    return null
  }
}

/**
 * Whether two places are one, by the narrowest measure that both have: ranges that touch, seconds and percents that are next to
 * one another. Undefined where they have none in common.
 */
export function isSamePlace(one: MarkPlace | null, other: MarkPlace | null): boolean | undefined {
  if (!one || !other) return undefined
  const { cfi, location, seconds, page, percent } = one
  if (isTold(location) && isTold(other.location)) return touch(String(location), String(other.location))
  if (isTold(seconds) && isTold(other.seconds)) return Math.abs(Number(seconds) - Number(other.seconds)) <= 1
  if (isTold(cfi) && isTold(other.cfi)) return cfi === other.cfi
  if (isTold(page) && isTold(other.page)) return touch(String(page), String(other.page))
  if (isTold(percent) && isTold(other.percent))
    return Math.abs(Number(percent) - Number(other.percent)) < 0.05
  for (const side of ['chapter', 'label', 'before', 'after'] as const)
    if (isTold(one[side]) && isTold(other[side]))
      return wordsOf(String(one[side])) === wordsOf(String(other[side]))
  return undefined
}

const isTold = (value: unknown): boolean => value !== undefined && value !== null && value !== ''

function touch(one: string, other: string): boolean {
  const [a, b] = [rangeOf(one), rangeOf(other)]
  if (!a || !b) return one.trim().toLowerCase() === other.trim().toLowerCase()
  return a.start <= b.end && b.start <= a.end
}

export interface PlaceRange {
  start: number
  end: number
}

/** `12`, `12-15`, `1234-36` (which is 1234 to 1236). */
export function rangeOf(place: string): PlaceRange | undefined {
  const [, first, last] = /^\s*(\d{1,9})(?:\s*[-–]\s*(\d{1,9}))?\s*$/.exec(place) ?? []
  if (first === undefined) return undefined
  const start = Number(first)
  if (last === undefined) return { start, end: start }
  const end =
    last.length < first.length ? Number(first.slice(0, first.length - last.length) + last) : Number(last)
  return { start, end: Math.max(start, end) }
}
