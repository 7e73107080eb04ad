import { stat } from 'node:fs/promises'
import { expect, it } from 'vitest'
import { hashPassword, passwordFits, PASSWORD_COST } from './password.ts'

it('many passwords at once leave the rest of the process its threads', async () => {
  let stretched = 0
  const all = Array.from({ length: 24 }, async () => {
    await hashPassword('a password of somebody', PASSWORD_COST)
    stretched++
  })
  await stat(import.meta.filename)
  // Files wait behind all of them otherwise: the threads take what comes in its order.
  expect(stretched).toBeLessThan(8)
  await Promise.all(all)
  expect(stretched).toBe(24)
})

it('more than anybody would wait for are refused, and later ones are not', async () => {
  const all = await Promise.allSettled(
    Array.from({ length: 100 }, (_, n) => hashPassword(`password ${n}`, 10)),
  )
  const refused = all.filter(({ status }) => status === 'rejected')
  expect(refused).toHaveLength(34)
  expect(refused[0]).toMatchObject({ reason: { code: 'rate_limited', retryAfterSeconds: 10 } })
  const hash = await hashPassword('a later one', 10)
  expect([await passwordFits('a later one', hash), await passwordFits('another', hash)]).toEqual([
    true,
    false,
  ])
})
