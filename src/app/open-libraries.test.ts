import { setTimeout as wait } from 'node:timers/promises'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { testLibrary } from '../../test/support/library.ts'
import { openLibraries } from './open-libraries.ts'
import type { LocalLibrary } from './open-local.ts'

/** Libraries that only say when they are opened and closed, and notice being used while closed. */
async function world(most: number) {
  const library = await testLibrary()
  const open = new Map<string, number>()
  const log: string[] = []
  let broken = false
  const libraries = openLibraries(async (readerId) => {
    await wait(1)
    if (broken) throw new Error('broken')
    log.push(`open ${readerId}`)
    open.set(readerId, (open.get(readerId) ?? 0) + 1)
    return {
      library,
      close: async () => {
        await wait(1)
        log.push(`close ${readerId}`)
        open.set(readerId, open.get(readerId)! - 1)
      },
    } as unknown as LocalLibrary
  }, most)
  return { libraries, open, log, breakIt: (value: boolean) => void (broken = value) }
}

describe('libraries of many readers', () => {
  it('are opened once however many want them at the same time, and kept', async () => {
    const { libraries, log } = await world(2)
    await Promise.all(Array.from({ length: 5 }, () => libraries.use('a', async () => wait(2))))
    await libraries.use('a', async () => {})
    expect(log).toEqual(['open a'])
    await libraries.closeAll()
    expect(log).toEqual(['open a', 'close a'])
  })

  it('make room for others, the one used longest ago first', async () => {
    const { libraries, log } = await world(2)
    for (const reader of ['a', 'b', 'a', 'c']) await libraries.use(reader, async () => {})
    await libraries.use('b', async () => {})
    await libraries.closeAll()
    expect(log.slice(0, 4)).toEqual(['open a', 'open b', 'open c', 'close b'])
    expect(log.filter((line) => line === 'open a')).toHaveLength(1)
  })

  it('are never closed while in use, even beyond the bound', async () => {
    const { libraries, log, open } = await world(1)
    await libraries.use('a', async () => {
      await libraries.use('b', async () => {
        expect([open.get('a'), open.get('b')]).toEqual([1, 1])
      })
      await wait(5)
      expect(log).not.toContain('close a')
    })
    await wait(5)
    expect(libraries.size).toBe(1)
    await libraries.closeAll()
  })

  it('are tried again after they could not be opened', async () => {
    const { libraries, breakIt } = await world(1)
    breakIt(true)
    await expect(libraries.use('a', async () => 1)).rejects.toThrow('broken')
    breakIt(false)
    await wait(0)
    expect(await libraries.use('a', async () => 2)).toBe(2)
    await libraries.closeAll()
  })

  it('are closed for good only when nobody uses them any more', async () => {
    const { libraries, open } = await world(3)
    let still = false
    const using = libraries.use('a', async () => {
      await wait(10)
      still = open.get('a') === 1
    })
    await wait(3)
    await libraries.closeAll()
    expect(still).toBe(true)
    await using
    await expect(libraries.use('a', async () => {})).rejects.toThrow('ending')
  })

  it('can be used once more by whoever uses them when they are to be closed', async () => {
    const { libraries, log } = await world(3)
    let closing: Promise<void> | undefined
    const again = await libraries.use('a', async () => {
      closing = libraries.close('a')
      return libraries.use('a', async () => [...log])
    })
    await closing
    expect(again).toEqual(['open a'])
    expect(log).toEqual(['open a', 'close a'])

    const ending = await libraries.use('b', async () => {
      closing = libraries.closeAll()
      return libraries.use('b', async () => 'kept')
    })
    await closing
    expect(ending).toBe('kept')
    expect(log).toEqual(['open a', 'close a', 'open b', 'close b'])
  })

  it('are open exactly once for whoever uses them, in whatever order they come', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(
          fc.record({
            reader: fc.constantFrom('a', 'b', 'c', 'd'),
            ms: fc.nat({ max: 3 }),
            close: fc.boolean(),
          }),
          { maxLength: 30 },
        ),
        fc.integer({ min: 1, max: 3 }),
        async (steps, most) => {
          const { libraries, open } = await world(most)
          const counts: (number | undefined)[] = []
          await Promise.all(
            steps.map(async ({ reader, ms, close }) => {
              await wait(ms)
              if (close) return libraries.close(reader)
              await libraries.use(reader, async () => {
                counts.push(open.get(reader))
                await wait(ms)
                counts.push(open.get(reader))
              })
            }),
          )
          expect(counts.every((count) => count === 1)).toBe(true)
          await wait(4)
          expect(libraries.size).toBeLessThanOrEqual(most)
          await libraries.closeAll()
          expect([...open.values()].every((count) => count === 0)).toBe(true)
        },
      ),
      { numRuns: 40 },
    )
  })
})
