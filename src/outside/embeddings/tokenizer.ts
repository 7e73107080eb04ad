import type { Vocabulary } from './vocabulary.ts'

/** Stands before every word in the pieces of a SentencePiece vocabulary (U+2581). */
const MARKER = '\u2581'
const UNKNOWN = 0
/** Words kept with their ids; the cache is emptied when it is full. */
const CACHED_WORDS = 20_000
const LONGEST_CACHED_WORD = 32

/**
 * The white space of a text folded to single spaces, which is what SentencePiece does before it tokenizes. The model's own
 * tokenizer leaves it out: a line break became an unknown piece and moved the vector of a text by up to 24 % (cosine .76).
 */
export function cleanWhiteSpace(text: string): string {
  return text.replace(/[\s\u200b\ufeff]+/gu, ' ').trim()
}

/**
 * Cuts text into the pieces of a SentencePiece unigram vocabulary of greatest total log probability (Kudo 2018, "Subword
 * Regularization"; Viterbi search), with the same ids as the tokenizer of `@tensorflow-models/universal-sentence-encoder`.
 *
 * Every word is cut by itself and remembered, which is exact because no piece reaches over the start of a word. Habits of
 * the original that the model's vectors depend on are kept: only U+0020 separates words, an unknown symbol costs nothing
 * and runs of them become one `<unk>`, and a best score of exactly 0 counts as not set, so that the first word (which
 * starts from 0) may be cut in another way than the same word later.
 */
export class Tokenizer {
  #vocabulary: Vocabulary
  #words = new Map<string, number[]>()
  #classes = new Int32Array(256)
  #scores = new Float64Array(256)
  #back = new Int32Array(256)

  constructor(vocabulary: Vocabulary) {
    this.#vocabulary = vocabulary
  }

  /** Piece ids of a text, the first `limit` of them. The empty text has none. */
  encode(input: string, limit = Infinity): number[] {
    const text = input.normalize('NFKC')
    if (text.length === 0) return []
    if (text.includes(MARKER)) return this.#cut(MARKER + text.replaceAll(' ', MARKER), 0).slice(0, limit)
    const ids: number[] = []
    for (let start = 0; ids.length < limit;) {
      const space = text.indexOf(' ', start)
      const end = space < 0 ? text.length : space
      for (const id of this.#word(text.slice(start, end), start === 0)) ids.push(id)
      if (space < 0) break
      start = space + 1
    }
    return ids.length > limit ? ids.slice(0, limit) : ids
  }

  #word(word: string, first: boolean): number[] {
    const key = first ? MARKER + word : word
    const known = this.#words.get(key)
    if (known) return known
    // Any start other than 0 will do: scores are sums, so what came before does not change the best way on.
    const ids = this.#cut(MARKER + word, first ? 0 : -Math.PI)
    if (word.length <= LONGEST_CACHED_WORD) {
      if (this.#words.size >= CACHED_WORDS) this.#words.clear()
      this.#words.set(key, ids)
    }
    return ids
  }

  /** Classes of the code points of a text into `#classes`; gives their number. A lone surrogate is one of them. */
  #classify(text: string): number {
    if (this.#classes.length <= text.length) {
      this.#classes = new Int32Array(text.length * 2)
      this.#scores = new Float64Array(text.length * 2)
      this.#back = new Int32Array(text.length * 2)
    }
    let length = 0
    for (let i = 0; i < text.length; i++) {
      const codePoint = text.codePointAt(i)!
      if (codePoint > 0xffff) i++
      this.#classes[length++] = this.#vocabulary.classOf(codePoint)
    }
    return length
  }

  #cut(text: string, initial: number): number[] {
    const { base, owner, target, pieceAt, scoreAt, lengthOf } = this.#vocabulary
    const length = this.#classify(text)
    const [classes, scores, back] = [this.#classes, this.#scores, this.#back]
    scores.fill(0, 0, length + 1)
    back.fill(UNKNOWN, 0, length + 1)
    scores[0] = initial

    const improve = (end: number, score: number, piece: number): void => {
      const best = scores[end]!
      if (best !== 0 && score < best) return
      scores[end] = score
      back[end] = piece
    }
    for (let start = 0; start < length; start++) {
      const before = scores[start]!
      let node = 0
      let found = false
      for (let end = start; end < length && classes[end] !== 0; end++) {
        const slot = base[node]! + classes[end]!
        if (owner[slot] !== node) break
        node = target[slot]!
        if (pieceAt[node]! < 0) continue
        found = true
        improve(end + 1, before + scoreAt[node]!, pieceAt[node]!)
      }
      if (!found) improve(start + 1, before, UNKNOWN)
    }

    const ids: number[] = []
    for (let at = length; at > 0;) {
      const piece = back[at]!
      if (piece !== UNKNOWN || ids.at(-1) !== UNKNOWN) ids.push(piece)
      at -= piece === UNKNOWN ? 1 : lengthOf[piece]!
    }
    return ids.toReversed()
  }
}
