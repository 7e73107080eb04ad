/**
 * Assembles the WebAssembly module that counts differing bits (WebAssembly 1.0 binary format plus the 128-bit SIMD
 * instructions of 2.0). It imports `env.memory` and exports
 *
 *     scan(codes, end, query, distances, histogram)
 *
 * All five are addresses: codes lie from `codes` up to `end`, one after the other; the distance of each goes as 16 bits to
 * `distances`, and the 32-bit counter of that distance in `histogram` goes up by one. For one code of `vectors` × 16 bytes:
 *
 *     bytes   = Σ popcnt(code[k] ^ query[k])      16 lanes of 8 bits, at most 31 terms before they could overflow
 *     lanes  += pairwise sums of bytes             8 lanes of 16 bits
 *     distance = (low64(lanes) + high64(lanes)) · 0x0001000100010001 >>> 48
 *
 * where the product gathers the four 16-bit sums in its highest lane.
 */
export function assembleHammingScan(vectors: number): Uint8Array<ArrayBuffer> {
  const types = section(1, vector([[0x60, ...vector([[I32], [I32], [I32], [I32], [I32]]), ...vector([])]]))
  const memory = [...name('env'), ...name('memory'), 0x02, 0x00, 1]
  const imports = section(2, vector([memory]))
  const functions = section(3, vector([[0]]))
  const exports = section(7, vector([[...name('scan'), 0x00, 0]]))
  const body = scanBody(vectors)
  const code = section(10, vector([[...unsigned(body.length), ...body]]))
  return Uint8Array.from([
    0x00,
    0x61,
    0x73,
    0x6d,
    1,
    0,
    0,
    0,
    ...types,
    ...imports,
    ...functions,
    ...exports,
    ...code,
  ])
}

const I32 = 0x7f
const V128 = 0x7b

/** Most terms whose 8-bit sums hold: 31 × 8 bits < 256. */
const MOST_TERMS = 31

function unsigned(value: number): number[] {
  const out: number[] = []
  do {
    const rest = value >>> 7
    out.push(rest > 0 ? (value & 0x7f) | 0x80 : value & 0x7f)
    value = rest
  } while (value > 0)
  return out
}

function signed(value: bigint): number[] {
  const out: number[] = []
  for (;;) {
    const low = Number(value & 0x7fn)
    value >>= 7n
    const done = (value === 0n && (low & 0x40) === 0) || (value === -1n && (low & 0x40) !== 0)
    out.push(done ? low : low | 0x80)
    if (done) return out
  }
}

const vector = (items: number[][]): number[] => [...unsigned(items.length), ...items.flat()]
const section = (id: number, content: number[]): number[] => [id, ...unsigned(content.length), ...content]
const name = (text: string): number[] => vector([...text].map((symbol) => [symbol.charCodeAt(0)]))
const simd = (opcode: number, ...rest: number[]): number[] => [0xfd, ...unsigned(opcode), ...rest]

const get = (local: number): number[] => [0x20, ...unsigned(local)]
const set = (local: number): number[] => [0x21, ...unsigned(local)]
const int32 = (value: number): number[] => [0x41, ...signed(BigInt(value))]
const int64 = (value: bigint): number[] => [0x42, ...signed(value)]
const BYTES = 0
const load128 = (offset: number): number[] => simd(0x00, BYTES, ...unsigned(offset))

const op = {
  end: [0x0b],
  block: [0x02, 0x40],
  loop: [0x03, 0x40],
  branch: (depth: number): number[] => [0x0c, depth],
  branchIf: (depth: number): number[] => [0x0d, depth],
  loadI32: [0x28, 2, 0],
  storeI32: [0x36, 2, 0],
  storeI16: [0x3b, 1, 0],
  addI32: [0x6a],
  shiftLeftI32: [0x74],
  atLeastI32: [0x4f], // unsigned
  wrap: [0xa7],
  addI64: [0x7c],
  multiplyI64: [0x7e],
  shiftRightI64: [0x88], // unsigned
  xor: simd(0x51),
  popcount: simd(0x62),
  addBytes: simd(0x6e),
  pairwise: simd(0x7d), // i16x8.extadd_pairwise_i8x16_u
  addLanes: simd(0x8e), // i16x8.add
  half: (lane: number): number[] => simd(0x1d, lane), // i64x2.extract_lane
}

function scanBody(vectors: number): number[] {
  const [codes, end, query, distances, histogram, distance, counter, lanes] = [0, 1, 2, 3, 4, 5, 6, 7]
  const queryPart = (k: number): number => 8 + k
  const parts = Array.from({ length: vectors }, (_, k) => k)

  const differing = (k: number): number[] => [
    ...get(codes),
    ...load128(16 * k),
    ...get(queryPart(k)),
    ...op.xor,
    ...op.popcount,
  ]
  const groups: number[] = []
  for (let from = 0; from < vectors; from += MOST_TERMS) {
    const group = parts.slice(from, from + MOST_TERMS)
    groups.push(...group.flatMap((k, i) => [...differing(k), ...(i > 0 ? op.addBytes : [])]), ...op.pairwise)
    if (from > 0) groups.push(...get(lanes), ...op.addLanes)
    groups.push(...set(lanes))
  }
  const step = (local: number, by: number): number[] => [
    ...get(local),
    ...int32(by),
    ...op.addI32,
    ...set(local),
  ]

  // prettier-ignore
  const instructions = [
    parts.flatMap((k) => [...get(query), ...load128(16 * k), ...set(queryPart(k))]),
    op.block,
    op.loop,
    get(codes), get(end), op.atLeastI32, op.branchIf(1),
    groups,
    get(lanes), op.half(0), get(lanes), op.half(1), op.addI64,
    int64(0x0001000100010001n), op.multiplyI64, int64(48n), op.shiftRightI64, op.wrap, set(distance),
    get(distances), get(distance), op.storeI16,
    get(histogram), get(distance), int32(2), op.shiftLeftI32, op.addI32, set(counter),
    get(counter), get(counter), op.loadI32, int32(1), op.addI32, op.storeI32,
    step(codes, 16 * vectors),
    step(distances, 2),
    op.branch(0),
    op.end,
    op.end,
    op.end,
  ].flat()
  return [
    ...vector([
      [2, I32],
      [1 + vectors, V128],
    ]),
    ...instructions,
  ]
}
