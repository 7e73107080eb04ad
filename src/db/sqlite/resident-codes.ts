import { setImmediate as breathe } from 'node:timers/promises'
import { sql, type Kysely } from 'kysely'
import type { Db, Schema } from '../schema.ts'
import { codeLength, type Codes } from '../vectors.ts'
import { CodeIndex } from './hamming-scan.ts'

/** Codes read in one go while they are loaded: some milliseconds. */
const CHUNK = 10_000

/** The codes of one model that this process holds in memory, and how far it has read what the library holds. */
class ResidentCodes implements Codes {
  readonly model: string
  readonly #words: number
  #index: CodeIndex
  #seq = 0
  #loading: Promise<void> | undefined

  constructor(model: string, dimensions: number) {
    this.model = model
    this.#words = codeLength(dimensions) / 4
    this.#index = new CodeIndex(this.#words)
  }

  get empty(): boolean {
    return this.#index.size === 0
  }

  async nearest(code: Uint8Array, limit: number, among?: ReadonlySet<number>): Promise<number[]> {
    const hits = among ? this.#index.searchAmong(code, among, limit) : this.#index.search(code, limit)
    return hits.map(({ id }) => id)
  }

  forget(ids: readonly number[]): void {
    for (const id of ids) this.#index.remove(id)
  }

  /** Reads what was written since it last looked, by whatever process. */
  catchUp(db: Kysely<Schema>): Promise<void> {
    return (this.#loading ??= this.#load(db).finally(() => (this.#loading = undefined)))
  }

  async #load(db: Kysely<Schema>): Promise<void> {
    const last = await lastSeq(db)
    if (last < this.#seq) {
      // Numbers only fall when the library was put back to an earlier state.
      this.#index = new CodeIndex(this.#words)
      this.#seq = 0
    }
    while (this.#seq < last) {
      const { last: read, passageIds, codes, others } = await codesSince(db, this.model, this.#seq)
      if (codes.length === passageIds.length * this.#words * 4) this.#index.addMany(passageIds, codes)
      for (const id of others) this.#index.remove(id)
      this.#seq = Math.max(read, this.#seq + 1)
      await breathe()
    }
  }
}

const resident = new WeakMap<object, ResidentCodes>()

/** The codes of a library for one model, up to date. They are loaded on first use and then kept with the open library. */
export async function residentCodes(
  db: Kysely<Schema>,
  { id, dimensions }: { id: string; dimensions: number },
): Promise<Codes> {
  const { adapter } = db.getExecutor()
  let codes = resident.get(adapter)
  if (!codes || codes.model !== id) resident.set(adapter, (codes = new ResidentCodes(id, dimensions)))
  await codes.catchUp(db)
  return codes
}

/** Codes that were read in one go. */
interface CodeBatch {
  /** Number of the last one. */
  last: number
  passageIds: number[]
  /** The codes of these passages, one after the other. */
  codes: Uint8Array
  /** Passages whose code is of another model. */
  others: number[]
}

/** Codes of a model that were written after number `seq`. */
async function codesSince(db: Db, model: string, seq: number): Promise<CodeBatch> {
  // One row for all: a row and a buffer for each code take four times as long.
  const { rows } = await sql<{ last: number | null; ids: string; codes: string | null; others: string }>`
    select max(seq) as last,
      json_group_array(passage_id) filter (where model = ${model} and length(code) > 0) as ids,
      group_concat(hex(code), '') filter (where model = ${model}) as codes,
      json_group_array(passage_id) filter (where model <> ${model}) as others
    from (select * from code where seq > ${seq} order by seq limit ${CHUNK})`.execute(db)
  const { last, ids, codes, others } = rows[0]!
  return {
    last: last ?? seq,
    passageIds: JSON.parse(ids) as number[],
    codes: Buffer.from(codes ?? '', 'hex'),
    others: JSON.parse(others) as number[],
  }
}

/** The number of the last code written, 0 where there is none. */
async function lastSeq(db: Db): Promise<number> {
  const row = await db
    .selectFrom('code')
    .select((of) => of.fn.max('seq').as('last'))
    .executeTakeFirst()
  return row?.last ?? 0
}
