import { readLocator } from './place-in-source.ts'

/** Where a highlight stands, as its locator keeps it. */
interface Locator {
  page?: string
  location?: string
  percent?: number
  cfi?: string
  label?: string
  seconds?: number
}

const PAGE = /^(?:page|pages|pp?\.?|pg\.?)\s*(\d+(?:\s*[-–]\s*\d+)?|[ivxlcdm]+)$/i
const LOCATION = /^(?:kindle\s+)?(?:location|loc\.?)\s*(\d+(?:\s*[-–]\s*\d+)?)$/i
const PERCENT = /^(\d{1,3}(?:\.\d+)?)\s*%$/
const CFI = /^epubcfi\(.+\)$/i

/**
 * The locator (JSON) of a place as somebody writes it: `page 12`, `p. xii`, `location 145-146`, `45 %`, an EPUB CFI, or words of
 * their own; with the seconds of a recording. Null where nothing is said.
 */
export function writtenPlace(location: string | undefined, seconds: number | undefined): string | null {
  const locator: Locator = {
    ...(location !== undefined && location.trim() !== '' && readPlace(location.trim())),
    ...(seconds !== undefined && { seconds }),
  }
  return Object.keys(locator).length > 0 ? JSON.stringify(locator) : null
}

/** A locator with its place or its moment exchanged; undefined leaves either as it is, null takes it away. */
export function changedPlace(
  locator: string | null,
  { location, seconds }: { location?: string | null | undefined; seconds?: number | null | undefined },
): string | null {
  if (location === undefined && seconds === undefined) return locator
  const { seconds: known, ...places } = readLocator(locator)
  const changed: Record<string, unknown> = {
    ...(location === undefined ? places : location?.trim() ? readPlace(location.trim()) : {}),
    ...(seconds === undefined ? { seconds: known } : seconds === null ? {} : { seconds }),
  }
  const told = Object.entries(changed).filter(([, value]) => value !== undefined)
  return told.length > 0 ? JSON.stringify(Object.fromEntries(told)) : null
}

function readPlace(written: string): Locator {
  const page = PAGE.exec(written)?.[1]
  if (page !== undefined) return { page: asRange(page) }
  const location = LOCATION.exec(written)?.[1]
  if (location !== undefined) return { location: asRange(location) }
  const percent = Number(PERCENT.exec(written)?.[1] ?? Number.NaN)
  if (percent <= 100) return { percent }
  return CFI.test(written) ? { cfi: written } : { label: written }
}

const asRange = (numbers: string): string => numbers.replaceAll(/\s+/g, '').replace('–', '-')
