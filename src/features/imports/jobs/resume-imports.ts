import { z } from 'zod'
import { defineJob } from '../../../core/define-job.ts'
import type { Library } from '../../../core/library.ts'
import { findSource } from '../../sources/source-store.ts'
import { readPlaces } from '../../texts/places.ts'
import { findText } from '../../texts/text-store.ts'
import { takeUp } from '../begin-reading.ts'
import { endWaiting, listUnderWay, listWaiting, type Import } from '../import-store.ts'
import { costOf, readingStretches } from '../reading-stretches.ts'

/**
 * Takes up every night what waits for credits, each as a new import, the oldest first and as long as there are credits for what
 * comes next of it. What is not taken up waits on.
 */
export const resumeImports = defineJob({
  kind: 'resume-imports',
  input: z.object({}),
  async run(library, _input, { signal }) {
    const waiting = await listWaiting(library.db)
    if (waiting.length === 0) return
    let left = (await library.outside.account?.credits?.left()) ?? Infinity
    for (const own of waiting) {
      signal.throwIfAborted()
      const next = await nextCosts(library, own)
      // Gone for ever: nothing of it can be read any more.
      if (!next) await library.change((change) => endWaiting(change, own.id))
      if (!next || next.inTrash || next.first > left) continue
      const begun = await library.change(async (change) => {
        const [underWay] = own.source_id === null ? [] : await listUnderWay(change.db, own.source_id)
        return underWay ? undefined : takeUp(change, own)
      })
      if (begun) left -= next.all
    }
  },
})

/** Credits for the next stretch of what waits, and for all of its rest. Undefined where it is no more. */
async function nextCosts(
  library: Library,
  { source_id, text_id, read_to }: Import,
): Promise<{ first: number; all: number; inTrash: boolean } | undefined> {
  const source = source_id === null ? undefined : await findSource(library.db, source_id)
  const text = text_id === null ? undefined : await findText(library.db, text_id)
  if (!source || !text) return undefined
  const stretches = await readingStretches(text.plain, readPlaces(text.places))
  const costs = stretches.flatMap(({ start }, index) =>
    start < (read_to ?? 0) ? [] : [costOf(stretches, index)],
  )
  const all = costs.reduce((sum, cost) => sum + cost, 0)
  return { first: costs[0] ?? 0, all, inTrash: source.trashed_at !== null }
}
