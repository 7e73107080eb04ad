import { codePointLength, indexOfCodePoint } from '../../core/text.ts'

/** Where a part of a text begins that its source has a name for: a page, a chapter, a moment. */
export interface Place {
  /** Code point of the text's `plain` at which it begins. */
  start: number
  /** Code point of the text's Markdown at which it begins, where that is known. */
  at?: number
  /** Page of a document, from 1, and the number that is printed on it. */
  page?: number
  label?: string
  /** Title of the chapter that begins here. */
  title?: string
  /** Of audio and video: what is said here is heard so long after the beginning. */
  seconds?: number
}

/**
 * The places of a text as its row keeps them, in order. Those of a transcript end with one that stands behind its last word
 * and says how long the whole is. What cannot be read is left out.
 */
export function readPlaces(places: string | null): Place[] {
  if (places === null) return []
  let stored: unknown
  try {
    stored = JSON.parse(places)
  } catch {
    return []
  }
  if (!Array.isArray(stored)) return []
  return stored.flatMap((value: unknown) => placeOf(value) ?? []).toSorted((a, b) => a.start - b.start)
}

function placeOf(value: unknown): Place | undefined {
  if (typeof value !== 'object' || value === null) return undefined
  const { start, at, page, label, title, seconds }: Partial<Record<keyof Place, unknown>> = value
  if (!isCount(start)) return undefined
  return {
    start,
    ...(isCount(at) && { at }),
    ...(isCount(page) && { page }),
    ...(isText(label) && { label }),
    ...(isText(title) && { title }),
    ...(isCount(seconds) && { seconds }),
  }
}

const isCount = (value: unknown): value is number =>
  typeof value === 'number' && Number.isFinite(value) && value >= 0
const isText = (value: unknown): value is string => typeof value === 'string' && value.trim() !== ''

/**
 * The locator (JSON, as highlights keep it) of what stands at code point `offset` of `plain`: the page by its printed number,
 * the seconds, the chapter; null where the text has no places before it.
 */
export function placeAt(places: readonly Place[], offset: number): string | null {
  const standing = lastUpTo(places, offset)
  if (standing < 0) return null
  const { page, label, seconds } = places[standing] ?? {}
  let title: string | undefined
  for (let index = standing; index >= 0 && title === undefined; index--) title = places[index]?.title
  const locator = {
    ...(page !== undefined && { page: label ?? page }),
    ...(seconds !== undefined && { seconds }),
    ...(title !== undefined && { label: title }),
  }
  return Object.keys(locator).length > 0 ? JSON.stringify(locator) : null
}

/** Index of the last place that begins at or before `offset`; -1 where there is none. */
function lastUpTo(places: readonly Place[], offset: number): number {
  let low = 0
  let high = places.length
  while (low < high) {
    const middle = (low + high) >> 1
    if ((places[middle]?.start ?? 0) <= offset) low = middle + 1
    else high = middle
  }
  return low - 1
}

/** How many seconds of a recording its text takes up to code point `end`, or all of it; 0 for what is no recording. */
export function secondsOf(places: readonly Place[], end = Infinity): number {
  let seconds = 0
  for (const place of places) {
    if (place.start > end) break
    if (place.seconds !== undefined && place.seconds > seconds) seconds = place.seconds
  }
  return seconds
}

/** A place within a stretch of Markdown, by name. */
export interface NamedPlace {
  /** Code point of the text's Markdown, from its beginning. */
  offset: number
  /** `page 12`, the title of a chapter, `1:02:03`, or the last two together. */
  name: string
  seconds?: number
}

/**
 * The pages, chapters and moments of a stretch of Markdown: the one in which it begins, then those that begin in it. Of moments
 * only those at which a paragraph begins; of more than `most` some, evenly.
 */
export function placesWithin(
  places: readonly Place[],
  { markdown, offset }: { markdown: string; offset: number },
  most = 40,
): NamedPlace[] {
  const end = offset + codePointLength(markdown)
  const known = places.filter((place): place is Place & { at: number } => place.at !== undefined)
  const before = known.filter(({ at }) => at <= offset).at(-1)
  const inside = known.filter(({ at }) => at > offset && at < end)
  let [index, point] = [0, offset]
  const shown = inside.filter((place) => {
    index = indexOfCodePoint(markdown, place.at - point, index)
    point = place.at
    return place.seconds === undefined || place.title !== undefined || markdown[index - 1] === '\n'
  })
  const all = before && markdown !== '' ? [{ ...before, at: offset }, ...shown] : shown
  const step = Math.max(1, all.length / most)
  return Array.from({ length: Math.min(most, all.length) }, (_, n) => all[Math.floor(n * step)]).flatMap(
    (place) => {
      const name = place && nameOf(place)
      return name === undefined || place === undefined
        ? []
        : [{ offset: place.at, name, ...(place.seconds !== undefined && { seconds: place.seconds }) }]
    },
  )
}

/** The page, chapter or moment at code point `offset` of `plain`, by name. */
export function placeNameAt(
  places: readonly Place[],
  offset: number,
): { name: string; seconds?: number } | undefined {
  const place = places[lastUpTo(places, offset)]
  const name = place && nameOf(place)
  if (name === undefined) return undefined
  return { name, ...(place?.seconds !== undefined && { seconds: place.seconds }) }
}

function nameOf({ page, label, title, seconds }: Place): string | undefined {
  if (page !== undefined) return `page ${label ?? page}`
  if (seconds === undefined) return title
  return title === undefined ? clockOf(seconds) : `${clockOf(seconds)} ${title}`
}

/** `1:02:03`, or `2:03` within the first hour. */
export function clockOf(seconds: number): string {
  const whole = Math.floor(seconds)
  const [hours, minutes, rest] = [Math.floor(whole / 3600), Math.floor((whole % 3600) / 60), whole % 60]
  const two = (value: number) => String(value).padStart(2, '0')
  return hours > 0 ? `${hours}:${two(minutes)}:${two(rest)}` : `${minutes}:${two(rest)}`
}
