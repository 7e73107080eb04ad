import { codeLength } from '../../db/vectors.ts'

/**
 * The two stored forms of a unit vector: its sign bits, which are scanned in memory, and 8-bit numbers with a scale, which
 * are read from the database to put the best of the scan in their order. A code is a multiple of 16 bytes long, whatever
 * the number of dimensions.
 */
export interface QuantisedVector {
  /** One bit a dimension, lowest bit first: set where the number is above 0. 64 bytes for 512 dimensions. */
  code: Uint8Array
  /** A float32 scale (little-endian), then one int8 a dimension; a number is about scale × int8. */
  blob: Uint8Array
}

const SCALE_BYTES = 4

/** The sign bits of a vector, filled up with zeros. */
export function signCode(vector: Float32Array): Uint8Array {
  const code = new Uint8Array(codeLength(vector.length))
  for (let i = 0; i < vector.length; i++) if (vector[i]! > 0) code[i >> 3]! |= 1 << (i & 7)
  return code
}

/** Both stored forms of a vector. Symmetric rounding to the largest number: the error is at most half a scale each. */
export function quantise(vector: Float32Array): QuantisedVector {
  let largest = 0
  for (const value of vector) largest = Math.max(largest, Math.abs(value))
  const scale = Math.fround(largest / 127)
  const blob = new Uint8Array(SCALE_BYTES + vector.length)
  new DataView(blob.buffer).setFloat32(0, scale, true)
  const numbers = new Int8Array(blob.buffer, SCALE_BYTES)
  if (scale > 0) for (let i = 0; i < vector.length; i++) numbers[i] = Math.round(vector[i]! / scale)
  return { code: signCode(vector), blob }
}

/**
 * The product of a query vector and the vector of a blob, without rounding in between: for unit vectors their cosine, to
 * about ±.01. Throws a RangeError when the dimensions differ.
 */
export function dotQuantised(query: Float32Array, blob: Uint8Array): number {
  const { scale, numbers } = open(blob)
  if (numbers.length !== query.length) {
    throw new RangeError(`${numbers.length} dimensions against ${query.length}`)
  }
  let sum = 0
  for (let i = 0; i < query.length; i++) sum += query[i]! * numbers[i]!
  return sum * scale
}

/** The vector of a blob, as far as its bytes tell. */
export function restoreVector(blob: Uint8Array): Float32Array {
  const { scale, numbers } = open(blob)
  return Float32Array.from(numbers, (number) => number * scale)
}

function open(blob: Uint8Array): { scale: number; numbers: Int8Array } {
  return {
    scale: new DataView(blob.buffer, blob.byteOffset).getFloat32(0, true),
    numbers: new Int8Array(blob.buffer, blob.byteOffset + SCALE_BYTES, blob.byteLength - SCALE_BYTES),
  }
}
