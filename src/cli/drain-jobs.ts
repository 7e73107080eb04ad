import type { LocalLibrary } from '../app/open-local.ts'
import type { Db } from '../db/schema.ts'
import type { Printer } from './print.ts'
import { startProgress } from './progress.ts'
import { count } from './when.ts'

/** A further try that is due within this many milliseconds is waited for. */
const PATIENCE_MS = 60_000
const LOOK_MS = 400

/**
 * Does the waiting jobs of a library in this process until none is left, further tries included. Answers with how many
 * ended well and how many failed meanwhile, in whichever process.
 */
export async function drainJobs(
  local: LocalLibrary,
  { err, signal }: { err: Printer; signal: AbortSignal },
): Promise<{ done: number; failed: number }> {
  const { library } = local
  const since = library.now().toISOString()
  const progress = startProgress(err, 'Working…')
  const show = setInterval(() => {
    describeWork(library.db).then(
      (text) => progress.say(text),
      () => {},
    )
  }, LOOK_MS)
  show.unref()
  try {
    const worker = local.work()
    while (!signal.aborted) {
      await Promise.race([worker.drained(), aborted(signal)])
      const next = await nextTry(library.db)
      if (next === undefined || next - Date.now() > PATIENCE_MS) break
      await Promise.race([
        new Promise((resolve) => setTimeout(resolve, Math.max(50, next - Date.now()))),
        aborted(signal),
      ])
    }
    if (signal.aborted) await worker.stop()
  } finally {
    clearInterval(show)
    progress.stop()
  }
  const ended = await library.db
    .selectFrom('job')
    .select(({ fn }) => ['state', fn.countAll<number>().as('count')])
    .where('finished_at', '>=', since)
    .groupBy('state')
    .execute()
  const of = (state: string) => ended.find((row) => row.state === state)?.count ?? 0
  return { done: of('completed'), failed: of('failed') }
}

/** What goes on, in a line: `Embedding 120 of 400 · 3 jobs waiting`. */
export async function describeWork(db: Db): Promise<string> {
  const running = await db
    .selectFrom('job')
    .select(['kind', 'progress'])
    .where('state', '=', 'running')
    .orderBy('id')
    .execute()
  const { waiting } = await db
    .selectFrom('job')
    .select(({ fn }) => fn.countAll<number>().as('waiting'))
    .where('state', '=', 'pending')
    .executeTakeFirstOrThrow()
  const parts = running.map(({ kind, progress }) => [kind, progressOf(progress)].filter(Boolean).join(' '))
  if (waiting > 0) parts.push(`${count(waiting, 'job')} waiting`)
  return parts.join(' · ') || 'Working…'
}

export function progressOf(json: string | null): string {
  if (json === null) return ''
  const { done, total, message } = JSON.parse(json) as { done: number; total?: number; message?: string }
  return [message, total === undefined ? String(done) : `${done} of ${total}`].filter(Boolean).join(' ')
}

async function nextTry(db: Db): Promise<number | undefined> {
  const row = await db
    .selectFrom('job')
    .select('run_at')
    .where('state', '=', 'pending')
    .orderBy('run_at')
    .executeTakeFirst()
  return row && Date.parse(row.run_at)
}

const aborted = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve()
    else signal.addEventListener('abort', () => resolve(), { once: true })
  })
