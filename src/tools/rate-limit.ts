import type { AnyTool } from '../core/define-tool.ts'
import { Failure } from '../core/failure.ts'
import type { CallCounts, FullWindow, Soon, Window } from '../db/runtime.ts'

/** What one connection may call. A window begins with its first call. */
export interface CallLimits {
  reads: { perMinute: number; perDay: number }
  writes: { perMinute: number; perDay: number }
}

export interface RateLimiter {
  /**
   * Counts a call of this tool by this connection. Throws `rate_limited` with `retryAfterSeconds` where it is one too many: at
   * once, or by the promise where the counts have to be waited for.
   */
  admit(tool: Pick<AnyTool, 'name' | 'effect'>, connection: string): Soon<void>
  /** For connections that are no more. */
  forget(connections: readonly string[]): Soon<void>
}

const MINUTE_MS = 60_000
const DAY_MS = 86_400_000

/** Keeps connections within their limits, exactly, over all processes that share the counts. */
export function createRateLimiter(
  counts: CallCounts,
  { reads, writes }: CallLimits,
  now: () => number = Date.now,
): RateLimiter {
  const classes = { read: windowsOf(reads), write: windowsOf(writes) }
  return {
    admit({ name, effect }, connection) {
      const kind = effect === 'read' ? 'read' : 'write'
      const at = now()
      const full = counts.take(`${kind} ${connection}`, classes[kind], at)
      if (full instanceof Promise) return full.then((late) => refuse(name, kind, late, at))
      refuse(name, kind, full, at)
    },
    forget: (connections) => counts.forget(connections.flatMap((one) => [`read ${one}`, `write ${one}`])),
  }
}

/** Throws `rate_limited` where a window is full. */
function refuse(tool: string, kind: 'read' | 'write', full: FullWindow | undefined, at: number): void {
  if (!full) return
  const { window, until } = full
  const per = window.ms === MINUTE_MS ? 'minute' : 'day'
  const seconds = Math.max(1, Math.ceil((until - at) / 1000))
  throw new Failure('rate_limited', `${tool}: more than ${window.most} calls that ${kind} in a ${per}.`, {
    hint: `Nothing was done. Call again in ${inWords(seconds)}.`,
    retryAfterSeconds: seconds,
    details: { limit: window.most, per },
  })
}

const windowsOf = (limit: { perMinute: number; perDay: number }): readonly [Window, Window] => [
  { ms: MINUTE_MS, most: limit.perMinute },
  { ms: DAY_MS, most: limit.perDay },
]

function inWords(seconds: number): string {
  if (seconds < 120) return seconds === 1 ? 'a second' : `${seconds} seconds`
  const minutes = Math.ceil(seconds / 60)
  return minutes < 120 ? `${minutes} minutes` : `${Math.ceil(minutes / 60)} hours`
}
