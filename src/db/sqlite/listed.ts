import { sql, type RawBuilder } from 'kysely'

/** See `Engine.listed`. */
export const listed = (ids: readonly number[]): RawBuilder<number> =>
  sql<number>`(select value from json_each(${JSON.stringify(ids)}))`
