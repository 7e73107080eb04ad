import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { LineReader } from './line-reader.ts'

function read(chunks: Buffer[], limit: number) {
  const lines: string[] = []
  const tooLong: [string, string][] = []
  const reader = new LineReader(limit, {
    line: (line) => lines.push(line),
    tooLong: (head, tail) => tooLong.push([head, tail]),
  })
  for (const chunk of chunks) reader.push(chunk)
  reader.end()
  return { lines, tooLong }
}

/** Cuts bytes at the given places. */
function cut(bytes: Buffer, places: number[]): Buffer[] {
  const ends = [...new Set([...places.map((place) => place % (bytes.length + 1)), bytes.length])].toSorted(
    (a, b) => a - b,
  )
  return ends.map((end, i) => bytes.subarray(ends[i - 1] ?? 0, end))
}

describe('LineReader', () => {
  it('gives the same lines however the bytes are cut', () => {
    const line = fc
      .string({ unit: 'grapheme' })
      .map((text) => text.replaceAll(/[\r\n\u2028\u2029]/gu, '').trim())
    fc.assert(
      fc.property(fc.array(line), fc.array(fc.nat()), (lines, places) => {
        const bytes = Buffer.from(lines.map((text) => `${text}\r\n`).join(''))
        expect(read(cut(bytes, places), 1e6)).toEqual({
          lines: lines.filter((text) => text !== ''),
          tooLong: [],
        })
      }),
    )
  })

  it('tells once of a line over the limit, with its ends, and reads the next', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1001, max: 5000 }), fc.array(fc.nat()), (size, places) => {
        const long = 'ab'.repeat(size).slice(0, size)
        const bytes = Buffer.from(`first\n${long}\n${'y'.repeat(1000)}\n`)
        const { lines, tooLong } = read(cut(bytes, places), 1000)
        expect(lines).toEqual(['first', 'y'.repeat(1000)])
        expect(tooLong).toEqual([[long.slice(0, 256), long.slice(-256)]])
      }),
    )
  })
})
