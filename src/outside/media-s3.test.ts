import { createHash, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { readdirSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { startS3Server, type S3Server } from '../../test/support/s3-server.ts'
import { openMediaS3, type MediaS3, type MediaS3Options } from './media-s3.ts'

const bytes = new TextEncoder().encode('a picture')
const hashOf = (what: Uint8Array): string => createHash('sha256').update(what).digest('hex')
const hash = hashOf(bytes)
const QUICK: MediaS3Options = { attempts: 3, delayMs: 1, timeoutMs: 300 }

let store: S3Server
beforeAll(async () => {
  store = await startS3Server()
})
afterAll(() => store.close())

let media: MediaS3
const open = (prefix = 'libraries/one', options?: MediaS3Options): MediaS3 =>
  (media = openMediaS3(store.config, prefix, options))
afterEach(async () => {
  await openMediaS3(store.config, 'libraries').removeAll()
})

describe('openMediaS3', () => {
  it('gives back what was put, by its hash', async () => {
    open()
    expect(await media.put(bytes)).toBe(hash)
    expect(await media.put(bytes)).toBe(hash)
    expect(await media.has(hash)).toBe(true)
    expect(await media.get(hash)).toEqual(bytes)
    await media.remove(hash)
    await media.remove(hash)
    expect(await media.has(hash)).toBe(false)
    expect(await media.get(hash)).toBeUndefined()
  })

  it('keeps an empty file, and one of several megabytes', async () => {
    open()
    const large = new Uint8Array(randomBytes(9_000_000))
    expect(await media.get(await media.put(new Uint8Array()))).toEqual(new Uint8Array())
    const given = await media.get(await media.put(large))
    expect(Buffer.compare(given ?? new Uint8Array(), large)).toBe(0)
  })

  it('gives any stretch of a file', async () => {
    open()
    await media.put(bytes)
    const file = await media.open(hash)
    expect(file?.size).toBe(bytes.length)
    expect(await text(file!.read(2, 4))).toBe('pic')
    expect(await text(file!.read(0, bytes.length - 1))).toBe('a picture')
    expect(await media.open(hash.replace(/./, (first) => (first === 'a' ? 'b' : 'a')))).toBeUndefined()
  })

  it('keeps prefixes apart', async () => {
    await open('libraries/one').put(bytes)
    open('libraries/on')
    expect(await media.has(hash)).toBe(false)
    expect(await media.usage()).toEqual({ files: 0, bytes: 0 })
    expect(await media.removeAll()).toBe(0)
    expect(await open('libraries/one').get(hash)).toEqual(bytes)
  })

  it('leaves what was put lately where only older files are to go', async () => {
    open()
    const hourAgo = new Date(Date.now() - 3_600_000)
    await media.put(bytes)
    await media.remove(hash, { putBefore: hourAgo })
    expect(await media.get(hash)).toEqual(bytes)
    await media.remove(hash, { putBefore: new Date(Date.now() + 3_600_000) })
    expect(await media.get(hash)).toBeUndefined()
    await media.remove(hash, { putBefore: hourAgo })
  })

  it('counts an object that is put again as put just now', async () => {
    open()
    await media.put(bytes)
    const between = new Date(Date.now() + 1_000)
    await new Promise((resolve) => setTimeout(resolve, 2_100))
    await media.put(bytes)
    await media.remove(hash, { putBefore: between })
    expect(await media.has(hash)).toBe(true)
  })

  it('takes the same file from many at once', async () => {
    const stores = Array.from({ length: 8 }, () => open())
    expect(new Set(await Promise.all(stores.map((one) => one.put(bytes))))).toEqual(new Set([hash]))
    expect(await media.usage()).toEqual({ files: 1, bytes: bytes.length })
  })

  it('reads a damaged object as absent, tells of it, and mends it when it is put again', async () => {
    const damaged: string[] = []
    open('libraries/one', { onDamaged: (which) => damaged.push(which) })
    await media.put(bytes)
    const kept = join(store.folder, 'libraries/one', `${hash}._S3rver_object`)
    writeFileSync(kept, 'something else')
    expect(await media.get(hash)).toBeUndefined()
    expect(damaged).toEqual([hash])
    await media.put(bytes)
    expect(await media.get(hash)).toEqual(bytes)
  })

  it('takes hashes alone for names, and prefixes that stay below themselves', async () => {
    open('libraries/one')
    await media.put(bytes)
    open('libraries/two')
    for (const name of [`../one/${hash}`, '', hash.toUpperCase(), `${hash}?x`, `%2e%2e/one/${hash}`]) {
      expect(await media.get(name)).toBeUndefined()
      expect(await media.has(name)).toBe(false)
      await media.remove(name)
    }
    for (const prefix of ['', '/', '..', 'libraries/../x', 'libraries/', 'a//b', 'a?b'])
      expect(() => openMediaS3(store.config, prefix)).toThrow(RangeError)
    expect(await open('libraries/one').has(hash)).toBe(true)
  })

  it('removes and counts more than the store lists at once', async () => {
    await open('libraries/other').put(bytes)
    open('libraries/many', { pageSize: 7 })
    const many = Array.from({ length: 23 }, (_, n) => new TextEncoder().encode(`file ${n}`))
    await Promise.all(many.map((one) => media.put(one)))
    const size = many.reduce((sum, { length }) => sum + length, 0)
    expect(await media.usage()).toEqual({ files: 23, bytes: size })
    expect(await media.removeAll()).toBe(23)
    expect(await media.usage()).toEqual({ files: 0, bytes: 0 })
    expect(readdirSync(join(store.folder, 'libraries'))).toEqual(['other'])
  })
})

describe('a store that is not as it should be', () => {
  const calls: [string, (of: MediaS3) => Promise<unknown>][] = [
    ['put', (of) => of.put(bytes)],
    ['get', (of) => of.get(hash)],
    ['has', (of) => of.has(hash)],
    ['remove', (of) => of.remove(hash)],
    ['removeAll', (of) => of.removeAll()],
    ['check', (of) => of.check()],
  ]

  it.each(calls)('%s says that the key or the secret is wrong', async (_name, call) => {
    for (const other of [{ secret: 'other' }, { key: 'OTHER' }]) {
      const wrong = openMediaS3({ ...store.config, ...other }, 'libraries/one', QUICK)
      await expect(call(wrong)).rejects.toMatchObject({
        code: 'unavailable',
        hint: expect.stringContaining('COMMONPLACE_S3_SECRET'),
      })
    }
  })

  it('that is in another region says so', async () => {
    const elsewhere = openMediaS3({ ...store.config, region: 'eu-west-3' }, 'libraries/one', QUICK)
    await expect(elsewhere.get(hash)).rejects.toMatchObject({
      code: 'unavailable',
      hint: expect.stringContaining('COMMONPLACE_S3_REGION'),
    })
  })

  it.each(calls)('%s says that there is no such bucket', async (_name, call) => {
    const url = store.config.url.replace(/media$/, 'elsewhere')
    const absent = openMediaS3({ ...store.config, url }, 'libraries/one', QUICK)
    await expect(call(absent)).rejects.toMatchObject({
      code: 'unavailable',
      message: expect.stringContaining('bucket'),
      hint: expect.stringContaining('COMMONPLACE_S3_URL'),
    })
  })

  it('is unavailable while the store is away, and goes on when it is back', async () => {
    open('libraries/one', QUICK)
    await media.put(bytes)
    await store.stop()
    for (const [, call] of calls) await expect(call(media)).rejects.toMatchObject({ code: 'unavailable' })
    await store.start()
    expect(await media.get(hash)).toEqual(bytes)
    rmSync(join(store.folder, 'libraries'), { recursive: true, force: true })
    expect(await media.has(hash)).toBe(false)
  })

  it('waits for a store that comes back in the meantime', async () => {
    await store.stop()
    const waiting = open('libraries/one', { attempts: 8, delayMs: 50 }).put(bytes)
    await store.start()
    expect(await waiting).toBe(hash)
  })
})

/** A door in front of the store that fails as proxies and overloaded stores do. */
describe('on the way to the store', () => {
  let door: Server
  let trouble: 'none' | '503' | 'hang' | 'half' | 'elsewhere' | 'whole' = 'none'
  let failures = 0
  let requests: string[] = []
  let hungUp: Promise<unknown> = Promise.resolve()
  beforeAll(async () => {
    door = createServer((req, res) => {
      requests.push(`${req.method}`)
      const fails = failures-- > 0
      if (fails && trouble === '503')
        return void res.writeHead(503).end('<Error><Code>SlowDown</Code></Error>')
      if (fails && trouble === 'hang') return
      if (fails && trouble === 'whole') {
        hungUp = once(res, 'close')
        return void res.writeHead(200, { 'content-length': '100' }).write('all of')
      }
      if (fails && trouble === 'elsewhere')
        return void res.writeHead(301, { location: 'http://127.0.0.1:1/' }).end()
      if (fails) {
        res.writeHead(200, { 'content-length': '100' }).write('half of')
        return void setTimeout(() => res.destroy(), 5)
      }
      if (req.method === 'GET') res.writeHead(200).end(bytes)
      else req.resume().once('end', () => res.writeHead(200).end())
    })
    await new Promise<void>((resolve) => door.listen(0, '127.0.0.1', resolve))
  })
  afterAll(() => {
    door.closeAllConnections()
    door.close()
  })

  const through = (options = QUICK): MediaS3 => {
    const url = `http://127.0.0.1:${(door.address() as AddressInfo).port}/media`
    return openMediaS3({ ...store.config, url }, 'one', options)
  }
  const withTrouble = (kind: typeof trouble, times: number): void => {
    ;[trouble, failures, requests] = [kind, times, []]
  }

  it.each(['503', 'hang', 'half'] as const)('what failed with %s is asked for again', async (kind) => {
    withTrouble(kind, 2)
    expect(await through().get(hash)).toEqual(bytes)
    withTrouble(kind, 1)
    expect(await through().put(bytes)).toBe(hash)
    expect(requests).toEqual(['PUT', 'PUT'])
    withTrouble(kind, 3)
    await expect(through().get(hash)).rejects.toMatchObject({ code: 'unavailable' })
    expect(requests).toHaveLength(3)
  })

  it('who asks for a stretch and is given all hangs up at once', async () => {
    withTrouble('none', 0)
    const file = await through({ timeoutMs: 60_000 }).open(hash)
    withTrouble('whole', 1)
    await expect(text(file!.read(2, 4))).rejects.toMatchObject({ code: 'unavailable' })
    await hungUp
  })

  it('what may have been put just now stays, where the store does not say when', async () => {
    withTrouble('none', 0)
    await through().remove(hash, { putBefore: new Date(Date.now() + 3_600_000) })
    expect(requests).toEqual(['HEAD'])
  })

  it('no redirect is followed', async () => {
    withTrouble('elsewhere', 1)
    await expect(through().get(hash)).rejects.toMatchObject({
      code: 'unavailable',
      hint: expect.stringContaining('COMMONPLACE_S3_REGION'),
    })
  })
})
