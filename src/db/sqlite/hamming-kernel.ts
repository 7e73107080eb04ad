import { assembleHammingScan } from './hamming-wasm.ts'

declare global {
  // As much of the interface as is used here: the types of Node 20 name it and leave it empty.
  namespace WebAssembly {
    class Memory {
      constructor(limits: { initial: number; maximum: number })
      readonly buffer: ArrayBuffer
      grow(pages: number): number
    }
    class Module {
      constructor(bytes: Uint8Array<ArrayBuffer>)
      static exports(module: Module): unknown[]
    }
    class Instance {
      constructor(module: Module, imports: { env: { memory: Memory } })
      readonly exports: Record<string, unknown>
    }
    function validate(bytes: Uint8Array<ArrayBuffer>): boolean
  }
}

/** Codes of one block; a block is scanned at once and brings its own room for the distances. */
export const BLOCK = 4096

/** Blocks of codes and the counting of bits in which they differ from a query. */
export interface HammingKernel {
  /** Counts of distances by distance, 0 to the bits of a code, over all scans since `startQuery`. */
  histogram(): Uint32Array
  /** Makes room for so many blocks. Views given before may be of no use afterwards. */
  reserve(blocks: number): void
  /** The codes of a block, one after the other. */
  codes(block: number): Uint8Array
  /** Distances of a block as its last scan left them. */
  distances(block: number): Uint16Array
  startQuery(code: Uint8Array): void
  /** Compares the first so many codes of a block with the query. */
  scan(block: number, count: number): void
}

/** Whether this machine runs the SIMD kernel. */
export function hasSimd(): boolean {
  return WebAssembly.validate(assembleHammingScan(1))
}

/** The fastest kernel that this machine has room for: WebAssembly reserves gigabytes of addresses beforehand. */
export function createKernel(words: number): HammingKernel {
  try {
    return hasSimd() ? createSimdKernel(words) : createPlainKernel(words)
  } catch (error) {
    if (error instanceof RangeError) return createPlainKernel(words)
    throw error
  }
}

const PAGE = 65_536

/**
 * The kernel in WebAssembly; `words` of 32 bits a code, a multiple of 4. Memory: the query, the histogram, then the blocks.
 */
export function createSimdKernel(words: number): HammingKernel {
  const bytes = words * 4
  const histogramAt = bytes
  const counters = bytes * 8 + 1
  const blocksAt = Math.ceil((histogramAt + counters * 4) / 64) * 64
  const blockBytes = BLOCK * (bytes + 2)
  const memory = new WebAssembly.Memory({ initial: Math.ceil(blocksAt / PAGE), maximum: PAGE })
  const module = new WebAssembly.Module(assembleHammingScan(words / 4))
  const { scan } = new WebAssembly.Instance(module, { env: { memory } }).exports
  if (typeof scan !== 'function') throw new TypeError('the kernel exports no scan')

  const codesAt = (block: number): number => blocksAt + block * blockBytes
  const distancesAt = (block: number): number => codesAt(block) + BLOCK * bytes
  const histogram = (): Uint32Array => new Uint32Array(memory.buffer, histogramAt, counters)
  return {
    histogram,
    reserve: (blocks) => {
      const missing = codesAt(blocks) - memory.buffer.byteLength
      if (missing <= 0) return
      // An eighth more than asked: growing is a system call, and memory that is not touched costs nothing.
      memory.grow(Math.ceil(Math.max(missing, memory.buffer.byteLength / 8) / PAGE))
    },
    codes: (block) => new Uint8Array(memory.buffer, codesAt(block), BLOCK * bytes),
    distances: (block) => new Uint16Array(memory.buffer, distancesAt(block), BLOCK),
    startQuery: (code) => {
      new Uint8Array(memory.buffer, 0, bytes).set(code)
      histogram().fill(0)
    },
    scan: (block, count) => {
      const from = codesAt(block)
      scan(from, from + count * bytes, 0, distancesAt(block), histogramAt)
    },
  }
}

/** The same in JavaScript, several times slower. */
export function createPlainKernel(words: number): HammingKernel {
  const blocks: { codes: Uint32Array<ArrayBuffer>; distances: Uint16Array }[] = []
  const query = new Uint32Array(words)
  const counts = new Uint32Array(words * 32 + 1)
  return {
    histogram: () => counts,
    reserve: (count) => {
      while (blocks.length < count) {
        blocks.push({ codes: new Uint32Array(BLOCK * words), distances: new Uint16Array(BLOCK) })
      }
    },
    codes: (block) => new Uint8Array(blocks[block]!.codes.buffer),
    distances: (block) => blocks[block]!.distances,
    startQuery: (code) => {
      new Uint8Array(query.buffer).set(code)
      counts.fill(0)
    },
    scan: (block, count) => {
      const { codes, distances } = blocks[block]!
      for (let i = 0; i < count; i++) {
        const distance = distanceAt(codes, i * words, query)
        distances[i] = distance
        counts[distance]!++
      }
    },
  }
}

/** Differing bits of two codes, given as words of 32 bits, the first of them at an offset. */
export function distanceAt(codes: Uint32Array, at: number, query: Uint32Array): number {
  let distance = 0
  for (let word = 0; word < query.length; word++) distance += popcount(codes[at + word]! ^ query[word]!)
  return distance
}

/** Set bits of a 32-bit number (Warren, Hacker's Delight, 5-1). */
function popcount(value: number): number {
  let v = value - ((value >>> 1) & 0x55555555)
  v = (v & 0x33333333) + ((v >>> 2) & 0x33333333)
  return Math.imul((v + (v >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24
}
