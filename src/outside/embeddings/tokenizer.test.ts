import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { Tokenizer, cleanWhiteSpace } from './tokenizer.ts'
import { openVocabulary, packVocabulary, type Piece } from './vocabulary.ts'

const RESERVED: Piece[] = ['\ufffd', '<s>', '</s>', 'x1', 'x2', 'x3'].map((piece) => [piece, 0])
const tokenizerOf = (pieces: Piece[]): Tokenizer =>
  new Tokenizer(openVocabulary(packVocabulary([...RESERVED, ...pieces])))

const pieces: Piece[] = [
  ['▁', -4],
  ['▁sea', -2],
  ['▁s', -3],
  ['e', -3],
  ['a', -3],
  ['ea', -5],
  ['weed', -2],
  ['▁seaweed', -9],
  [':', null],
  ['漢', -4],
]

describe('Tokenizer', () => {
  const tokenizer = tokenizerOf(pieces)
  const cut = (text: string): string[] =>
    tokenizer.encode(text).map((id) => (id === 0 ? '<unk>' : pieces[id - RESERVED.length]![0]))

  it('takes the pieces of greatest probability', () => {
    expect(cut('seaweed sea')).toEqual(['▁sea', 'weed', '▁sea'])
  })

  it('makes one unknown piece of a run of unknown symbols', () => {
    expect(cut('sea zzz 漢😀')).toEqual(['▁sea', '▁', '<unk>', '▁', '漢', '<unk>'])
    expect(cut('')).toEqual([])
  })

  it('lets a piece without a score win, as the original does', () => {
    expect(cut('sea:')).toEqual(['▁sea', ':'])
  })

  it('folds compatibility forms and stops at the limit', () => {
    expect(cut('ｓｅａ')).toEqual(['▁sea'])
    expect(tokenizer.encode('sea sea seaweed sea', 3)).toEqual(tokenizer.encode('sea sea sea'))
  })

  it('cuts word by word as the whole text would be cut', () => {
    const symbols = ['a', 'b', 'c', ':', '😀', '漢', '\ud83d']
    const body = fc.array(fc.constantFrom(...symbols), { minLength: 1, maxLength: 4 }).map((s) => s.join(''))
    // No word may begin with a score of exactly 0 but the first: its start always costs something.
    const piece = fc.oneof(
      fc.tuple(body, fc.constantFrom(-1, -2, -2.5, -3, -7, null, 0)),
      fc.tuple(
        body.map((body) => `▁${body}`),
        fc.constantFrom(-1, -2, -2.5, -7),
      ),
    )
    const vocabulary = fc.uniqueArray(piece, { maxLength: 30, selector: ([piece]) => piece })
    const text = fc
      .array(fc.constantFrom(...symbols, ' ', ' ', 'x'), { maxLength: 30 })
      .map((s) => s.join(''))
    fc.assert(
      fc.property(vocabulary, text, (pieces, text) => {
        const all: Piece[] = [['▁', -3], ...pieces]
        const tokenizer = tokenizerOf(all)
        tokenizer.encode(text) // the words are remembered now
        expect(tokenizer.encode(text)).toEqual(viterbi([...RESERVED, ...all], text))
      }),
      { numRuns: 500 },
    )
  })
})

/** The original's algorithm, over the whole text at once. */
function viterbi(pieces: Piece[], text: string): number[] {
  if (text === '') return []
  const symbols = [...`▁${text.normalize('NFKC').replaceAll(' ', '▁')}`]
  const ids = new Map(pieces.map(([piece], id) => [piece, id] as const).slice(RESERVED.length))
  const best = Array.from({ length: symbols.length + 1 }, () => ({ score: 0, id: 0 }))
  for (let start = 0; start < symbols.length; start++) {
    const ways: [end: number, score: number, id: number][] = []
    for (let end = start + 1; end <= symbols.length; end++) {
      const id = ids.get(symbols.slice(start, end).join(''))
      if (id !== undefined) ways.push([end, pieces[id]![1] ?? 0, id])
    }
    if (ways.length === 0) ways.push([start + 1, 0, 0])
    for (const [end, score, id] of ways) {
      const total = best[start]!.score + score
      if (best[end]!.score === 0 || total >= best[end]!.score) best[end] = { score: total, id }
    }
  }
  const found: number[] = []
  for (let at = symbols.length; at > 0;) {
    const { id } = best[at]!
    if (id !== 0 || found[0] !== 0) found.unshift(id)
    at -= id === 0 ? 1 : [...pieces[id]![0]].length
  }
  return found
}

describe('cleanWhiteSpace', () => {
  it('leaves single spaces', () => {
    expect(cleanWhiteSpace('\ufeff one\t two\r\n\nthree\u00a0four\u200b ')).toBe('one two three four')
  })
})

describe('packed vocabulary', () => {
  it('refuses other bytes and pieces that reach over a word', () => {
    expect(() => openVocabulary(new Uint8Array(64))).toThrow(RangeError)
    expect(() => packVocabulary([...RESERVED, ...pieces, ['of▁the', -3]])).toThrow('word marker')
    expect(() => packVocabulary(RESERVED)).toThrow('word marker')
  })

  it('opens wherever the bytes lie in their buffer', () => {
    const packed = packVocabulary([...RESERVED, ...pieces])
    const inside = new Uint8Array(packed.length + 1)
    inside.set(packed, 1)
    expect(new Tokenizer(openVocabulary(inside.subarray(1))).encode('sea')).toEqual([7])
  })
})
