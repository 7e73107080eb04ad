import { spanOfDay } from '../../core/days.ts'
import type { Library } from '../../core/library.ts'
import { readSettings } from '../../core/settings.ts'
import type { Db } from '../../db/schema.ts'
import { byLot, byUrgency, dealOut, mixSources, takeSpread, type Candidate } from './choose-day.ts'
import {
  answeredOn,
  listDue,
  listNew,
  newestReviews,
  sourcesWithHighlights,
  type DaySpan,
  type Review,
} from './review-store.ts'

export interface DailyReview {
  /** The reader's day, `YYYY-MM-DD`. */
  day: string
  /** What is left of the day's highlights, in the order in which to go over them. */
  left: { id: number; newest: Review | undefined }[]
  /** How many were answered of them. */
  answered: number
  /** How many highlights are due, whether or not they are among the day's. */
  due: number
}

/**
 * The highlights to go over on the reader's day: those that are due, the longest overdue first, then ones that were never
 * gone over. They are chosen by what the library held when the day began, so that whoever asks gets the same ones all day,
 * without those that were answered.
 */
export async function dailyReview(library: Library, most?: number): Promise<DailyReview> {
  const { db } = library
  const settings = await readSettings(db)
  const now = library.now()
  const { day, start, end } = spanOfDay(now, settings)
  const span: DaySpan = { start: start.toISOString(), end: end.toISOString() }
  const wanted = most ?? settings.reviewsPerDay
  const [due, answered] = [await listDue(db, span), await answeredOn(db, span)]
  const urgent = mixSources(takeSpread(byUrgency(due, span.end), wanted))
  const fresh = await chooseNew(db, span, day, wanted - urgent.length)
  const chosen = [...urgent, ...mixSources(fresh, urgent.at(-1)?.sourceId)]
  const newest = await newestReviews(
    db,
    chosen.map(({ id }) => id),
  )
  // Answered elsewhere with a date that has come already, it is due again.
  const isDone = (id: number) => answered.has(id) && (newest.get(id)?.due_at ?? '') > now.toISOString()
  const left = chosen.filter(({ id }) => !isDone(id))
  return {
    day,
    left: left.map(({ id }) => ({ id, newest: newest.get(id) })),
    answered: chosen.length - left.length,
    due: due.filter(({ id }) => !answered.has(id)).length,
  }
}

/** Sources that are looked through at first; each time in vain, twice as many. */
const SOURCES = 64

/** Highlights that were never gone over, of as many sources as can be; those of the day itself after all others. */
async function chooseNew(db: Db, span: DaySpan, day: string, most: number): Promise<Candidate[]> {
  if (most <= 0) return []
  const sources = byLot(await sourcesWithHighlights(db), day, (id) => id)
  const older: Candidate[] = []
  const ofToday: Candidate[] = []
  const met = new Set<number>()
  let size = SOURCES
  for (let from = 0; from < sources.length && met.size < most;) {
    const some = sources.slice(from, from + size)
    for (const { id, source_id, created_at } of await listNew(db, some, span)) {
      if (created_at < span.start) met.add(source_id)
      const list = created_at < span.start ? older : ofToday
      list.push({ id, sourceId: source_id })
    }
    from += size
    size *= 2
  }
  const dealt = dealOut(older, day, most)
  return [...dealt, ...dealOut(ofToday, day, most - dealt.length)]
}
