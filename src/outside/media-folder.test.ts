import { createHash } from 'node:crypto'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { openMediaFolder } from './media-folder.ts'

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'media-'))
})
afterEach(() => {
  rmSync(folder, { recursive: true, force: true })
})

const bytes = new TextEncoder().encode('a picture')
const hash = createHash('sha256').update(bytes).digest('hex')
const place = () => join(folder, hash.slice(0, 2), hash.slice(2, 4), hash)

describe('openMediaFolder', () => {
  it('gives back what was put, by its hash', async () => {
    const media = openMediaFolder(folder)
    expect(await media.put(bytes)).toBe(hash)
    expect(await media.put(bytes)).toBe(hash)
    expect(await media.has(hash)).toBe(true)
    expect(await media.get(hash)).toEqual(bytes)
    expect(existsSync(place())).toBe(true)
    expect(readdirSync(join(folder, 'unfinished'))).toEqual([])
    await media.remove(hash)
    await media.remove(hash)
    expect(await media.has(hash)).toBe(false)
    expect(await media.get(hash)).toBeUndefined()
  })

  it('leaves what was put lately where only older files are to go, also where it had been there before', async () => {
    const media = openMediaFolder(folder)
    const hourAgo = new Date(Date.now() - 3_600_000)
    const long = new Date('2020-01-01')
    await media.put(bytes)
    await media.remove(hash, { putBefore: hourAgo })
    expect(await media.get(hash)).toEqual(bytes)
    utimesSync(place(), long, long)
    await media.put(bytes)
    await media.remove(hash, { putBefore: hourAgo })
    expect(await media.get(hash)).toEqual(bytes)
    utimesSync(place(), long, long)
    await media.remove(hash, { putBefore: hourAgo })
    expect(await media.get(hash)).toBeUndefined()
  })

  it('gives any stretch of a file', async () => {
    const media = openMediaFolder(folder)
    await media.put(bytes)
    const file = await media.open(hash)
    expect(file?.size).toBe(bytes.length)
    expect(await text(file!.read(2, 4))).toBe('pic')
    expect(await text(file!.read(0, bytes.length - 1))).toBe('a picture')
    expect(await media.open('0'.repeat(64))).toBeUndefined()
  })

  it('keeps an empty file', async () => {
    const media = openMediaFolder(folder)
    expect(await media.get(await media.put(new Uint8Array()))).toEqual(new Uint8Array())
  })

  it('takes the same file from many at once', async () => {
    const stores = Array.from({ length: 8 }, () => openMediaFolder(folder))
    expect(new Set(await Promise.all(stores.map((media) => media.put(bytes))))).toEqual(new Set([hash]))
    expect(await stores[0]?.get(hash)).toEqual(bytes)
    expect(readdirSync(join(folder, 'unfinished'))).toEqual([])
  })

  it('reads a damaged file as absent, tells of it, and mends it when it is put again', async () => {
    const damaged: string[] = []
    const media = openMediaFolder(folder, { onDamaged: (hash) => damaged.push(hash) })
    await media.put(bytes)
    writeFileSync(place(), 'something else')
    expect(await media.get(hash)).toBeUndefined()
    expect(damaged).toEqual([hash])
    await media.put(bytes)
    expect(await media.get(hash)).toEqual(bytes)
  })

  it('takes hashes alone for names, and follows no links', async () => {
    const media = openMediaFolder(folder)
    const outside = join(folder, 'secret')
    writeFileSync(outside, bytes)
    for (const name of ['../secret', 'secret', '', hash.toUpperCase(), `${hash}/../../../secret`]) {
      expect(await media.get(name)).toBeUndefined()
      expect(await media.has(name)).toBe(false)
      expect(await media.open(name)).toBeUndefined()
      await media.remove(name)
    }
    expect(existsSync(outside)).toBe(true)
    mkdirSync(join(place(), '..'), { recursive: true })
    symlinkSync(outside, place())
    expect(await media.get(hash)).toBeUndefined()
    expect(await media.has(hash)).toBe(false)
    await media.remove(hash)
    expect(existsSync(outside)).toBe(true)
  })

  it('clears away what was left half written, not what is being written', async () => {
    const unfinished = join(folder, 'unfinished')
    mkdirSync(unfinished)
    writeFileSync(join(unfinished, 'old'), 'x')
    utimesSync(join(unfinished, 'old'), new Date(0), new Date(0))
    writeFileSync(join(unfinished, 'new'), 'x')
    await openMediaFolder(folder).put(bytes)
    expect(readdirSync(unfinished)).toEqual(['new'])
  })

  it('fails with write_failed and a hint where it may not write', async () => {
    const file = join(folder, 'file')
    writeFileSync(file, 'x')
    chmodSync(file, 0o600)
    await expect(openMediaFolder(join(file, 'media')).put(bytes)).rejects.toMatchObject({
      code: 'write_failed',
      hint: expect.stringMatching(/\S/u),
    })
  })
})
