import { describe, expect, it } from 'vitest'
import * as fc from 'fast-check'
import { codePointLength, sliceCodePoints } from '../../core/text.ts'
import { pickPassages } from './pick-passages.ts'

const ARTICLE = `Winter on the quay
By A. Roe

The harbour froze in January, and for forty days no ship could bring salt into the town. Merchants who had lent money on salt began to ask for it back, and the price of salt rose every day.

Dr. Poe, who kept the town's weather book, had seen ice in the harbour only twice before. The ice, he wrote, was thick enough to carry a loaded cart.

We use cookies to improve your experience of the harbour, of the salt and of the merchants.

The price of salt made the merchants of the harbour quarrel over every debt. My aunt likes green hats with small feathers on them. The merchants who had lent money on salt began to ask for it back, and the price of salt rose each day.

When the ice broke, the first ship brought salt to the harbour and the price fell within a day. Debts that merchants had made over the winter were settled in a long lawsuit about salt.

References

Roe, A. The price of salt in the harbour towns of the north, and what the merchants made of it.`

const pick = (plain: string, options = {}) =>
  pickPassages({}, { title: 'Winter on the quay', plain, language: 'en', ...options })

describe('pickPassages', () => {
  it('picks verbatim sentences of what the text is about', async () => {
    const { passages, by, remark } = await pick(ARTICLE)
    expect(by).toBe('built-in')
    expect(remark).toBeUndefined()
    expect(passages).toHaveLength(1)
    const { quote } = passages[0]!
    expect(ARTICLE).toContain(quote)
    expect(quote).toMatch(/salt/)
    expect(quote).not.toMatch(/cookies|Roe, A|green hats/)
    expect(quote).toMatch(/^\p{Lu}.*\.$/u)
  })

  it('gives about one passage in 300 words, at most 40, never the same thought twice', async () => {
    const long = (sentences: number) =>
      Array.from(
        { length: sentences },
        (_, n) =>
          `The merchants of town${n} sold their salt because harbour${n * 7} froze, and never market${n * 3} again. `,
      ).join('')
    expect((await pick(long(80))).passages.length).toBeGreaterThanOrEqual(3)
    const most = (await pick(long(3_000))).passages
    expect(most.length).toBeLessThanOrEqual(40)
    const repeated = 'The harbour froze in January, and no ship could bring salt into the town. '.repeat(500)
    expect((await pick(repeated)).passages).toHaveLength(1)
  })

  it('gives nothing of nothing', async () => {
    for (const plain of ['', ' \n', 'Contents', '。', 'Why?'])
      expect((await pick(plain)).passages).toEqual([])
  })

  it('gives exact words of any text, in order, none over another, the same each time', async () => {
    const word = fc.constantFrom(
      'The harbour froze',
      'because the price of salt rose every day',
      '😀',
      '👨‍👩‍👧',
      'e\u0301',
      '資料庫遷移前一定要先備份',
      'end.',
      'Merchants never forgive a debt that is only paid in words.',
      '如果沒有備份，遷移失敗時就無法回復原來的資料。',
      'การอ่านหนังสือทำให้คนเรามีความคิด',
      'Why?',
      '“Never,” he said.',
      '\n\n',
      '\n',
      '\t',
      'x'.repeat(90),
    )
    await fc.assert(
      fc.asyncProperty(
        fc.array(word, { minLength: 1, maxLength: 600 }),
        fc.constantFrom('', ' '),
        async (words, joint) => {
          const plain = words.join(joint)
          const { passages } = await pick(plain)
          expect(passages.length).toBeLessThanOrEqual(40)
          let last = 0
          for (const { start, end, quote } of passages) {
            expect(start).toBeGreaterThanOrEqual(last)
            expect(sliceCodePoints(plain, start, end)).toBe(quote)
            expect(codePointLength(quote)).toBe(end - start)
            expect(quote.trim()).toBe(quote)
            last = end
          }
          expect((await pick(plain)).passages).toEqual(passages)
        },
      ),
      { numRuns: 60 },
    )
  })
})
