import { findItem, type Source } from '../features/sources/source-store.ts'
import type { Db } from '../db/schema.ts'
import type { Span } from './measure.ts'
import { oneLine, STYLE } from './print.ts'

/** The items behind ids as they were typed; all must be there. Throws `item_not_found`. */
export async function findItems(db: Db, ids: readonly string[]): Promise<Source[]> {
  const items: Source[] = []
  for (const id of ids) items.push(await findItem(db, id))
  return items
}

/** An item in a sentence: its title and id. */
export const named = (item: Pick<Source, 'id' | 'title'>): Span[] => [
  { text: oneLine(item.title), style: STYLE.title },
  { text: ` (${item.id})`, style: STYLE.dim },
]

/** An item for a program that reads the output of a command. */
export const itemJson = (item: Pick<Source, 'id' | 'title' | 'url' | 'kind'>) => ({
  id: String(item.id),
  title: item.title,
  url: item.url,
  kind: item.kind,
})
