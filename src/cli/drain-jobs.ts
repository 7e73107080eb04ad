import type { LocalLibrary } from '../app/open-local.ts'
import type { Db } from '../db/schema.ts'
import type { Printer } from './print.ts'
import { startProgress } from './progress.ts'

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

const DOING: Record<string, string> = {
  capture: 'capturing',
  embed: 'reading for search by meaning',
  'purge-trash': 'emptying the trash',
}

/** What goes on, in a line: `Capturing 2 · reading for search by meaning 120 of 400 · 3 waiting`. */
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
  const parts = [...new Set(running.map(({ kind }) => kind))].map((kind) => {
    const same = running.filter((job) => job.kind === kind)
    const far = same.length === 1 ? progressOf(same[0]!.progress) : String(same.length)
    return [DOING[kind] ?? kind, far].filter(Boolean).join(' ')
  })
  if (waiting > 0) parts.push(`${waiting} waiting`)
  const text = parts.join(' · ') || 'working…'
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}`
}

/** How far a job is, as it says itself: `120 of 400`. */
export function progressOf(json: string | null): string {
  if (json === null) return ''
  const { done, total } = JSON.parse(json) as { done: number; total?: number }
  return total === undefined ? String(done) : `${done} of ${total}`
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
