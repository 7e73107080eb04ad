import { spawn } from 'node:child_process'
import {
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'

const LOG_FILE = 'work.log'
const LOG_BYTES = 1_000_000
const MARK_FILE = 'work.pid'
/** A worker refreshes its mark more often than this. */
const MARK_MS = 30_000

export const workLog = (folder: string): string => join(folder, LOG_FILE)

/**
 * Starts `commonplace work` on its own, unless one is at work on this library already. It outlives this process, ends by
 * itself when nothing waits, and writes what it has to say to a log in the library's folder.
 */
export function startWork(folder: string, env: NodeJS.ProcessEnv): void {
  if (isWorking(folder)) return
  const program = process.argv[1]
  if (program === undefined) return
  const log = workLog(folder)
  if (existsSync(log) && statSync(log).size > LOG_BYTES) renameSync(log, `${log}.1`)
  const output = openSync(log, 'a', 0o600)
  try {
    spawn(process.execPath, [program, 'work', '--library', folder], {
      detached: true,
      stdio: ['ignore', output, output],
      cwd: folder,
      env,
    }).unref()
  } finally {
    closeSync(output)
  }
}

/** Whether a process that does the waiting work gave a sign of life lately. */
export function isWorking(folder: string): boolean {
  const mark = join(folder, MARK_FILE)
  try {
    if (Date.now() - statSync(mark).mtimeMs > MARK_MS) return false
    process.kill(Number(readFileSync(mark, 'utf8')), 0)
    return true
  } catch {
    return false
  }
}

/** Says that this process does the waiting work, until the function that it gives is called. */
export function markWorking(folder: string): () => void {
  const mark = join(folder, MARK_FILE)
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  writeFileSync(mark, String(process.pid))
  const beat = setInterval(() => {
    const now = new Date()
    try {
      utimesSync(mark, now, now)
    } catch {
      // Somebody took it away: another worker may start, and leases keep the two apart.
    }
  }, MARK_MS / 3)
  beat.unref()
  return () => {
    clearInterval(beat)
    try {
      if (readFileSync(mark, 'utf8') === String(process.pid)) rmSync(mark, { force: true })
    } catch {
      // gone already
    }
  }
}
