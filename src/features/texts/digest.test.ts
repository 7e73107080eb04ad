import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { codePointLength } from '../../core/text.ts'
import { isGraphemeBoundary } from '../../core/grapheme-boundary.ts'
import { proseSentences } from './digest-sentences.ts'
import { digestOf } from './digest.ts'

const ARTICLE = `Winter on the quay
By A. Roe

The harbour froze in January, and for forty days no ship could bring salt into the town. Merchants who had lent money on salt began to ask for it back, and the price of salt rose every day.

Dr. Poe, who kept the town's weather book, had seen ice in the harbour only twice before. The ice, he wrote, was thick enough to carry a loaded cart.

• cookies
• 12:40 pm

The price of salt made the merchants of the harbour quarrel over every debt. My aunt likes green hats with small feathers on them. The merchants who had lent money on salt began to ask for it back, and the price of salt rose each day.

When the ice broke, the first ship brought salt to the harbour and the price fell within a day. Debts that merchants had made over the winter were settled in a long lawsuit about salt.`

describe('digestOf', () => {
  const { sentences, excerpt } = digestOf(ARTICLE)

  it('gives three to seven sentences of the text, verbatim and in order', () => {
    expect(sentences.length).toBeGreaterThanOrEqual(3)
    expect(sentences.length).toBeLessThanOrEqual(7)
    const places = sentences.map((sentence) => ARTICLE.indexOf(sentence))
    expect(places.every((place) => place >= 0)).toBe(true)
    expect(places).toEqual(places.toSorted((a, b) => a - b))
  })

  it('takes what the text is about, not what is said by the way', () => {
    expect(sentences.join(' ')).toMatch(/salt/)
    expect(sentences.join(' ')).not.toMatch(/green hats/)
  })

  it('says nothing twice', () => {
    expect(sentences.filter((sentence) => sentence.includes('ask for it back')).length).toBeLessThanOrEqual(1)
  })

  it('looks at the whole of a text, not at its beginning', () => {
    const long = Array.from(
      { length: 300 },
      (_, n) => `Chapter ${n} tells how the merchants of town ${n} sold salt in the year ${1500 + n}.`,
    ).join(' ')
    const last = long.indexOf(digestOf(long).sentences.at(-1)!)
    expect(last).toBeGreaterThan(long.length / 2)
  })

  it('opens with the prose and ends at a sentence', () => {
    expect(excerpt.startsWith('The harbour froze in January')).toBe(true)
    expect(excerpt).toMatch(/[.]$/)
    expect(ARTICLE).toContain(excerpt)
  })

  it('reads scripts without spaces', () => {
    const text =
      '資料庫遷移前一定要先備份。如果沒有備份，遷移失敗時就無法回復原來的資料！備份完成之後，應該先在測試環境演練一次。你準備好了嗎？最後才在正式環境執行遷移，並且密切監控系統。'
    const digest = digestOf(text)
    expect(digest.sentences).toHaveLength(3)
    for (const sentence of digest.sentences) expect(sentence).toMatch(/^[^。！？]+[。！？]$/)
    expect(digest.excerpt).toBe(text)
  })

  it('gives pieces of a text that has no sentences, such as a transcript', () => {
    const transcript = Array.from({ length: 400 }, (_, n) => `and then we said number${n} of it`).join(' ')
    const { sentences: pieces, excerpt: opening } = digestOf(transcript)
    expect(pieces.length).toBeGreaterThanOrEqual(3)
    for (const piece of pieces) expect(transcript).toContain(piece)
    expect(opening).toMatch(/\S…$/)
  })

  it('gives what there is of a short text and nothing of none', () => {
    expect(digestOf('Only this one sentence stands in the whole of the text.')).toEqual({
      sentences: ['Only this one sentence stands in the whole of the text.'],
      excerpt: 'Only this one sentence stands in the whole of the text.',
    })
    expect(digestOf(' \n')).toEqual({ sentences: [], excerpt: '' })
  })

  it('never goes over 500 characters nor cuts one', () => {
    const word = fc.constantFrom(
      'word',
      '😀',
      '👨‍👩‍👧',
      'e\u0301e\u0301',
      '資料',
      'end.',
      '備份。',
      '\n',
      'x'.repeat(90),
    )
    const joint = fc.constantFrom('', ' ')
    fc.assert(
      fc.property(fc.array(word, { minLength: 1, maxLength: 400 }), joint, (words, space) => {
        const text = words.join(space)
        const { excerpt } = digestOf(text)
        expect(codePointLength(excerpt)).toBeLessThanOrEqual(500)
        const kept = excerpt.endsWith('…') ? excerpt.slice(0, -1) : excerpt
        const at = text.indexOf(kept)
        expect(at).toBeGreaterThanOrEqual(0)
        expect(isGraphemeBoundary(text, at + kept.length)).toBe(true)
      }),
    )
  })
})

describe('proseSentences', () => {
  it('does not end a sentence at initials, titles and small letters, nor in numbers', () => {
    const text =
      'Dr. A. Roe paid 3.50 crowns for salt on Dec. 15, e.g. in May. “Is that so much?” she asked the merchants there. It was!'
    expect(proseSentences(text).map(({ text }) => text)).toEqual([
      'Dr. A. Roe paid 3.50 crowns for salt on Dec. 15, e.g. in May.',
      '“Is that so much?” she asked the merchants there.',
    ])
  })
})
