import { createHash, randomUUID } from 'node:crypto'
import { readFileSync, readlinkSync } from 'node:fs'
import { hostname } from 'node:os'

/** The processes of a machine that is no container are numbered in the kernel's first namespace. */
const FIRST_NAMESPACE = 'pid:[4026531836]'

/**
 * Names where process numbers mean the same: one machine, and in it one container. Machines and containers may well bear the
 * same host name, as copies of one image do; then a number says nothing of the other's processes.
 */
function placeName(): string {
  const namespace = readOr(() => readlinkSync('/proc/self/ns/pid'))
  const contained = namespace !== '' && namespace !== FIRST_NAMESPACE
  const marks = [
    readOr(() => readFileSync('/etc/machine-id', 'utf8')),
    namespace,
    contained ? readOr(() => readFileSync('/proc/sys/kernel/random/boot_id', 'utf8')) : '',
  ]
  const digest = createHash('sha256').update(marks.join('\n')).digest('base64url')
  return `${hostname()}~${digest.slice(0, 12)}`
}

/** Nothing, where a system has no such file. */
function readOr(read: () => string): string {
  try {
    return read()
  } catch {
    return ''
  }
}

let place: string | undefined
const here = (): string => (place ??= placeName())

/** Names this process as the one that holds a job: machine, process, and what tells it from a later one of that number. */
export const ownerName = (): string => `${here()}/${process.pid}/${randomUUID()}`

/** Whether an owner was a process of this machine that is no more. Of other machines and containers nothing is known. */
export function isDeadOwner(owner: string): boolean {
  const [at, pid] = owner.split('/')
  if (at !== here() || !/^\d+$/.test(pid ?? '')) return false
  try {
    process.kill(Number(pid), 0)
    return false
  } catch (error) {
    // EPERM: it lives, and is somebody else's.
    return error instanceof Error && 'code' in error && error.code === 'ESRCH'
  }
}
