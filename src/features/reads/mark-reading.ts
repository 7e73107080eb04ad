import { dayOf } from '../../core/days.ts'
import { Failure } from '../../core/failure.ts'
import type { Change } from '../../core/library.ts'
import { readSettings } from '../../core/settings.ts'
import type { Row } from '../../db/changes.ts'
import type { Source } from '../sources/source-store.ts'
import { currentRead } from './read-store.ts'

export type Mark = 'unread' | 'want' | 'reading' | 'paused' | 'read' | 'dropped'

const STATUS = {
  want: 'want_to_read',
  reading: 'reading',
  paused: 'paused',
  read: 'finished',
  dropped: 'did_not_finish',
} as const

/**
 * Sets where a reader stands with a source, today in the reader's zone. Starting again what was finished opens a new read and
 * keeps the old one; `unread` takes the latest read back unless something was written about it.
 */
export async function markReading(
  change: Change,
  source: Pick<Source, 'id'>,
  mark: Mark,
): Promise<Row<'read'> | undefined> {
  const latest = await currentRead(change.db, source.id)
  if (mark === 'unread') return takeBack(change, latest)
  const status = STATUS[mark]
  const today = dayOf(new Date(change.at), await readSettings(change.db))
  const over = latest?.status === 'finished' || latest?.status === 'did_not_finish'
  if (!latest || (over && status !== latest.status)) {
    const id = await change.insert('read', {
      source_id: source.id,
      status,
      started_on: status === 'reading' ? today : null,
      finished_on: status === 'finished' ? today : null,
      created_at: change.at,
      updated_at: change.at,
    })
    return change.update('read', id, {})
  }
  if (latest.status === status) return latest
  return change.update('read', latest.id, {
    status,
    until: null,
    started_on: latest.started_on ?? (status === 'reading' ? today : null),
    finished_on: status === 'finished' ? today : null,
    updated_at: change.at,
  })
}

async function takeBack(change: Change, latest: Row<'read'> | undefined): Promise<undefined> {
  if (!latest) return undefined
  if (latest.rating !== null || latest.review !== null) {
    throw new Failure('has_reading_history', 'This reading has a rating or a review, which would be lost.', {
      hint: 'Mark it as want to read or reading instead: that opens a new reading and keeps this one.',
    })
  }
  await change.update('read', latest.id, { trashed_at: change.at, updated_at: change.at })
  return undefined
}
