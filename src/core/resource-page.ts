import { z } from 'zod'
import type { Library } from './library.ts'
import { openCursor, sealCursor } from './paging.ts'
import { ROOM, takeFitting } from './room.ts'

const MOST = 50

/** What may stand behind the question mark in the address of a list. */
export const pageInput = z.strictObject({
  limit: z.int().min(1).max(MOST).optional(),
  cursor: z.string().optional(),
})

/** How a list goes on: the address of what follows, null at the end. */
export const pageEnd = z.object({
  next: z.string().nullable(),
  meta: z.object({ next_cursor: z.string().nullable() }),
})

interface Row {
  id: number
}

export interface Paging<R extends Row, D extends Row, P> {
  /** The address without a question mark. */
  uri: string
  /** Whatever else decides what the list holds, such as what the caller may see. */
  filter?: string
  limit?: number | undefined
  cursor?: string | undefined
  place: z.ZodType<P>
  placeOf(row: NoInfer<R>): P
  /** Rows after a place, at most so many, in the order of the list. */
  list(after: P | undefined, limit: number): Promise<R[]>
  /** Leaves out what has gone meanwhile. */
  describe(rows: R[]): Promise<D[]>
  /** Bytes of JSON that there is room for. */
  room?: number
}

/**
 * One page of a list: as many things as were asked for, fewer where they would not fit, and never none while there are any.
 * What is there throughout appears exactly once, whatever comes and goes. Throws `invalid_input` for a cursor of another list.
 */
export async function readPage<R extends Row, D extends Row, P>(
  library: Library,
  { uri, filter = '', limit = MOST, cursor, place, placeOf, list, describe, room = ROOM }: Paging<R, D, P>,
): Promise<{ shown: D[] } & z.output<typeof pageEnd>> {
  const words = `${uri} ${filter}`
  const after = cursor === undefined ? undefined : place.parse(await openCursor(library, words, cursor))
  const rows = await list(after, limit + 1)
  const wanted = rows.slice(0, limit)
  const described = await describe(wanted)
  const shown = takeFitting(described, room)
  const last =
    shown.length < described.length ? wanted.find(({ id }) => id === shown.at(-1)?.id) : wanted.at(-1)
  const more = last !== undefined && (shown.length < described.length || rows.length > limit)
  const next_cursor = more ? await sealCursor(library, words, placeOf(last)) : null
  const asked = limit === MOST ? '' : `limit=${limit}&`
  return {
    shown,
    next: next_cursor === null ? null : `${uri}?${asked}cursor=${next_cursor}`,
    meta: { next_cursor },
  }
}

/** A place in a list that goes by the instant at which things were made. */
export const listPlace = z.object({ at: z.string(), id: z.number() })

export const listPlaceOf = ({ created_at, id }: { created_at: string; id: number }) => ({
  at: created_at,
  id,
})
