import { rangeOf, type MarkPlace } from './mark-place.ts'

/** How many of each are filed together: a location is a line or two. */
const STRETCH = { location: 64, page: 1 }
/** A range over more stretches is looked at whatever is asked for. */
const MOST_STRETCHES = 16

/** Rows by the pages and locations that they cover, so that those near a place are found without looking at all. */
export class PlaceIndex<T> {
  readonly #byStretch = new Map<string, Set<T>>()
  readonly #wide = new Set<T>()

  add(row: T, place: MarkPlace): void {
    for (const stretches of stretchesOf(place)) {
      if (!stretches) this.#wide.add(row)
      for (const stretch of stretches ?? []) {
        const filed = this.#byStretch.get(stretch)
        if (filed) filed.add(row)
        else this.#byStretch.set(stretch, new Set([row]))
      }
    }
  }

  /** All rows whose page or location touches that of a place, and some more. Undefined where the place covers too much to say. */
  near(place: MarkPlace): Set<T> | undefined {
    const found = new Set(this.#wide)
    for (const stretches of stretchesOf(place)) {
      if (!stretches) return undefined
      for (const stretch of stretches) for (const row of this.#byStretch.get(stretch) ?? []) found.add(row)
    }
    return found
  }
}

/** Of each measure that the place has its stretches; undefined where those are too many. */
function* stretchesOf({ location, page }: MarkPlace): Generator<string[] | undefined> {
  for (const [measure, told] of [
    ['location', location],
    ['page', page],
  ] as const) {
    if (told === undefined || told === '') continue
    const range = rangeOf(told)
    if (!range) {
      yield [`${measure} ${told.trim().toLowerCase()}`]
      continue
    }
    const first = Math.floor(range.start / STRETCH[measure])
    const last = Math.floor(range.end / STRETCH[measure])
    yield last - first >= MOST_STRETCHES
      ? undefined
      : Array.from({ length: last - first + 1 }, (_, index) => `${measure} ${first + index}`)
  }
}
