import type { Library } from '../core/library.ts'
import { queueBackup } from '../features/backups/jobs/back-up.ts'
import { hasWaiting } from '../features/imports/import-store.ts'
import { resumeImports } from '../features/imports/jobs/resume-imports.ts'
import { purgeTrashJob } from '../features/sources/jobs/purge-trash.ts'
import { getLocal, setLocal } from '../db/changes.ts'
import { forgetJobs } from './queue.ts'

const DAY_MS = 86_400_000
/** How long what became of a job can be looked up. */
const REMEMBERED_DAYS = 30

/** How often a process that stays open for weeks looks whether a day has passed. */
const LOOK_MS = 3_600_000

/** Queues what is to be done once a day, now and for as long as the process lives. Answers with what ends that. */
export function keepSchedule(
  library: Library,
  { onError, lookMs = LOOK_MS }: { onError: (error: unknown) => void; lookMs?: number },
): () => void {
  const look = () => {
    scheduleDaily(library).catch(onError)
    queueBackup(library).catch(onError)
  }
  look()
  const timer = setInterval(look, lookMs)
  timer.unref()
  return () => clearInterval(timer)
}

/** Queues what is to be done once a day, whichever process gets to it first. */
export async function scheduleDaily(library: Library): Promise<void> {
  const now = library.now()
  const due = (last: string | undefined): boolean =>
    last === undefined || now.getTime() - Date.parse(last) >= DAY_MS
  if (!due(await getLocal(library.db, 'daily_at'))) return
  await library.change(async (change) => {
    if (!due(await getLocal(change.db, 'daily_at'))) return
    await setLocal(change.db, 'daily_at', change.at)
    await change.later(purgeTrashJob, {}, { key: 'daily' })
    if (await hasWaiting(change.db)) await change.later(resumeImports, {}, { key: 'daily' })
  })
  await forgetJobs(library.db, new Date(now.getTime() - REMEMBERED_DAYS * DAY_MS))
}

/** When `scheduleDaily` will next have something to do. */
export async function nextDaily(library: Library): Promise<Date> {
  const last = await getLocal(library.db, 'daily_at')
  return last === undefined ? library.now() : new Date(Date.parse(last) + DAY_MS)
}
