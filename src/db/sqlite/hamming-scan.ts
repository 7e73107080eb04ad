import { BLOCK, createKernel, createPlainKernel, distanceAt, type HammingKernel } from './hamming-kernel.ts'
import { IdTable } from './hamming-ids.ts'

export interface CodeHit {
  id: number
  /** Differing bits, 0 to 32 times the words of a code. */
  distance: number
}

/**
 * The sign bits of all vectors, held in memory and compared one by one with those of a query: 74 to 100 bytes a vector of
 * 512 dimensions, ids included. Ids are whole numbers below 2⁵³.
 */
export class CodeIndex {
  #bytes: number
  #kernel: HammingKernel
  #ids = new IdTable()

  /** `words` of 32 bits a code, a multiple of 4; `simd: false` takes the plain JavaScript kernel. */
  constructor(words = 16, { simd = true }: { simd?: boolean } = {}) {
    if (!Number.isInteger(words / 4) || words <= 0) throw new RangeError(`codes of ${words} words`)
    this.#bytes = words * 4
    this.#kernel = simd ? createKernel(words) : createPlainKernel(words)
  }

  get size(): number {
    return this.#ids.size
  }

  has(id: number): boolean {
    return this.#ids.indexOf(id) >= 0
  }

  /** Adds a code, or puts it in the place of the one of this id. */
  add(id: number, code: Uint8Array): void {
    this.addMany([id], code)
  }

  /** Adds the codes that lie one after the other in `codes`: all, or none where it throws a RangeError. */
  addMany(ids: ArrayLike<number>, codes: Uint8Array): void {
    const bytes = this.#bytes
    if (codes.length !== ids.length * bytes) {
      throw new RangeError(`${codes.length} bytes for ${ids.length} codes of ${bytes}`)
    }
    for (let i = 0; i < ids.length; i++)
      if (!Number.isSafeInteger(ids[i])) throw new RangeError(`no id: ${ids[i]}`)
    this.#kernel.reserve(Math.ceil((this.size + ids.length) / BLOCK))
    // Codes of new ids take places one after the other: such a run is copied at once.
    let start = 0
    let place = 0
    const copyUpTo = (end: number): void => {
      for (let i = start; i < end;) {
        const room = Math.min(end - i, BLOCK - (place % BLOCK))
        const target = this.#kernel.codes(Math.floor(place / BLOCK))
        target.set(codes.subarray(i * bytes, (i + room) * bytes), (place % BLOCK) * bytes)
        i += room
        place += room
      }
    }
    for (let i = 0; i < ids.length; i++) {
      const index = this.#ids.add(ids[i]!)
      if (i > start && index === place + i - start) continue
      copyUpTo(i)
      start = i
      place = index
    }
    copyUpTo(ids.length)
  }

  /** Removes a code; the last one takes its place. Says whether there was one. */
  remove(id: number): boolean {
    const moved = this.#ids.remove(id)
    if (!moved) return false
    const { from, to } = moved
    if (from !== to) this.#code(to).set(this.#code(from))
    return true
  }

  /**
   * The nearest codes, nearest first, equal distances by id. With `accept`, only those whose id it accepts; it is asked in
   * the order of the hits until there are enough, and must not change the index.
   */
  search(code: Uint8Array, count: number, accept?: (id: number) => boolean): CodeHit[] {
    if (code.length !== this.#bytes)
      throw new RangeError(`a code of ${code.length} bytes, not ${this.#bytes}`)
    if (!(count > 0)) return []
    this.#kernel.startQuery(code)
    for (let block = 0; block * BLOCK < this.size; block++) {
      this.#kernel.scan(block, Math.min(BLOCK, this.size - block * BLOCK))
    }
    const hits: CodeHit[] = []
    let least = 0
    for (let wanted = count; least <= this.#bytes * 8 && hits.length < count; wanted *= 4) {
      const most = this.#reach(least, wanted)
      for (const hit of this.#collect(least, most)) {
        if (accept && !accept(hit.id)) continue
        hits.push(hit)
        if (hits.length === count) break
      }
      least = most + 1
    }
    return hits
  }

  /**
   * The nearest codes among those of some ids (each once; unknown ones are passed over), in the order of `search`. Some
   * thousand ids take a millisecond, where `search` with a filter that lets few pass must look at nearly all.
   */
  searchAmong(code: Uint8Array, ids: Iterable<number>, count: number): CodeHit[] {
    if (code.length !== this.#bytes)
      throw new RangeError(`a code of ${code.length} bytes, not ${this.#bytes}`)
    const query = wordsOf(code.slice())
    const blocks: Uint32Array[] = []
    const hits: CodeHit[] = []
    for (const id of ids) {
      const index = this.#ids.indexOf(id)
      if (index < 0) continue
      const block = Math.floor(index / BLOCK)
      const words = (blocks[block] ??= wordsOf(this.#kernel.codes(block)))
      hits.push({ id, distance: distanceAt(words, (index % BLOCK) * query.length, query) })
    }
    return hits.toSorted((a, b) => a.distance - b.distance || a.id - b.id).slice(0, Math.max(0, count))
  }

  #code(index: number): Uint8Array {
    const at = (index % BLOCK) * this.#bytes
    return this.#kernel.codes(Math.floor(index / BLOCK)).subarray(at, at + this.#bytes)
  }

  /** The smallest distance at which so many codes lie, not counting those nearer than `least`. */
  #reach(least: number, wanted: number): number {
    const histogram = this.#kernel.histogram()
    let most = least
    let found = histogram[least]!
    while (found < wanted && most < this.#bytes * 8) found += histogram[++most]!
    return most
  }

  /** All codes from one distance to another in their order: a counting sort by distance, then by id in each. */
  *#collect(least: number, most: number): Generator<CodeHit> {
    const counts = this.#kernel.histogram().slice(least, most + 1)
    const ends: number[] = []
    let total = 0
    for (const count of counts) ends.push((total += count))
    const places = ends.map((end, i) => end - counts[i]!)
    const ids = new Float64Array(total)
    for (let block = 0; block * BLOCK < this.size; block++) {
      const distances = this.#kernel.distances(block)
      const length = Math.min(BLOCK, this.size - block * BLOCK)
      for (let i = 0; i < length; i++) {
        const distance = distances[i]!
        if (distance > most || distance < least) continue
        ids[places[distance - least]!++] = this.#ids.at(block * BLOCK + i)
      }
    }
    for (const [i, end] of ends.entries()) {
      for (const id of ids.subarray(end - counts[i]!, end).toSorted()) yield { id, distance: least + i }
    }
  }
}

const wordsOf = ({ buffer, byteOffset, length }: Uint8Array): Uint32Array =>
  new Uint32Array(buffer, byteOffset, length / 4)
