import type { Engine } from '../engine.ts'
import { sqliteFullText } from './full-text.ts'
import { sqliteLists } from './listed.ts'
import { sqliteVectors } from './vectors.ts'

export const sqliteEngine: Engine = {
  fullText: sqliteFullText,
  vectors: sqliteVectors,
  locksRows: false,
  lists: sqliteLists,
}
