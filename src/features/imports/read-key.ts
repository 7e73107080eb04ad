import { keyOf } from './mark-place.ts'

/** A digest of what a file says of one reading. */
export const readKey = (read: {
  status: string
  started_on: string | null
  finished_on: string | null
  rating: number | null
  review: string | null
}): string => keyOf(read.status, read.started_on, read.finished_on, read.rating, read.review)
