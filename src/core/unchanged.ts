import { z } from 'zod'
import { Failure } from './failure.ts'

/** What tools take that change or delete a row which somebody else may have changed meanwhile. */
export const unchangedSince = z.iso
  .datetime({ offset: true, error: 'must be an instant such as 2026-03-01T10:00:00.000Z' })
  .describe('The updated_at that was read: a later change makes the call fail and change nothing')

/** Throws `changed_recently` where the row was changed after the instant, if one is given. */
export function checkUnchanged(row: { updated_at: string }, since: string | undefined): void {
  if (since === undefined || Date.parse(row.updated_at) <= Date.parse(since)) return
  throw new Failure('changed_recently', 'It was changed since it was read.', {
    hint: 'Nothing was done. Read it again, and pass its updated_at if the call is still right.',
    details: { updated_at: row.updated_at },
  })
}
