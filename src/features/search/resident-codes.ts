import { setImmediate as breathe } from 'node:timers/promises'
import type { Kysely } from 'kysely'
import type { Schema } from '../../db/schema.ts'
import { CodeIndex } from './hamming-scan.ts'
import { vectors } from './indexes.ts'
import { codeLength } from './quantise.ts'

/** Rows read in one go while codes are loaded: a few milliseconds. */
const CHUNK = 4_000

/** The codes of one model that this process holds in memory, and how far it has read what the library holds. */
class ResidentCodes {
  readonly model: string
  index: CodeIndex
  readonly #words: number
  #seq = 0
  #loading: Promise<void> | undefined

  constructor(model: string, dimensions: number) {
    this.model = model
    this.#words = codeLength(dimensions) / 4
    this.index = new CodeIndex(this.#words)
  }

  /** Reads what was written since it last looked, by whatever process. */
  catchUp(db: Kysely<Schema>): Promise<void> {
    return (this.#loading ??= this.#load(db).finally(() => (this.#loading = undefined)))
  }

  async #load(db: Kysely<Schema>): Promise<void> {
    const last = await vectors.lastSeq(db)
    if (last < this.#seq) {
      // Numbers only fall when the library was put back to an earlier state.
      this.index = new CodeIndex(this.#words)
      this.#seq = 0
    }
    while (this.#seq < last) {
      const rows = await vectors.codesSince(db, this.#seq, CHUNK)
      const own = rows.filter(({ model, code }) => model === this.model && code.length === this.#words * 4)
      const codes = new Uint8Array(own.length * this.#words * 4)
      for (const [i, { code }] of own.entries()) codes.set(code, i * this.#words * 4)
      this.index.addMany(
        own.map(({ passageId }) => passageId),
        codes,
      )
      if (own.length < rows.length) {
        for (const { model, passageId } of rows) if (model !== this.model) this.index.remove(passageId)
      }
      this.#seq = rows.at(-1)?.seq ?? last
      await breathe()
    }
  }
}

const resident = new WeakMap<Kysely<Schema>, ResidentCodes>()

/** The codes of a library for one model, up to date. They are loaded on first use and then kept with the open library. */
export async function residentCodes(
  db: Kysely<Schema>,
  { id, dimensions }: { id: string; dimensions: number },
): Promise<CodeIndex> {
  let codes = resident.get(db)
  if (!codes || codes.model !== id) resident.set(db, (codes = new ResidentCodes(id, dimensions)))
  await codes.catchUp(db)
  return codes.index
}
