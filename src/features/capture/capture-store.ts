import type { Selectable } from 'kysely'
import { Failure } from '../../core/failure.ts'
import type { Library } from '../../core/library.ts'
import type { Db, Schema } from '../../db/schema.ts'
import { findSource, type Source } from '../sources/source-store.ts'

/** What a source is called while nothing is known of it. */
export const UNTITLED = 'Untitled'

/** One attempt to capture a page or file. */
export type Capture = Selectable<Schema['capture']>

const POLL_MS = 60

/**
 * Waits until an attempt has ended, at most `timeoutMs` milliseconds. Answers with the attempt as it then stands; its work is
 * done by whichever process has a worker.
 */
export async function waitForCapture(
  library: Library,
  captureId: number,
  { timeoutMs, signal }: { timeoutMs: number; signal: AbortSignal },
): Promise<Capture> {
  const deadline = Date.now() + timeoutMs
  for (;;) {
    const capture = await findCapture(library.db, captureId)
    if (!capture)
      throw new Failure('item_not_found', 'The item was removed while it was captured.', {
        hint: 'Add it again.',
      })
    if (!isUnderWay(capture) || Date.now() >= deadline) return capture
    signal.throwIfAborted()
    await new Promise((resolve) => setTimeout(resolve, POLL_MS))
  }
}

/** The key under which jobs wait for the end of an attempt. */
export const afterCapture = (captureId: number): string => `after capture ${captureId}`

/** Whether an attempt has not ended yet, well or badly. */
export const isUnderWay = ({ state }: Pick<Capture, 'state'>): boolean =>
  state === 'pending' || state === 'processing'

/** Ids of all attempts that have not ended. */
export const listCapturesUnderWay = async (db: Db): Promise<number[]> =>
  (
    await db
      .selectFrom('capture')
      .select('id')
      .where('state', 'in', ['pending', 'processing'])
      .orderBy('id')
      .execute()
  ).map(({ id }) => id)

export const findCapture = (db: Db, id: number): Promise<Capture | undefined> =>
  db.selectFrom('capture').selectAll().where('id', '=', id).executeTakeFirst()

/** The job that an attempt waits for or was made by; undefined once it is forgotten. */
export async function findCaptureJob(db: Db, captureId: number): Promise<number | undefined> {
  const row = await db
    .selectFrom('job')
    .select('id')
    .where('kind', '=', 'capture')
    .where('input', '=', JSON.stringify({ captureId }))
    .orderBy('id', 'desc')
    .executeTakeFirst()
  return row?.id
}

/** Those of the attempts that have ended, well or badly. */
export async function listEnded(db: Db, ids: readonly number[]): Promise<Capture[]> {
  const ended: Capture[] = []
  for (let from = 0; from < ids.length; from += 500) {
    const some = db
      .selectFrom('capture')
      .selectAll()
      .where('id', 'in', ids.slice(from, from + 500))
      .where('state', 'in', ['completed', 'failed'])
    ended.push(...(await some.execute()))
  }
  return ended
}

/** How many attempts at live sources that have no text are under way, and how many failed. */
export async function countWithoutText(db: Db): Promise<{ underWay: number; failed: number }> {
  const rows = await db
    .selectFrom('capture')
    .innerJoin('source', 'source.id', 'capture.source_id')
    .select(({ fn }) => ['capture.state', fn.countAll<number>().as('count')])
    .where('source.text_id', 'is', null)
    .where('source.trashed_at', 'is', null)
    .groupBy('capture.state')
    .execute()
  const of = (wanted: (row: Pick<Capture, 'state'>) => boolean) =>
    rows.filter(wanted).reduce((sum, { count }) => sum + count, 0)
  return { underWay: of(isUnderWay), failed: of(({ state }) => state === 'failed') }
}

/** What an attempt is about, for people: its address, the name of its file, or the title of the source. */
export async function subjectOf(db: Db, captureId: number): Promise<string | undefined> {
  const capture = await db
    .selectFrom('capture')
    .innerJoin('source', 'source.id', 'capture.source_id')
    .select(['capture.url', 'capture.given_name', 'source.title'])
    .where('capture.id', '=', captureId)
    .executeTakeFirst()
  return capture && (capture.url ?? capture.given_name ?? capture.title)
}

/** The file that was handed in for a source last: its media hash and what it was called. */
export const lastGiven = (
  db: Db,
  sourceId: number,
): Promise<Pick<Capture, 'given' | 'given_name'> | undefined> =>
  db
    .selectFrom('capture')
    .select(['given', 'given_name'])
    .where('source_id', '=', sourceId)
    .where('given', 'is not', null)
    .orderBy('requested_at', 'desc')
    .orderBy('id', 'desc')
    .executeTakeFirst()

/** The source that a file was handed in for before, in the trash or not, by the file's media hash. */
export const findByFile = (db: Db, hash: string): Promise<Source | undefined> =>
  db
    .selectFrom('capture')
    .innerJoin('source', 'source.id', 'capture.source_id')
    .selectAll('source')
    .where('capture.given', '=', hash)
    .orderBy('capture.id')
    .executeTakeFirst()

/** The failure that an attempt ended in. */
export function failureOf(capture: Pick<Capture, 'failure'>): Failure | undefined {
  if (capture.failure === null) return undefined
  const { code, message, hint } = JSON.parse(capture.failure) as {
    code: Failure['code']
    message: string
    hint: string
  }
  return new Failure(code, message, { hint })
}

/** What the reader should know of an attempt that went well; undefined where there is nothing. */
export function remarkOn({ outcome, warnings }: Pick<Capture, 'outcome' | 'warnings'>): string | undefined {
  const remarks: string[] = warnings === null ? [] : (JSON.parse(warnings) as string[])
  if (outcome === 'kept') remarks.unshift('It now gives far less text than before; the better text was kept.')
  return remarks.length > 0 ? remarks.join(' ') : undefined
}

/** The source that an attempt was made for, by the id it has now: a page may have turned out to be one that was there. */
export async function sourceOf(db: Db, capture: Pick<Capture, 'source_id'>): Promise<Source> {
  const source = await findSource(db, capture.source_id)
  if (source) return source
  throw new Failure('item_not_found', 'The item is no longer in the library.', { hint: 'Add it again.' })
}
