import { sql } from 'kysely'
import type { Engine } from '../engine.ts'
import { postgresFullText } from './full-text.ts'
import { postgresVectors } from './vectors.ts'

/** Of the library of this number. */
export const postgresEngine = (library: number): Engine => ({
  fullText: postgresFullText(library),
  vectors: postgresVectors,
  locksRows: true,
  lists: {
    bind: (list) => list,
    rows: (parameter, of) => sql`(select unnest(${parameter}::${sql.raw(of)}[]))`,
  },
})
