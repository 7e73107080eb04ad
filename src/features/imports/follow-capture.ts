import { Failure } from '../../core/failure.ts'
import type { Change } from '../../core/library.ts'
import { requestCapture } from '../capture/capture-source.ts'
import { failureOf, findCapture, isUnderWay } from '../capture/capture-store.ts'
import { findSource } from '../sources/source-store.ts'
import {
  completeImport,
  countsOf,
  failImport,
  findImport,
  findReading,
  isOver,
  listUnderWay,
  noteImport,
  type Import,
} from './import-store.ts'

/** How an import of a link stands: it waits for the attempt to capture, it has ended, or its text can be read. */
export type Followed =
  | { state: 'waits'; captureId: number }
  | { state: 'over' }
  | { state: 'ready'; own: Import; sourceId: number; textId: number; readTo: number }

/**
 * Brings an import of a link as far as its capture is: a capture that failed is the import's failure, one that was withdrawn by
 * somebody else is asked for again, and one that turned out to be a page that was read already, or is being read, ends it.
 */
export async function followCapture(change: Change, importId: number): Promise<Followed> {
  const own = await findImport(change.db, importId)
  if (isOver(own)) return { state: 'over' }
  // Once a text was begun it is read to its end, whatever is captured meanwhile.
  if (own.text_id === null && own.capture_id !== null) {
    const capture = await findCapture(change.db, own.capture_id)
    if (capture && isUnderWay(capture)) return { state: 'waits', captureId: capture.id }
    const failure = capture?.state === 'failed' ? failureOf(capture) : undefined
    if (failure?.code === 'cancelled' && own.url !== null) return askAgain(change, own, own.url)
    if (failure) return fail(change, own, failure)
    if (capture) own.source_id = capture.source_id
  }
  const source = own.source_id === null ? undefined : await findSource(change.db, own.source_id)
  if (!source || source.trashed_at !== null) return fail(change, own, thrownAway())
  const textId = own.text_id ?? source.text_id
  if (textId === null) return fail(change, own, withoutText(source.title))
  if (own.text_id === null) {
    const other = await readBy(change, own, source.id, textId)
    if (other) {
      await completeImport(change, own.id, { source_id: source.id, remarks: [other] })
      return { state: 'over' }
    }
  }
  const readTo = own.read_to ?? 0
  await noteImport(change, own.id, {
    source_id: source.id,
    text_id: textId,
    read_to: readTo,
    counts: countsOf(own),
  })
  return { state: 'ready', own, sourceId: source.id, textId, readTo }
}

async function askAgain(change: Change, own: Import, url: string): Promise<Followed> {
  const { sourceId, captureId } = await requestCapture(change, { url })
  await noteImport(change, own.id, { source_id: sourceId, capture_id: captureId ?? null })
  // There is a text by now: this very import goes on with it.
  return captureId === undefined ? followCapture(change, own.id) : { state: 'waits', captureId }
}

async function fail(change: Change, own: Import, failure: Failure): Promise<Followed> {
  await failImport(change, own.id, failure)
  return { state: 'over' }
}

/** Says which other import has read or reads the text. */
async function readBy(
  change: Change,
  own: Import,
  sourceId: number,
  textId: number,
): Promise<string | undefined> {
  const before = await findReading(change.db, sourceId, textId)
  if (before) return alreadyRead(before.id)
  const reading = (await listUnderWay(change.db, sourceId)).find(
    ({ id, text_id }) => id !== own.id && text_id !== null,
  )
  return reading && `The page was in the library under another address; import ${reading.id} is reading it.`
}

/** What is said of a text that is not read a second time. */
export const alreadyRead = (importId: number): string =>
  `The text was read before, by import ${importId}: its highlights are those of then.`

export const thrownAway = (): Failure =>
  new Failure('source_not_found', 'The source was thrown away while it was added.', {
    hint: 'Add it again when it is wanted after all: that takes it out of the trash.',
  })

const withoutText = (title: string): Failure =>
  new Failure('no_text', `“${title}” has no text that could be read.`, {
    hint: 'Add the page or file itself with `commonplace add FILE`, or mark passages by hand.',
  })
