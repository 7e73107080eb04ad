import { z } from 'zod'
import type { Library } from '../../core/library.ts'
import { openCursor, sealCursor } from '../../core/paging.ts'
import { jsonBytes, ROOM } from '../../core/room.ts'
import { freezeRanking, frozenRanking } from './frozen-ranking.ts'
import { parseQuery, type Query } from './query.ts'
import { MOST_HITS, SEARCH_MODES, type Hit, type SearchAnswer, type SearchMode } from './search.ts'

const cursorShape = z.object({
  /** The frozen list, where there is one. */
  list: z.string().optional(),
  /** Place in it after the last result of the page before. */
  at: z.number(),
  /** How the list was searched. */
  mode: z.enum(SEARCH_MODES),
  /** Score and key of that result, for a list that has to be made again. */
  score: z.number(),
  id: z.number(),
})

/** A ranked list at the place where a page begins. */
export interface Ranking {
  hits: Hit[]
  query: Query
  /** Where this page begins. */
  from: number
  mode: SearchMode
  note?: string
  /** There may be more than were ranked. */
  truncated: boolean
  frozen?: string
}

/** Bytes of JSON that stand around the results. */
const ENVELOPE = 600

const keyOf = ({ highlightId, sourceId }: Hit): number => highlightId ?? sourceId

/** The list that a cursor belongs to as it was, or made again by `find`; without a cursor, a new one. */
export async function openRanking(
  library: Library,
  { filter, query, cursor }: { filter: string; query: string; cursor: string | undefined },
  find: () => Promise<SearchAnswer>,
): Promise<Ranking> {
  const position =
    cursor === undefined ? undefined : cursorShape.parse(await openCursor(library, filter, cursor))
  const kept = position?.list && (await frozenRanking(library, filter, position.list))
  if (kept)
    return {
      hits: kept,
      query: parseQuery(query),
      from: position.at,
      mode: position.mode,
      truncated: kept.length === MOST_HITS,
      frozen: position.list!,
    }
  const found = await find()
  const truncated = found.truncated || found.hits.length === MOST_HITS
  return { ...found, truncated, from: position ? placeAfter(found.hits, position) : 0 }
}

/** Where a list that was made again goes on: after the same result, or after its score where it is gone. */
function placeAfter(hits: readonly Hit[], { id, score }: { id: number; score: number }): number {
  const same = hits.findIndex((hit) => keyOf(hit) === id)
  if (same >= 0) return same + 1
  const lower = hits.findIndex((hit) => hit.score < score)
  return lower >= 0 ? lower : hits.length
}

/**
 * As many results as asked for, fewer where they would not fit into so many bytes of JSON, passing over what has gone since;
 * with the cursor of the page after. `describe` gives undefined for what is gone.
 */
export async function takeRankedPage<D extends object>(
  library: Library,
  filter: string,
  list: Ranking,
  limit: number,
  describe: (hits: readonly Hit[]) => Promise<(D | undefined)[]>,
): Promise<{ page: D[]; nextCursor: string | null }> {
  const { hits, from } = list
  const page: D[] = []
  let left = ROOM - ENVELOPE
  let next = from
  let full = false
  while (!full && page.length < limit && next < hits.length) {
    for (const described of await describe(hits.slice(next, next + limit - page.length))) {
      if (described) {
        left -= jsonBytes(described) + 1
        full = left < 0 && page.length > 0
        if (full) break
        page.push(described)
      }
      next++
    }
  }
  const last = hits[next - 1]
  if (next >= hits.length || !last) return { page, nextCursor: null }
  const frozen = list.frozen ?? (await freezeRanking(library, filter, hits))
  const position = { at: next, mode: list.mode, score: last.score, id: keyOf(last) }
  return {
    page,
    nextCursor: await sealCursor(library, filter, { ...position, ...(frozen && { list: frozen }) }),
  }
}
