import type { FullText } from '../../db/full-text.ts'
import { sqliteFullText } from '../../db/sqlite/full-text.ts'
import { sqliteVectors } from '../../db/sqlite/vectors.ts'
import type { Vectors } from '../../db/vectors.ts'

/** The word index and the vectors of the database that the program runs on. */
export const fullText: FullText = sqliteFullText
export const vectors: Vectors = sqliteVectors
