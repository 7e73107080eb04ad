import { randomUUID } from 'node:crypto'
import { hostname } from 'node:os'

/** Names this process as the one that holds a job: machine, process, and what tells it from a later one of that number. */
export const ownerName = (): string => `${hostname()}/${process.pid}/${randomUUID()}`

/** Whether an owner was a process of this machine that is no more. Of other machines nothing is known. */
export function isDeadOwner(owner: string): boolean {
  const [host, pid] = owner.split('/')
  if (host !== hostname() || !/^\d+$/.test(pid ?? '')) return false
  try {
    process.kill(Number(pid), 0)
    return false
  } catch (error) {
    // EPERM: it lives, and is somebody else's.
    return error instanceof Error && 'code' in error && error.code === 'ESRCH'
  }
}
