import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openRuntime } from './runtime.ts'

let folder: string
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'commonplace-runtime-'))
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const MINUTE = { ms: 60_000, most: 3 }
const DAY = { ms: 86_400_000, most: 5 }
const WINDOWS = [MINUTE, DAY] as const

describe('counting calls', () => {
  it('lets through as many as are allowed, and the next again when the window has passed', async () => {
    const { calls } = openRuntime(':memory:')
    for (let n = 0; n < 3; n++) expect(await calls.take('a', WINDOWS, 1_000)).toBeUndefined()
    expect(await calls.take('a', WINDOWS, 1_000)).toEqual({ window: MINUTE, until: 61_000 })
    expect(await calls.take('a', WINDOWS, 60_999)).toEqual({ window: MINUTE, until: 61_000 })
    expect(await calls.take('a', WINDOWS, 61_000)).toBeUndefined()
  })

  it('counts each key by itself, and nothing that it refused', async () => {
    const { calls } = openRuntime(':memory:')
    for (let n = 0; n < 3; n++) calls.take('a', WINDOWS, 0)
    for (let n = 0; n < 9; n++) expect((await calls.take('a', WINDOWS, 0))?.window).toBe(MINUTE)
    expect(await calls.take('b', WINDOWS, 0)).toBeUndefined()
    expect(await calls.take('a', WINDOWS, 60_000)).toBeUndefined()
    expect(await calls.take('a', WINDOWS, 60_000)).toBeUndefined()
    expect(await calls.take('a', WINDOWS, 60_000)).toEqual({ window: DAY, until: 86_400_000 })
    expect(await calls.take('a', WINDOWS, 86_400_000)).toBeUndefined()
  })

  it('is shared by all who have the file open, and forgets what is over', async () => {
    const file = join(folder, 'shared.db')
    const [one, two] = [openRuntime(file), openRuntime(file)]
    const taken = Array.from({ length: 8 }, (_, n) => (n % 2 ? one : two).calls.take('a', WINDOWS, 5))
    expect(taken.filter((refused) => refused === undefined)).toHaveLength(3)
    one.calls.sweep(DAY.ms + 5)
    expect(two.calls.take('a', WINDOWS, 6)).toBeUndefined()
    one.close()
    two.close()
  })
})

describe('work that is due', () => {
  it('is given to one, and again when it is marked or its lease has passed', async () => {
    const { work } = openRuntime(':memory:')
    work.mark('a', 10)
    work.mark('b', 20)
    expect(await work.claim(9, 100, 5)).toEqual([])
    expect((await work.claim(10, 100, 5)).map(({ library }) => library)).toEqual(['a'])
    expect(await work.claim(10, 100, 5)).toEqual([])
    expect((await work.claim(110, 100, 1)).map(({ library }) => library)).toEqual(['b'])
    expect((await work.claim(110, 100, 1)).map(({ library }) => library)).toEqual(['a'])
  })

  it('is not lost when it comes while the library is worked on', async () => {
    const { work } = openRuntime(':memory:')
    work.mark('a', 0)
    const [claimed] = await work.claim(0, 100, 1)
    work.mark('a', 5)
    work.settle(claimed!, 1_000)
    expect(await work.claim(5, 100, 1)).toHaveLength(1)
  })

  it('waits until the time it was put back for', async () => {
    const { work } = openRuntime(':memory:')
    work.mark('a', 0)
    work.settle((await work.claim(0, 100, 1))[0]!, 1_000)
    expect(await work.claim(999, 100, 1)).toEqual([])
    expect(await work.claim(1_000, 100, 1)).toHaveLength(1)
  })

  it('comes back at once when the process that had it is no more', async () => {
    const { work } = openRuntime(':memory:')
    work.introduce(['a', 'b'], 0)
    work.introduce(['a'], 5_000)
    expect(await work.claim(0, 100_000, 1)).toHaveLength(1)
    work.reclaim(1)
    expect(await work.claim(1, 100, 5)).toHaveLength(2)
    work.forget('a')
    work.reclaim(2)
    expect(await work.claim(2, 100, 5)).toHaveLength(1)
  })
})

it('a broken file is made anew', () => {
  const file = join(folder, 'broken.db')
  writeFileSync(file, 'not a database at all, and long enough to be looked at. '.repeat(100))
  const runtime = openRuntime(file)
  expect(runtime.calls.take('a', WINDOWS, 0)).toBeUndefined()
  runtime.close()
})
