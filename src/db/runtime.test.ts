import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, inject, it } from 'vitest'
import { onPostgres, runtimeAt, serverDatabase } from '../../test/support/server-database.ts'
import { openRuntime, type Runtime } from './runtime.ts'

let folder: string
let opened: Runtime[] = []
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'commonplace-runtime-'))
})
afterEach(async () => {
  for (const runtime of opened) await runtime.close()
  opened = []
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** So many processes that share one place. */
async function share(count: number): Promise<Runtime[]> {
  const place = onPostgres ? await serverDatabase(inject('postgresUrl')) : join(folder, `${Math.random()}.db`)
  const made = Array.from({ length: count }, () => runtimeAt(place))
  opened.push(...made)
  return made
}
const alone = async (): Promise<Runtime> => (await share(1))[0]!

const MINUTE = { ms: 60_000, most: 3 }
const DAY = { ms: 86_400_000, most: 5 }
const WINDOWS = [MINUTE, DAY] as const

describe('counting calls', () => {
  it('lets through as many as are allowed, and the next again when the window has passed', async () => {
    const { calls } = await alone()
    for (let n = 0; n < 3; n++) expect(await calls.take('a', WINDOWS, 1_000)).toBeUndefined()
    expect(await calls.take('a', WINDOWS, 1_000)).toEqual({ window: MINUTE, until: 61_000 })
    expect(await calls.take('a', WINDOWS, 60_999)).toEqual({ window: MINUTE, until: 61_000 })
    expect(await calls.take('a', WINDOWS, 61_000)).toBeUndefined()
  })

  it('counts each key by itself, and nothing that it refused', async () => {
    const { calls } = await alone()
    for (let n = 0; n < 3; n++) await calls.take('a', WINDOWS, 0)
    for (let n = 0; n < 9; n++) expect((await calls.take('a', WINDOWS, 0))?.window).toBe(MINUTE)
    expect(await calls.take('b', WINDOWS, 0)).toBeUndefined()
    expect(await calls.take('a', WINDOWS, 60_000)).toBeUndefined()
    expect(await calls.take('a', WINDOWS, 60_000)).toBeUndefined()
    expect(await calls.take('a', WINDOWS, 60_000)).toEqual({ window: DAY, until: 86_400_000 })
    expect(await calls.take('a', WINDOWS, 86_400_000)).toBeUndefined()
  })

  it('is shared by all processes, and forgets what is over', async () => {
    const [one, two] = (await share(2)) as [Runtime, Runtime]
    const taken = []
    for (let n = 0; n < 8; n++) taken.push(await (n % 2 ? one : two).calls.take('a', WINDOWS, 5))
    expect(taken.filter((refused) => refused === undefined)).toHaveLength(3)
    await one.calls.sweep(DAY.ms + 5)
    expect(await two.calls.take('a', WINDOWS, 6)).toBeUndefined()
  })

  it('is exact at the boundary, whoever counts at once', async () => {
    const processes = await share(3)
    const most = { ms: 60_000, most: 40 }
    const taken = await Promise.all(
      Array.from({ length: 150 }, (_, n) =>
        processes[n % 3]!.calls.take('a', [most, { ...DAY, most: 100 }], 5),
      ),
    )
    expect(taken.filter((refused) => refused === undefined)).toHaveLength(40)
  })
})

describe('work that is due', () => {
  it('is given to one, and again when it is marked or its lease has passed', async () => {
    const { work } = await alone()
    await work.mark('a', 10)
    await work.mark('b', 20)
    expect(await work.claim(9, 100, 5)).toEqual([])
    expect((await work.claim(10, 100, 5)).map(({ library }) => library)).toEqual(['a'])
    expect(await work.claim(10, 100, 5)).toEqual([])
    expect((await work.claim(110, 100, 1)).map(({ library }) => library)).toEqual(['b'])
    expect((await work.claim(110, 100, 1)).map(({ library }) => library)).toEqual(['a'])
  })

  it('is not lost when it comes while the library is worked on', async () => {
    const { work } = await alone()
    await work.mark('a', 0)
    const [claimed] = await work.claim(0, 100, 1)
    await work.mark('a', 5)
    await work.settle(claimed!, 1_000)
    expect(await work.claim(5, 100, 1)).toHaveLength(1)
  })

  it('is counted as long as nobody has it, with the time of the oldest', async () => {
    const { work } = await alone()
    expect(await work.overdue(5_000)).toEqual({ count: 0 })
    await work.mark('a', 1_000)
    await work.mark('b', 2_000)
    await work.mark('c', 9_000)
    expect(await work.overdue(5_000)).toEqual({ count: 2, since: 1_000 })
    await work.claim(5_000, 60_000, 1)
    expect(await work.overdue(5_000)).toEqual({ count: 1, since: 2_000 })
  })

  it('waits until the time it was put back for', async () => {
    const { work } = await alone()
    await work.mark('a', 0)
    await work.settle((await work.claim(0, 100, 1))[0]!, 1_000)
    expect(await work.claim(999, 100, 1)).toEqual([])
    expect(await work.claim(1_000, 100, 1)).toHaveLength(1)
  })

  it('comes back when the process that had it is no more', async () => {
    const { work } = await alone()
    await work.introduce(['a', 'b'], 0)
    await work.introduce(['a'], 5_000)
    expect(await work.claim(0, 100_000, 1)).toHaveLength(1)
    await work.reclaim(1)
    // Of a machine that is elsewhere only the lease says that it is gone.
    const at = onPostgres ? 100_000 : 1
    expect(await work.claim(at, 100, 5)).toHaveLength(2)
    await work.forget('a')
    expect(await work.claim(at + 100, 100, 5)).toHaveLength(1)
  })

  it('is kept by whoever says so, unless it was marked meanwhile', async () => {
    const { work } = await alone()
    await work.mark('a', 0)
    const [claim] = await work.claim(0, 100, 1)
    await work.renew(claim!, 200)
    expect(await work.claim(199, 100, 1)).toEqual([])
    await work.mark('a', 150)
    await work.renew(claim!, 900)
    expect(await work.claim(150, 100, 1)).toHaveLength(1)
  })

  it('is given to one process each, whoever asks at once', async () => {
    const processes = await share(3)
    const libraries = Array.from({ length: 30 }, (_, n) => `library ${n}`)
    await processes[0]!.work.introduce(libraries, 0)
    const claims = await Promise.all(
      Array.from({ length: 12 }, async (_, n) => processes[n % 3]!.work.claim(0, 1_000, 4)),
    )
    const given = claims.flat().map(({ library }) => library)
    expect(new Set(given).size).toBe(given.length)
    const rest = await processes[0]!.work.claim(0, 1_000, 30)
    expect([...given, ...rest.map(({ library }) => library)].toSorted()).toEqual(libraries.toSorted())
  })
})

it.skipIf(onPostgres)('a broken file is made anew', async () => {
  const file = join(folder, 'broken.db')
  writeFileSync(file, 'not a database at all, and long enough to be looked at. '.repeat(100))
  const runtime = openRuntime(file)
  expect(await runtime.calls.take('a', WINDOWS, 0)).toBeUndefined()
  runtime.close()
})
