import { engineOf } from '../../db/engine.ts'
import type { FullText } from '../../db/full-text.ts'
import type { Db } from '../../db/schema.ts'
import type { Vectors } from '../../db/vectors.ts'

/** The word index of the database that a library is kept in. */
export const fullText = (db: Db): FullText => engineOf(db).fullText

/** The vectors of a library's passages, as its database keeps and searches them. */
export const vectors = (db: Db): Vectors => engineOf(db).vectors
