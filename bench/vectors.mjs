#!/usr/bin/env node
// Speed of the scan of sign bits: 400 nearest of N codes of 512 dimensions, on one core.
//
//   node bench/vectors.mjs [--sizes 100000,1000000] [--json]
import { parseArgs } from 'node:util'
import { bundle } from '../scripts/bundle.mjs'

const { values: options } = parseArgs({
  options: {
    sizes: { type: 'string', default: '100000,1000000' },
    json: { type: 'boolean', default: false },
  },
})
const { CodeIndex } = await bundle('src/db/sqlite/hamming-scan.ts')

const BYTES = 64
const QUERIES = 40

/** Repeatable noise (xorshift32). */
function noise(bytes) {
  const words = new Uint32Array(bytes / 4)
  let state = 2463534242
  for (let i = 0; i < words.length; i++) {
    state ^= state << 13
    state ^= state >>> 17
    state ^= state << 5
    words[i] = state
  }
  return new Uint8Array(words.buffer)
}

const at = (numbers, share) =>
  Number(numbers.toSorted((a, b) => a - b)[Math.floor(share * (numbers.length - 1))].toFixed(2))

function measure(count, simd) {
  const codes = noise(count * BYTES)
  const index = new CodeIndex(BYTES / 4, { simd })
  const from = performance.now()
  index.addMany(
    Float64Array.from({ length: count }, (_, i) => i * 3),
    codes,
  )
  const addMs = performance.now() - from
  index.search(codes.subarray(0, BYTES), 400)
  const wall = []
  const cpu = []
  for (let i = 0; i < QUERIES; i++) {
    const query = noise(BYTES * (i + 2)).subarray(BYTES * (i + 1))
    const start = process.cpuUsage()
    const began = performance.now()
    index.search(query, 400)
    wall.push(performance.now() - began)
    const used = process.cpuUsage(start)
    cpu.push((used.user + used.system) / 1000)
  }
  return {
    codes: count,
    kernel: simd ? 'WebAssembly' : 'JavaScript',
    addMs: Math.round(addMs),
    p50Ms: at(wall, 0.5),
    p95Ms: at(wall, 0.95),
    cpuP50Ms: at(cpu, 0.5),
  }
}

const results = options.sizes
  .split(',')
  .map(Number)
  .flatMap((count) => [measure(count, true), measure(count, false)])
if (options.json) console.log(JSON.stringify(results))
else console.table(results)
