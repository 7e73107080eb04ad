import { isIP } from 'node:net'
import { Failure } from '../../core/failure.ts'
import type { Accounts } from './accounts.ts'
import { after } from './lifetimes.ts'
import type { AccountLimits } from './limits.ts'
import { hashOf } from './secrets.ts'

/**
 * Counts one attempt by `who` against a limit: one statement, so that attempts at once, in however many replicas, are each
 * counted. Throws `rate_limited` from the first attempt past it to the end of the window.
 */
export async function countAttempt(
  accounts: Accounts,
  limit: keyof AccountLimits,
  who: string,
): Promise<void> {
  const { count, seconds } = accounts.limits[limit]
  const now = accounts.now()
  const at = now.toISOString()
  const until = after(now, seconds)
  const row = await accounts.db
    .insertInto('rate_counter')
    .values({ key: keyOf(limit, who), count: 1, until })
    .onConflict((conflict) =>
      conflict.column('key').doUpdateSet((row) => ({
        count: row
          .case()
          .when('rate_counter.until', '<=', at)
          .then(1)
          .else(row('rate_counter.count', '+', 1))
          .end(),
        until: row
          .case()
          .when('rate_counter.until', '<=', at)
          .then(until)
          .else(row.ref('rate_counter.until'))
          .end(),
      })),
    )
    .returning(['count', 'until'])
    .executeTakeFirstOrThrow()
  if (row.count > count) throw tooOften(row.until, now)
}

/** Throws `rate_limited` where the limit is used up already; counts nothing. */
export async function checkAttempts(
  accounts: Accounts,
  limit: keyof AccountLimits,
  who: string,
): Promise<void> {
  const now = accounts.now()
  const row = await accounts.db
    .selectFrom('rate_counter')
    .select(['count', 'until'])
    .where('key', '=', keyOf(limit, who))
    .where('until', '>', now.toISOString())
    .executeTakeFirst()
  if (row && row.count >= accounts.limits[limit].count) throw tooOften(row.until, now)
}

/** Takes one counted attempt back: it turned out to be a right one. */
export async function uncountAttempt(
  accounts: Accounts,
  limit: keyof AccountLimits,
  who: string,
): Promise<void> {
  await accounts.db
    .updateTable('rate_counter')
    .set((row) => ({ count: row('count', '-', 1) }))
    .where('key', '=', keyOf(limit, who))
    .where('count', '>', 0)
    .execute()
}

/** Hashed: an address or an e-mail has no business in a table that nobody looks at. */
const keyOf = (limit: keyof AccountLimits, who: string): string => `${limit}:${hashOf(who)}`

function tooOften(until: string, now: Date): Failure {
  const seconds = Math.max(1, Math.ceil((Date.parse(until) - now.getTime()) / 1_000))
  return new Failure('rate_limited', 'That was tried too often.', {
    hint: `Try again in ${seconds < 120 ? `${seconds} seconds` : `${Math.ceil(seconds / 60)} minutes`}.`,
    retryAfterSeconds: seconds,
  })
}

/**
 * The part of a client's network address that one person has: all of IPv4, the first half of IPv6 (a household or a machine is
 * given a whole /64). However an address is written, it is the same one.
 */
export function networkOf(address: string): string {
  const bare = address.split('%')[0] ?? ''
  if (isIP(bare) !== 6) return address
  const { hostname } = new URL(`http://[${bare}]`)
  const [head = '', tail] = hostname.slice(1, -1).split('::')
  const before = head === '' ? [] : head.split(':')
  const behind = tail === undefined || tail === '' ? [] : tail.split(':')
  const middle = Array.from({ length: 8 - before.length - behind.length }, () => '0')
  const groups = [...before, ...middle, ...behind]
  return groups.slice(0, 6).join(':') === '0:0:0:0:0:ffff'
    ? groups.slice(6).flatMap(asBytes).join('.')
    : groups.slice(0, 4).join(':')
}

/** The two bytes of a group of IPv6. */
const asBytes = (group: string): number[] => {
  const value = Number.parseInt(group, 16)
  return [value >> 8, value & 255]
}
