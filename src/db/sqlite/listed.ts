import { sql, type RawBuilder } from 'kysely'
import type { Lists } from '../engine.ts'

export const sqliteLists: Lists = {
  bind: (list) => JSON.stringify(list),
  rows: (parameter) => sql`(select value from json_each(${parameter}))`,
}

export const listed = (ids: readonly number[]): RawBuilder<number> =>
  sqliteLists.rows(sqliteLists.bind(ids), 'bigint')
