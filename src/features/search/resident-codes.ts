import { setImmediate as breathe } from 'node:timers/promises'
import type { Kysely } from 'kysely'
import type { Schema } from '../../db/schema.ts'
import { CodeIndex } from './hamming-scan.ts'
import { vectors } from './indexes.ts'
import { codeLength } from './quantise.ts'

/** Codes read in one go while they are loaded: some milliseconds. */
const CHUNK = 10_000

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
      const {
        last: read,
        passageIds,
        codes,
        others,
      } = await vectors.codesSince(db, this.model, this.#seq, CHUNK)
      if (codes.length === passageIds.length * this.#words * 4) this.index.addMany(passageIds, codes)
      for (const id of others) this.index.remove(id)
      this.#seq = Math.max(read, this.#seq + 1)
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
