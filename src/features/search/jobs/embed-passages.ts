import { setImmediate as breathe } from 'node:timers/promises'
import { z } from 'zod'
import { defineJob } from '../../../core/define-job.ts'
import type { Library } from '../../../core/library.ts'
import type { Db } from '../../../db/schema.ts'
import { vectors } from '../indexes.ts'
import { quantise } from '../quantise.ts'
import { isReadable } from '../readable.ts'

/** About half a second of work for the built-in model on two cores, which is also the most that a kill can lose. */
const BATCH = 64
const NOTHING = new Uint8Array()

/**
 * Gives every passage that has none a vector, then those whose vector is of another model. Each batch is committed by
 * itself, and what stands in the library says where to go on. Without an embedder there is nothing to do.
 */
export const embedPassages = defineJob({
  kind: 'embed',
  input: z.object({}),
  // A server that is killed again and again while it embeds still got further every time.
  attempts: 20,
  async run(library, _input, run) {
    const { embedder } = library.outside
    if (!embedder) return
    let done = 0
    let total = await countWaiting(library.db)
    for (;;) {
      run.signal.throwIfAborted()
      const waiting = await nextWaiting(library.db, embedder.id)
      if (waiting.length === 0) return
      const { id: model } = embedder
      const readable = waiting.filter(({ body }) => isReadable(model, body))
      const embedded = await embedder.embed(readable.map(embeddedText), { signal: run.signal })
      const read = new Map(readable.map(({ id }, i) => [id, quantise(embedded[i]!)]))
      const rows = waiting.map(({ id: passageId }) => {
        const { code = NOTHING, blob: quantised = NOTHING } = read.get(passageId) ?? {}
        return { passageId, model, code, quantised }
      })
      await library.change(async ({ db }) => {
        await vectors(db).put(db, rows)
        await db
          .updateTable('passage')
          .set({ embedded: 1 })
          .where(
            'id',
            'in',
            waiting.map(({ id }) => id),
          )
          .execute()
      })
      done += waiting.length
      if (done > total) total = done + (await countWaiting(library.db))
      await run.progress(done, total, 'Reading passages for search by meaning')
      await breathe()
    }
  },
})

/** Queues the job where something waits for it and nobody knows: after a change of model, or a job that was given up. */
export async function queueEmbedding(library: Library): Promise<void> {
  const { embedder } = library.outside
  if (!embedder || library.readOnly) return
  const queued = await library.db
    .selectFrom('job')
    .select('id')
    .where('kind', '=', embedPassages.kind)
    .where('state', 'in', ['pending', 'running'])
    .executeTakeFirst()
  if (queued) return
  if ((await nextWaiting(library.db, embedder.id, 1)).length === 0) return
  await library.change((change) => change.later(embedPassages, {}, { key: 'embed' }))
}

/** Has every vector of the library made anew. Until a passage has its new one, it is found by its old one. */
export async function forgetVectors(library: Library): Promise<void> {
  await library.change(async (change) => {
    await change.db.updateTable('passage').set({ embedded: null }).execute()
    await change.later(embedPassages, {}, { key: 'embed' })
  })
}

/** How many passages have no vector yet. */
export async function countWaiting(db: Db): Promise<number> {
  const { count } = await db
    .selectFrom('passage')
    .select((of) => of.fn.countAll<number>().as('count'))
    .where('embedded', 'is', null)
    .executeTakeFirstOrThrow()
  return count
}

interface Waiting {
  id: number
  kind: string
  body: string
}

async function nextWaiting(db: Db, model: string, limit = BATCH): Promise<Waiting[]> {
  const unread = await db
    .selectFrom('passage')
    .select(['id', 'kind', 'body'])
    .where('embedded', 'is', null)
    .orderBy('id')
    .limit(limit)
    .execute()
  if (unread.length > 0) return unread
  const others = await vectors(db).ofOtherModels(db, model, limit)
  if (others.length === 0) return []
  return db.selectFrom('passage').select(['id', 'kind', 'body']).where('id', 'in', others).execute()
}

/** A title's meaning is in its first two lines; site and address would only blur it. */
const embeddedText = ({ kind, body }: Waiting): string =>
  kind === 'head' ? body.split('\n').slice(0, 2).join('. ') : body
