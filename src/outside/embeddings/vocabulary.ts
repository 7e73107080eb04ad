/**
 * The pieces of a SentencePiece unigram vocabulary as a trie in flat arrays (a double array: the child of node `n` by the
 * class `c` lies at `base[n] + c`, and is there when `owner` of that slot is `n`).
 */
export interface Vocabulary {
  /** Dense class of a code point, 0 for one that no piece holds. */
  classOf(codePoint: number): number
  base: Int32Array
  owner: Int32Array
  target: Int32Array
  /** Id of the piece that ends at a node, -1 where none does. */
  pieceAt: Int32Array
  /** Log probability of the piece that ends at a node, 0 where none does. */
  scoreAt: Float64Array
  /** Code points of a piece by its id. */
  lengthOf: Uint8Array
}

/** A piece and its log probability. */
export type Piece = [piece: string, score: number | null]

/** `<unk>`, `<s>`, `</s>` and three more at the start of the list are never found in a text. */
const RESERVED = 6
const MAGIC = 0x31766f63 // 'cov1'
const DIRECT = 0x3000
const ARRAYS = 7

/**
 * Builds the trie and writes it as bytes for `openVocabulary`, which then loads in a millisecond instead of a tenth of a
 * second. A score of null counts as 0 and a piece listed twice keeps its last id, as in the original tokenizer. Throws when
 * words would depend on each other: when a piece holds the word marker anywhere but at its start, or the marker alone is
 * none.
 */
export function packVocabulary(pieces: Piece[]): Uint8Array {
  if (!pieces.some(([piece]) => piece === '\u2581')) throw new Error('the word marker is no piece')
  const classes = new Map<number, number>()
  const nodes: { children: Map<number, number>; piece: number }[] = [{ children: new Map(), piece: -1 }]
  for (const [id, [piece]] of pieces.entries()) {
    if (id < RESERVED) continue
    if (piece.lastIndexOf('\u2581') > 0) throw new Error(`a word marker inside the piece ${piece}`)
    let at = 0
    for (const symbol of piece) {
      const codePoint = symbol.codePointAt(0)!
      const of = classes.get(codePoint) ?? classes.size + 1
      classes.set(codePoint, of)
      const children = nodes[at]!.children
      at = children.get(of) ?? nodes.push({ children: new Map(), piece: -1 }) - 1
      children.set(of, at)
    }
    nodes[at]!.piece = id
  }

  const base = new Int32Array(nodes.length)
  const owner: number[] = []
  const target: number[] = []
  let free = 0
  for (const [n, { children }] of nodes.entries()) {
    const keys = [...children.keys()]
    if (keys.length === 0) continue
    let start = Math.max(0, free - keys[0]!)
    for (let tries = 1; keys.some((key) => owner[start + key] !== undefined); tries++) {
      start++
      if (tries === 32) free = start // crowded up to here: costs a little space and saves the search
    }
    base[n] = start
    for (const key of keys) {
      owner[start + key] = n
      target[start + key] = children.get(key)!
    }
    while (owner[free] !== undefined) free++
  }
  // A node with no child of a class may look past the last slot, by as much as there are classes.
  const slots = owner.length + classes.size + 1

  const scores = nodes.map(({ piece }) => (piece < 0 ? 0 : (pieces[piece]![1] ?? 0)))
  return packArrays([
    Float64Array.from(scores),
    Int32Array.from(classes.keys()),
    base,
    Int32Array.from({ length: slots }, (_, slot) => owner[slot] ?? -1),
    Int32Array.from({ length: slots }, (_, slot) => target[slot] ?? 0),
    Int32Array.from(nodes, ({ piece }) => piece),
    Uint8Array.from(pieces, ([piece]) => [...piece].length),
  ])
}

/** A header of the magic number and the byte length of each array, then the arrays, each at a multiple of 8. */
function packArrays(arrays: (Float64Array | Int32Array | Uint8Array)[]): Uint8Array {
  const header = new Uint32Array(1 + ARRAYS)
  header[0] = MAGIC
  const out = new Uint8Array(
    header.byteLength + arrays.reduce((sum, array) => sum + padded(array.byteLength), 0),
  )
  let at = header.byteLength
  for (const [i, array] of arrays.entries()) {
    header[1 + i] = array.byteLength
    out.set(new Uint8Array(array.buffer, array.byteOffset, array.byteLength), at)
    at += padded(array.byteLength)
  }
  out.set(new Uint8Array(header.buffer))
  return out
}

const padded = (length: number): number => (length + 7) & ~7

/** The vocabulary of bytes made by `packVocabulary`; throws a RangeError on others. */
export function openVocabulary(packed: Uint8Array): Vocabulary {
  const bytes = packed.slice() // aligned to its own buffer
  const header = new Uint32Array(bytes.buffer, 0, 1 + ARRAYS)
  if (header[0] !== MAGIC) throw new RangeError('not a packed vocabulary')
  let at = header.byteLength
  const next = (i: number): [buffer: ArrayBuffer, offset: number, length: number] => {
    const from = at
    const length = header[1 + i]!
    at += padded(length)
    return [bytes.buffer, from, length]
  }
  const integers = (i: number): Int32Array => {
    const [buffer, offset, length] = next(i)
    return new Int32Array(buffer, offset, length / 4)
  }
  const [buffer, offset, length] = next(0)
  const scoreAt = new Float64Array(buffer, offset, length / 8)
  const codePoints = integers(1)
  const [base, owner, target, pieceAt] = [integers(2), integers(3), integers(4), integers(5)]

  const direct = new Int32Array(DIRECT)
  const further = new Map<number, number>()
  for (const [i, codePoint] of codePoints.entries()) {
    if (codePoint < DIRECT) direct[codePoint] = i + 1
    else further.set(codePoint, i + 1)
  }
  return {
    classOf: (codePoint) => (codePoint < DIRECT ? direct[codePoint]! : (further.get(codePoint) ?? 0)),
    base,
    owner,
    target,
    pieceAt,
    scoreAt,
    lengthOf: new Uint8Array(...next(6)),
  }
}
