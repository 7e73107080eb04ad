import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { codeLength } from '../../db/vectors.ts'
import { dotQuantised, quantise, signCode } from './quantise.ts'

const vectors = (length: number): fc.Arbitrary<Float32Array> =>
  fc.float32Array({ minLength: length, maxLength: length, min: -1, max: 1, noNaN: true })

/** The vector that a blob stands for, no longer of exact unit length. */
function dequantise(blob: Uint8Array): Float32Array {
  const scale = new DataView(blob.buffer).getFloat32(0, true)
  return Float32Array.from(new Int8Array(blob.buffer, 4), (value) => value * scale)
}

describe('quantise', () => {
  it('keeps one sign bit a dimension, lowest first', () => {
    const code = signCode(Float32Array.of(0.5, -0.5, 0, 0.1, -1, -1, -1, -1, 0.2))
    expect([...code.subarray(0, 2)]).toEqual([0b0000_1001, 0b0000_0001])
    expect(code).toHaveLength(16)
  })

  it('makes codes of whole 16 bytes', () => {
    expect([256, 384, 512, 768, 1000, 1536].map(codeLength)).toEqual([32, 48, 64, 96, 128, 192])
  })

  it('stores a scale and an int8 a dimension', () => {
    const { blob } = quantise(Float32Array.of(1, -0.25, 0))
    expect(new DataView(blob.buffer).getFloat32(0, true)).toBe(Math.fround(1 / 127))
    expect([...new Int8Array(blob.buffer, 4)]).toEqual([127, -32, 0])
  })

  it('is off by half a scale at most in every number', () => {
    fc.assert(
      fc.property(vectors(32), (vector) => {
        const { blob } = quantise(vector)
        const scale = new DataView(blob.buffer).getFloat32(0, true)
        dequantise(blob).forEach((value, i) => {
          expect(Math.abs(value - vector[i]!)).toBeLessThanOrEqual(scale * 0.5001)
        })
      }),
    )
  })

  it('takes a product as that of the restored vector, wherever the blob lies in its buffer', () => {
    fc.assert(
      fc.property(vectors(48), vectors(48), (vector, query) => {
        const { blob } = quantise(vector)
        const inside = new Uint8Array(blob.length + 3)
        inside.set(blob, 3)
        const exact = dequantise(blob).reduce((sum, value, i) => sum + value * query[i]!, 0)
        expect(dotQuantised(query, inside.subarray(3))).toBeCloseTo(exact, 5)
      }),
    )
  })

  it('survives the zero vector and refuses another number of dimensions', () => {
    const { blob, code } = quantise(new Float32Array(512))
    expect(dotQuantised(new Float32Array(512).fill(1), blob)).toBe(0)
    expect(code.every((byte) => byte === 0)).toBe(true)
    expect(() => dotQuantised(new Float32Array(256), blob)).toThrow(RangeError)
  })
})
