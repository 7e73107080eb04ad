import type { JobRun } from '../../core/define-job.ts'
import { Failure } from '../../core/failure.ts'
import type { Library } from '../../core/library.ts'
import { listMarks } from '../highlights/highlight-store.ts'
import { pickPassages } from '../reading-aid/pick-passages.ts'
import { findSource } from '../sources/source-store.ts'
import { readPlaces } from '../texts/places.ts'
import { findText, type Text } from '../texts/text-store.ts'
import { thrownAway, type Followed } from './follow-capture.ts'
import {
  addBatch,
  completeImport,
  countsOf,
  findImport,
  isOver,
  noteImport,
  type ImportCounts,
} from './import-store.ts'
import { markPassages } from './mark-passages.ts'
import { payForStretch } from './pay-for-stretch.ts'
import { costOf, readingStretches, type Stretch } from './reading-stretches.ts'

/**
 * Has the reading aid read the text of an import from where it is to the end: stretch by stretch, each paid before it is read and
 * under a name of its own, so that whoever goes on after a process died neither pays nor marks anything twice. Where an account
 * has no credits left the import ends there, and its rest waits.
 */
export async function readSource(
  library: Library,
  { own, sourceId, textId, readTo }: Extract<Followed, { state: 'ready' }>,
  run: JobRun,
): Promise<void> {
  const { outside } = library
  const source = await findSource(library.db, sourceId)
  const text = await findText(library.db, textId)
  if (!source || !text) throw thrownAway()
  const stretches = await readingStretches(text.plain, readPlaces(text.places))
  const remarks = new Set<string>()
  let counts = { ...countsOf(own), stretches: stretches.length }
  for (const [index, stretch] of stretches.entries()) {
    if (stretch.start < readTo) continue
    run.signal.throwIfAborted()
    const cost = costOf(stretches, index)
    if (!(await payForStretch(library, own.id, stretch, cost))) {
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
