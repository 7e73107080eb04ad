import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { unzipSync } from 'fflate'
import { expect, it } from 'vitest'
import { writeZip, type ZipEntry } from './zip.ts'

const MODIFIED = new Date('2026-05-06T07:08:10Z')

async function packed(entries: readonly ZipEntry[]): Promise<Buffer> {
  const parts: Uint8Array[] = []
  for await (const part of writeZip(entries, MODIFIED)) parts.push(part)
  return Buffer.concat(parts)
}

const textOf = (bytes: Uint8Array | undefined): string => Buffer.from(bytes ?? []).toString('utf8')

it('holds what was put in, under any name, in pieces of any length', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.uniqueArray(
        fc.record({
          name: fc.string({ unit: 'grapheme', minLength: 1, maxLength: 40 }),
          pieces: fc.array(fc.oneof(fc.string({ unit: 'grapheme' }), fc.uint8Array())),
          isCompressed: fc.boolean(),
        }),
        { selector: ({ name }) => name.normalize(), maxLength: 5 },
      ),
      async (files) => {
        const named = files.map((file, n) => ({ ...file, name: `${n}-${file.name.replaceAll('/', '-')}` }))
        const archive = unzipSync(
          await packed(named.map(({ pieces, ...file }) => ({ ...file, content: pieces }))),
        )
        expect(Object.keys(archive).toSorted()).toEqual(named.map(({ name }) => name).toSorted())
        for (const { name, pieces } of named)
          expect(Buffer.from(archive[name] ?? [])).toEqual(
            Buffer.concat(pieces.map((piece) => Buffer.from(piece as string))),
          )
      },
    ),
    { numRuns: 60 },
  )
})

/** Longer than what is held in memory, so that its length comes behind it. */
function* long(lines: number): Generator<string> {
  for (let n = 0; n < lines; n++) yield `${n}: the heron stands in the shallows and waits\n`
}

it('of long files is read by a second program', async () => {
  const archive = await packed([
    { name: 'long.txt', content: long(100_000) },
    { name: 'short.txt', content: ['short'] },
    { name: 'stored.bin', content: [new Uint8Array(3_000_000)], isCompressed: true },
  ])
  const files = unzipSync(archive)
  expect(textOf(files['long.txt'])).toBe([...long(100_000)].join(''))
  expect(textOf(files['short.txt'])).toBe('short')
  expect(files['stored.bin']?.length).toBe(3_000_000)
  const folder = mkdtempSync(join(tmpdir(), 'commonplace-zip-'))
  try {
    writeFileSync(join(folder, 'a.zip'), archive)
    expect(checkedByPython(join(folder, 'a.zip'))).toMatch(/^(OK|no python)$/)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
})

it('of more than 65,535 files has them all', async () => {
  const count = 66_000
  const entries = Array.from({ length: count }, (_, n) => ({ name: `${n}`, content: [`${n}`] }))
  const archive = await packed(entries)
  const folder = mkdtempSync(join(tmpdir(), 'commonplace-zip-'))
  try {
    writeFileSync(join(folder, 'a.zip'), archive)
    expect(checkedByPython(join(folder, 'a.zip'), count)).toMatch(/^(OK|no python)$/)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
  expect(Object.keys(unzipSync(archive))).toHaveLength(count)
})

it('is none where an entry fails on the way', async () => {
  const broken: ZipEntry = {
    name: 'broken',
    content: (function* () {
      yield* long(50_000)
      throw new Error('the disk has gone')
    })(),
  }
  await expect(packed([broken])).rejects.toThrow('the disk has gone')
})

/** What Python's own reader says of every checksum, where there is one. */
function checkedByPython(path: string, count?: number): string {
  const program = `import sys, zipfile
z = zipfile.ZipFile(sys.argv[1])
bad = z.testzip()
print('OK' if bad is None and ${count === undefined ? 'True' : `len(z.namelist()) == ${count}`} else bad)`
  try {
    return execFileSync('python3', ['-c', program, path], { encoding: 'utf8' }).trim()
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return 'no python'
    throw error
  }
}
