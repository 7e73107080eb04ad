import type { ReadTable } from '../../db/schema.ts'
import type { ImportedReading } from './imported.ts'
import type { KnownSource } from './known-source.ts'
import { readKey } from './read-key.ts'
import { datesOf, type Planning } from './planning.ts'

const OVER = new Set(['finished', 'did_not_finish'])

/**
 * Plans the reading that a file speaks of; gives whether it was new or changed. Where the reader has a reading already it stays,
 * unless it came from a file, was not touched since, and goes on.
 */
export function planRead(known: KnownSource, reading: ImportedReading, planning: Planning): boolean {
  const { plan, at } = planning
  const status = statusOf(reading)
  if (status === null) return false
  const facts = {
    status,
    started_on: reading.startedOn,
    finished_on: reading.finishedOn,
    rating: reading.rating,
    review: reading.review,
  }
  const key = readKey(facts)
  if (known.readsGiven.has(key)) return false
  const latest = known.reads.at(-1)
  // One that was thrown away does not come back.
  if ((!latest && known.readsGiven.size > 0) || latest?.state === 'trashed') return false
  if (latest && (!latest.isUntouched || (OVER.has(latest.status) && !OVER.has(status)))) return false
  known.readsGiven.add(key)
  if (latest) {
    latest.status = status
    if (latest.id < 0) Object.assign(plan.reads.find(({ id }) => id === latest.id) ?? {}, facts)
    else plan.updates.push({ table: 'read', id: latest.id, patch: { ...facts, updated_at: at } })
    plan.remembered.push({ source_id: known.source.id, kind: 'read', key, place: null, row_id: latest.id })
    return true
  }
  const id = plan.id()
  const { created_at } = datesOf(reading.startedOn ?? reading.finishedOn ?? null, planning)
  plan.reads.push({ id, source_id: known.source.id, ...facts, created_at, updated_at: at })
  known.reads.push({ id, state: 'there', isUntouched: true, status, created: created_at })
  plan.remembered.push({ source_id: known.source.id, kind: 'read', key, place: null, row_id: id })
  plan.counts.reads++
  return true
}

/** Who has rated a book or written about it has begun it, whatever the file leaves unsaid. */
function statusOf({
  status,
  startedOn,
  finishedOn,
  rating,
  review,
}: ImportedReading): ReadTable['status'] | null {
  if (status !== null) return status
  if (finishedOn !== null) return 'finished'
  return startedOn !== null || rating !== null || review !== null ? 'reading' : null
}
