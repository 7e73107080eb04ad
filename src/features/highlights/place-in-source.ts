/** Where a highlight stands in its source, as a list says it. */
export interface PlaceInSource {
  /** `page 12`, `location 1234`, `45 %`, or the label that came with it. */
  location: string | null
  /** Of audio and video. */
  seconds: number | null
}

/** The place that a locator says, which is JSON: `page`, `location`, `cfi`, `seconds`, `percent` or `label`. */
export function placeInSource(locator: string | null): PlaceInSource {
  const { seconds, ...places } = readLocator(locator)
  return { location: locationOf(places), seconds: isNumber(seconds) && seconds >= 0 ? seconds : null }
}

function locationOf({ label, page, location, percent, cfi }: Record<string, unknown>): string | null {
  if (isTold(label)) return String(label)
  if (isTold(page)) return `page ${page}`
  if (isTold(location)) return `location ${location}`
  if (isTold(percent)) return `${percent} %`
  return isTold(cfi) ? String(cfi) : null
}

const isNumber = (value: unknown): value is number => typeof value === 'number' && Number.isFinite(value)

const isTold = (value: unknown): value is string | number =>
  isNumber(value) || (typeof value === 'string' && value.trim() !== '')

/** A locator that cannot be read says nothing. */
export function readLocator(locator: string | null): Record<string, unknown> {
  if (locator === null) return {}
  try {
    const value: unknown = JSON.parse(locator)
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : {}
  } catch {
    return {}
  }
}
