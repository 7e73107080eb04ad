import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { Failure } from '../core/failure.ts'
import { openRuntime } from '../db/runtime.ts'
import { createRateLimiter, type CallLimits } from './rate-limit.ts'

const LIMITS: CallLimits = {
  reads: { perMinute: 60, perDay: 2_000 },
  writes: { perMinute: 30, perDay: 500 },
}
const READ = { name: 'list_items', effect: 'read' } as const
const WRITE = { name: 'add_comment', effect: 'write' } as const
const SENSITIVE = { name: 'remove', effect: 'sensitive' } as const

function limiter(limits = LIMITS) {
  let now = 1_000_000
  const { admit } = createRateLimiter(openRuntime(':memory:').calls, limits, () => now)
  return {
    pass: (ms: number) => void (now += ms),
    async attempt(
      tool: typeof READ | typeof WRITE | typeof SENSITIVE = READ,
      connection = 'one',
    ): Promise<Failure | undefined> {
      try {
        return void (await admit(tool, connection))
      } catch (error) {
        if (error instanceof Failure) return error
        throw error
      }
    },
  }
}

describe('the limits of a connection', () => {
  it('are 60 reads and 30 writes a minute, each for itself', async () => {
    const { attempt, pass } = limiter()
    for (let n = 0; n < 60; n++) expect(await attempt()).toBeUndefined()
    for (let n = 0; n < 30; n++) expect(await attempt(n % 2 ? WRITE : SENSITIVE)).toBeUndefined()
    expect((await attempt())?.toJSON().error).toMatchObject({
      code: 'rate_limited',
      number: -32004,
      retryAfterSeconds: 60,
      details: { limit: 60, per: 'minute' },
    })
    expect((await attempt(SENSITIVE))?.details).toEqual({ limit: 30, per: 'minute' })
    expect(await attempt(READ, 'two')).toBeUndefined()
    pass(59_999)
    expect((await attempt())?.retryAfterSeconds).toBe(1)
    pass(1)
    expect(await attempt()).toBeUndefined()
  })

  it('are 2,000 reads a day as well', async () => {
    const { attempt, pass } = limiter()
    for (let n = 0; n < 2_000; n++) {
      if (n % 60 === 0) pass(60_000)
      expect(await attempt()).toBeUndefined()
    }
    // The day began with the first call, 33 minutes before the last.
    pass(60_000)
    const refused = await attempt()
    expect(refused?.details).toEqual({ limit: 2_000, per: 'day' })
    expect(refused?.retryAfterSeconds).toBe(86_400 - 34 * 60)
    pass(refused!.retryAfterSeconds! * 1000)
    expect(await attempt()).toBeUndefined()
  })

  it('never let more through than they say, and always what is waited for as told', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.integer({ min: 0, max: 40_000 }), { maxLength: 60 }),
        fc.integer({ min: 1, max: 5 }),
        async (pauses, most) => {
          const limits = { ...LIMITS, reads: { perMinute: most, perDay: 12 } }
          const { attempt, pass } = limiter(limits)
          let windowStart: number | undefined
          let inWindow = 0
          let at = 0
          for (const pause of pauses) {
            pass(pause)
            at += pause
            const refused = await attempt()
            if (refused) {
              if (refused.details?.['per'] === 'minute') expect(inWindow).toBe(most)
              continue
            }
            if (windowStart === undefined || at - windowStart >= 60_000) {
              windowStart = at
              inWindow = 0
            }
            inWindow++
            expect(inWindow).toBeLessThanOrEqual(most)
          }
          let waited = 0
          for (let refused = await attempt(); refused; refused = await attempt()) {
            pass(refused.retryAfterSeconds! * 1000)
            expect(++waited).toBeLessThanOrEqual(2)
          }
        },
      ),
      { numRuns: 200 },
    )
  })
})
