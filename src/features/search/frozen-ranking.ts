import { randomUUID } from 'node:crypto'
import { z } from 'zod'
import type { Library } from '../../core/library.ts'
import type { Hit } from './search.ts'

/** How long the pages of one list fit together. */
const FROZEN_MS = 15 * 60_000
/** More lists than these at a time and the oldest are made again when they are asked for. */
const MOST_FROZEN = 200

const storedShape = z.array(
  z.tuple([
    z.number(),
    z.number().nullable(),
    z.number(),
    z.enum(['words', 'meaning', 'both']),
    z.number().optional(),
  ]),
)

/**
 * Keeps a ranked list for its further pages. Answers undefined where the library cannot be written (read-only, locked by
 * another process, a full disk): the list is then made again for each page.
 */
export async function freezeRanking(
  library: Library,
  filter: string,
  hits: readonly Hit[],
): Promise<string | undefined> {
  if (library.readOnly) return undefined
  const now = library.now()
  const id = randomUUID()
  const ids = hits.map(({ sourceId, passageId, score, matched, highlightId }) => [
    sourceId,
    passageId ?? null,
    score,
    matched,
    ...(highlightId === undefined ? [] : [highlightId]),
  ])
  const expires = new Date(now.getTime() + FROZEN_MS)
  const kept = library.change(async ({ db }) => {
    await db
      .deleteFrom('ranking')
      .where((where) =>
        where.or([
          where('expires_at', '<', now.toISOString()),
          where('expires_at', '<=', (of) =>
            of
              .selectFrom('ranking')
              .select('expires_at')
              .orderBy('expires_at', 'desc')
              .limit(1)
              .offset(MOST_FROZEN),
          ),
        ]),
      )
      .execute()
    await db
      .insertInto('ranking')
      .values({ id, filter, ids: JSON.stringify(ids), expires_at: expires.toISOString() })
      .execute()
    return id
  })
  return kept.catch(() => undefined)
}

/** The list as it was frozen; undefined where its time is over. */
export async function frozenRanking(
  library: Library,
  filter: string,
  id: string,
): Promise<Hit[] | undefined> {
  const row = await library.db
    .selectFrom('ranking')
    .select('ids')
    .where('id', '=', id)
    .where('filter', '=', filter)
    .where('expires_at', '>=', library.now().toISOString())
    .executeTakeFirst()
  return (
    row &&
    storedShape.parse(JSON.parse(row.ids)).map(([sourceId, passageId, score, matched, highlightId]) => ({
      sourceId,
      ...(highlightId !== undefined && { highlightId }),
      passageId: passageId ?? undefined,
      score,
      matched,
    }))
  )
}
