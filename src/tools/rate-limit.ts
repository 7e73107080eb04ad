import type { AnyTool } from '../core/define-tool.ts'
import { Failure } from '../core/failure.ts'
import type { CallCounts, Window } from '../db/runtime.ts'

/** What one connection may call. A window begins with its first call. */
export interface CallLimits {
  reads: { perMinute: number; perDay: number }
  writes: { perMinute: number; perDay: number }
}

export interface RateLimiter {
  /** Counts a call of this tool by this connection. Throws `rate_limited` with `retryAfterSeconds` where it is one too many. */
  admit(tool: Pick<AnyTool, 'name' | 'effect'>, connection: string): void
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
      if (!full) return
      const per = full.window.ms === MINUTE_MS ? 'minute' : 'day'
      const seconds = Math.max(1, Math.ceil((full.until - at) / 1000))
      throw new Failure(
        'rate_limited',
        `${name}: more than ${full.window.most} calls that ${kind} in a ${per}.`,
        {
          hint: `Nothing was done. Call again in ${inWords(seconds)}.`,
          retryAfterSeconds: seconds,
          details: { limit: full.window.most, per },
        },
      )
    },
  }
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
