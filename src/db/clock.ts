/**
 * Hybrid logical clock (Kulkarni et al. 2014) as text that sorts in time: 12 hex digits of milliseconds since 1970, 4 of a
 * counter for what happens in the same millisecond, 4 of the replica that breaks ties.
 */
export type Clock = string

/** The clock after `last` at wall time `nowMs`; never goes back, whatever the wall does. */
export function tick(last: Clock | undefined, nowMs: number, replica: number): Clock {
  const lastMs = last === undefined ? 0 : Number.parseInt(last.slice(0, 12), 16)
  const lastCount = last === undefined ? 0 : Number.parseInt(last.slice(12, 16), 16)
  if (nowMs > lastMs) return write(nowMs, 0, replica)
  return lastCount < 0xffff ? write(lastMs, lastCount + 1, replica) : write(lastMs + 1, 0, replica)
}

const hex = (value: number, digits: number): string => value.toString(16).padStart(digits, '0')

const write = (ms: number, count: number, replica: number): Clock =>
  hex(ms, 12) + hex(count, 4) + hex(replica, 4)
