import type { Db } from './schema.ts'

export interface VectorRow {
  passageId: number
  model: string
  /** Sign bits; empty where the model can make nothing of the passage. */
  code: Uint8Array
  /** One byte a dimension, with its scale; empty with the code. */
  quantised: Uint8Array
}

/** A code is filled up to a multiple of so many bytes. */
const CODE_UNIT = 16

/** Bytes of the code of a vector. */
export const codeLength = (dimensions: number): number => Math.ceil(dimensions / 8 / CODE_UNIT) * CODE_UNIT

/** The codes of one model in a library. */
export interface Codes {
  readonly empty: boolean
  /** The passages whose codes differ from `code` in the fewest bits, nearest first; of `among` alone where that is given. */
  nearest(code: Uint8Array, limit: number, among?: ReadonlySet<number>): Promise<number[]>
  /** Tells of passages that were found and are no more. */
  forget(ids: readonly number[]): void
}

/** The vectors of a library's passages, at most one each. They go with their passage. */
export interface Vectors {
  /** Writes vectors, each in the place of the passage's former one; passages that are gone by now are left out. */
  put(db: Db, rows: readonly VectorRow[]): Promise<void>
  /** The codes of a model as they stand now, ready to be searched. */
  codesOf(db: Db, model: { id: string; dimensions: number }): Promise<Codes>
  /** Passages whose vector is of another model than this. */
  ofOtherModels(db: Db, model: string, limit: number): Promise<number[]>
}
