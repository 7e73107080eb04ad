import type { Db } from './schema.ts'

export interface VectorRow {
  passageId: number
  model: string
  /** Sign bits; empty where the model can make nothing of the passage. */
  code: Uint8Array
  /** One byte a dimension, with its scale; empty with the code. */
  quantised: Uint8Array
}

/** Codes that were read in one go. */
export interface CodeBatch {
  /** Number of the last one. */
  last: number
  passageIds: number[]
  /** The codes of these passages, one after the other. */
  codes: Uint8Array
  /** Passages whose code is of another model. */
  others: number[]
}

/** The vectors of a library's passages, at most one each. They go with their passage. */
export interface Vectors {
  /** Writes vectors, each in the place of the passage's former one; passages that are gone by now are left out. */
  put(db: Db, rows: readonly VectorRow[]): Promise<void>
  /** Codes of a model that were written after number `seq`, among the first so many codes of all. */
  codesSince(db: Db, model: string, seq: number, limit: number): Promise<CodeBatch>
  /** The number of the last code written, 0 where there is none. */
  lastSeq(db: Db): Promise<number>
  /** Passages whose vector is of another model than this, from the oldest on. */
  ofOtherModels(db: Db, model: string, limit: number): Promise<number[]>
}
