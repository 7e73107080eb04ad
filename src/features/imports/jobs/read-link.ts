import { z } from 'zod'
import { defineJob, type JobRun } from '../../../core/define-job.ts'
import { Failure } from '../../../core/failure.ts'
import type { Library } from '../../../core/library.ts'
import { toFailure } from '../../../core/to-failure.ts'
import { afterCapture } from '../../capture/capture-store.ts'
import { readingCost } from '../../credits/reading-cost.ts'
import { listMarks } from '../../highlights/highlight-store.ts'
import { pickPassages } from '../../reading-aid/pick-passages.ts'
import { findSource } from '../../sources/source-store.ts'
import { readPlaces } from '../../texts/places.ts'
import { findText, type Text } from '../../texts/text-store.ts'
import { followCapture, thrownAway, type Followed } from '../follow-capture.ts'
import {
  addBatch,
  completeImport,
  countsOf,
  failImport,
  findImport,
  isOver,
  noteImport,
  type ImportCounts,
} from '../import-store.ts'
import { markPassages } from '../mark-passages.ts'
import { readingStretches, type Stretch } from '../reading-stretches.ts'

/** A capture tells when it ends; this is for one whose end was missed. */
const LOOK_AGAIN_MS = 10 * 60_000

/**
 * Has the reading aid read what an import of a link captured: stretch by stretch, each paid before it is read and under a
 * name of its own, so that whoever goes on after a process died neither pays nor marks anything twice. Where an account has no
 * credits left the import ends there, and its rest waits.
 */
export const readLink = defineJob({
  kind: 'read-link',
  input: z.object({ importId: z.number() }),
  concurrency: 2,
  async run(library, { importId }, run) {
    const followed = await library.change(async (change) => {
      const followed = await followCapture(change, importId)
      if (followed.state === 'waits') {
        const runAt = new Date(library.now().getTime() + LOOK_AGAIN_MS)
        await change.later(readLink, { importId }, { key: afterCapture(followed.captureId), runAt })
      }
      return followed
    })
    if (followed.state === 'ready') await readOn(library, followed, run)
  },
  async failed(library, { importId }, failure) {
    const { text_id, read_to } = await findImport(library.db, importId)
    if (text_id !== null) await library.outside.account?.credits?.giveBack(keyOf(importId, read_to ?? 0))
    await library.change((change) => failImport(change, importId, toFailure(failure)))
  },
})

/** What the stretch of an import that begins there is paid under. */
const keyOf = (importId: number, start: number): string => `import ${importId} from ${start}`

async function readOn(
  library: Library,
  { own, sourceId, textId, readTo }: Extract<Followed, { state: 'ready' }>,
  run: JobRun,
): Promise<void> {
  const { outside } = library
  const source = await findSource(library.db, sourceId)
  const text = await findText(library.db, textId)
  if (!source || !text) throw thrownAway()
  const stretches = readingStretches(text.plain, readPlaces(text.places))
  const remarks = new Set<string>()
  let counts = { ...countsOf(own), stretches: stretches.length }
  for (const [index, stretch] of stretches.entries()) {
    if (stretch.start < readTo) continue
    run.signal.throwIfAborted()
    const cost = costOf(stretches, index)
    if (!(await pay(library, own.id, stretch, cost))) {
      const shortOf = usedUp(index)
      await library.change((change) =>
        completeImport(change, own.id, {
          counts: { ...counts, stretches_done: index },
          shortOf,
          waits: true,
          remarks: [...remarks],
        }),
      )
      return
    }
    const already = (await listMarks(library.db, sourceId, { origin: 'reading-aid' })).map(
      ({ quote }) => quote,
    )
    const picked = await pickPassages(
      outside,
      {
        title: source.title,
        plain: text.plain,
        language: source.language,
        from: stretch.start,
        to: stretch.end,
      },
      { signal: run.signal, already },
    )
    if (picked.remark !== undefined) remarks.add(picked.remark)
    const far = { stretches: stretches.length, stretches_done: index + 1 }
    const landed = await land(
      library,
      { importId: own.id, sourceId, text, stretch, cost, far },
      picked.passages,
    )
    if (!landed) return
    counts = landed
    await run.progress(far.stretches_done, far.stretches)
  }
  await library.change((change) => completeImport(change, own.id, { counts, remarks: [...remarks] }))
}

/** Credits that a stretch costs, those before it being paid. */
export function costOf(stretches: readonly Stretch[], index: number): number {
  const [before, stretch] = [stretches[index - 1], stretches[index]]
  if (!stretch) return 0
  return readingCost(stretch.upTo) - (before ? readingCost(before.upTo) : 0)
}

/** Pays for a stretch where the library's account counts credits. False where there are not enough. */
async function pay(library: Library, importId: number, { start }: Stretch, amount: number): Promise<boolean> {
  const { account } = library.outside
  if (!account?.credits || amount === 0) return true
  try {
    await account.credits.spend({
      amount,
      what: `reading for import ${importId}`,
      key: keyOf(importId, start),
    })
    return true
  } catch (error) {
    if (error instanceof Failure && error.code === 'credits_used_up') return false
    throw error
  }
}

interface Read {
  importId: number
  sourceId: number
  text: Text
  stretch: Stretch
  cost: number
  far: Required<Pick<ImportCounts, 'stretches' | 'stretches_done'>>
}

/** Marks what was picked from a stretch and notes how far the import is. Undefined where it has ended meanwhile. */
async function land(
  library: Library,
  { importId, sourceId, text, stretch, cost, far }: Read,
  passages: Parameters<typeof markPassages>[3],
): Promise<(ImportCounts & Read['far']) | undefined> {
  return library.change(async (change) => {
    const own = await findImport(change.db, importId)
    if (isOver(own)) return undefined
    // Another process was given this import and is further on.
    if ((own.read_to ?? 0) > stretch.start) return undefined
    const source = await findSource(change.db, sourceId)
    if (!source || source.trashed_at !== null) throw thrownAway()
    const current =
      source.text_id === null || source.text_id === text.id ? text : await findText(change.db, source.text_id)
    const ids = await markPassages(change, text, current ?? text, passages)
    await addBatch(
      change,
      importId,
      ids.map((id) => ['highlight', id] as const),
    )
    const before = countsOf(own)
    const spends = library.outside.account?.credits !== undefined
    const counts = {
      ...before,
      ...far,
      highlights: (before.highlights ?? 0) + ids.length,
      unchanged: (before.unchanged ?? 0) + passages.length - ids.length,
      ...(spends && { credits: (before.credits ?? 0) + cost }),
    }
    await noteImport(change, importId, { counts, source_id: source.id, read_to: stretch.end })
    return counts
  })
}

const usedUp = (stretchesDone: number): Failure =>
  new Failure(
    'credits_used_up',
    stretchesDone === 0
      ? 'There were not enough AI credits left to have it read: no passage was marked.'
      : 'There were not enough AI credits left to have the rest read: passages of the beginning are marked.',
    {
      hint: 'The source is saved with its text. The rest is read by a new import, in the night after there are credits again; highlights_count of the source rises then.',
    },
  )
