import type { LocalLibrary } from '../app/open-local.ts'
import type { Library } from '../core/library.ts'
import { countJobs, listJobs, nextRun } from '../jobs/job-list.ts'
import type { Printer } from './print.ts'
import { startProgress } from './progress.ts'

/** A further try that is due within this many milliseconds is waited for. */
const PATIENCE_MS = 60_000
const LOOK_MS = 400
/** Running jobs that are looked at: more than any process runs. */
const SHOWN = 100

/**
 * Does the waiting jobs of a library in this process until none is left, further tries included. Answers with how many
 * ended well and how many failed meanwhile, in whichever process.
 */
export async function drainJobs(
  local: LocalLibrary,
  { err, signal }: { err: Printer; signal: AbortSignal },
): Promise<{ done: number; failed: number }> {
  const { library } = local
  const since = library.now()
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
      const next = await nextRun(library.db)
      const inMs = next === undefined ? Infinity : next.getTime() - Date.now()
      if (inMs > PATIENCE_MS) break
      await Promise.race([new Promise((resolve) => setTimeout(resolve, Math.max(50, inMs))), aborted(signal)])
    }
    if (signal.aborted) await worker.stop()
  } finally {
    clearInterval(show)
    progress.stop()
  }
  const { completed, failed } = await countJobs(library.db, { since })
  return { done: completed, failed }
}

const DOING: Record<string, string> = {
  capture: 'capturing',
  'read-link': 'marking passages',
  'resume-imports': 'taking up what waited for credits',
  embed: 'reading for search by meaning',
  'import-file': 'importing',
  'purge-trash': 'emptying the trash',
}

/** What goes on, in a line: `Capturing 2 · reading for search by meaning 120 of 400 · 3 waiting`. */
async function describeWork(db: Library['db']): Promise<string> {
  const running = await listJobs(db, ['running'], SHOWN)
  const { pending: waiting } = await countJobs(db)
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

const aborted = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve()
    else signal.addEventListener('abort', () => resolve(), { once: true })
  })
