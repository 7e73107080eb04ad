import type { Db } from './schema.ts'

export interface VectorRow {
  passageId: number
  model: string
  /** Sign bits. */
  code: Uint8Array
  /** One byte a dimension, with its scale. */
  quantised: Uint8Array
}

export interface CodeRow {
  seq: number
  passageId: number
  model: string
  code: Uint8Array
}

/** The vectors of a library's passages, at most one each. They go with their passage. */
export interface Vectors {
  /** Writes vectors, each in the place of the passage's former one; passages that are gone by now are left out. */
  put(db: Db, rows: readonly VectorRow[]): Promise<void>
  /** Codes that were written after number `seq`, in that order. */
  codesSince(db: Db, seq: number, limit: number): Promise<CodeRow[]>
  /** The number of the last code written, 0 where there is none. */
  lastSeq(db: Db): Promise<number>
  /** Passages whose vector is of another model than this, from the oldest on. */
  ofOtherModels(db: Db, model: string, limit: number): Promise<number[]>
}
