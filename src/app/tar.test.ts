import { execFileSync, spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { Readable } from 'node:stream'
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { readTar, writeTar, type TarEntry } from './tar.ts'

async function* entriesOf(files: readonly (readonly [string, Uint8Array])[]): AsyncGenerator<TarEntry> {
  for (const [name, bytes] of files)
    yield { name, size: bytes.length, content: Readable.from(bytes.length ? [bytes] : []) }
}

const pack = async (files: readonly (readonly [string, Uint8Array])[]) =>
  new Uint8Array(await buffer(Readable.from(writeTar(entriesOf(files), new Date('2026-11-30T12:00:00Z')))))

async function* inPieces(bytes: Uint8Array, size: number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size)
}

async function unpack(bytes: Uint8Array, piece = 1_000): Promise<[string, Uint8Array][]> {
  const files: [string, Uint8Array][] = []
  for await (const { name, content } of readTar(inPieces(bytes, piece)))
    files.push([name, new Uint8Array(await buffer(Readable.from(content)))])
  return files
}

describe('tar', () => {
  it('gives back what was packed, however it is cut on the way', async () => {
    const file = fc.tuple(fc.stringMatching(/^[a-z0-9/]{1,90}$/), fc.uint8Array({ maxLength: 1_500 }))
    await fc.assert(
      fc.asyncProperty(
        fc.array(file, { maxLength: 5 }),
        fc.integer({ min: 1, max: 2_000 }),
        async (files, piece) => {
          expect(await unpack(await pack(files), piece)).toEqual(files)
        },
      ),
      { numRuns: 40 },
    )
  })

  it('passes over what nobody reads', async () => {
    const names: string[] = []
    const packed = await pack([
      ['a', new Uint8Array(2_000)],
      ['b', new Uint8Array(3)],
    ])
    for await (const { name } of readTar(inPieces(packed, 700))) names.push(name)
    expect(names).toEqual(['a', 'b'])
  })

  it('refuses an archive that ends too early or is none', async () => {
    const packed = await pack([['a', new Uint8Array(2_000)]])
    await expect(unpack(packed.subarray(0, 1_200))).rejects.toThrow('ends too early')
    await expect(unpack(new Uint8Array(2_048).fill(65))).rejects.toThrow('not a tar archive')
  })

  it.skipIf(spawnSync('tar', ['--version']).status !== 0)('is what tar reads', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'commonplace-tar-'))
    try {
      const path = join(folder, 'a.tar')
      writeFileSync(
        path,
        await pack([
          ['media/one', Buffer.from('hello')],
          ['two', new Uint8Array(600)],
        ]),
      )
      expect(execFileSync('tar', ['-tf', path], { encoding: 'utf8' })).toBe('media/one\ntwo\n')
      expect(execFileSync('tar', ['-xOf', path, 'media/one'], { encoding: 'utf8' })).toBe('hello')
    } finally {
      rmSync(folder, { recursive: true })
    }
  })
})
