import * as fc from 'fast-check'
import { describe, expect, it, onTestFinished } from 'vitest'
import { conceptEmbedder } from '../../../test/support/embedder.ts'
import { Failure } from '../../core/failure.ts'
import { codePointLength, sliceCodePoints } from '../../core/text.ts'
import { pickPassages, type PickOptions } from './pick-passages.ts'

const ARTICLE = `Winter on the quay
By A. Roe

The harbour froze in January, and for forty days no ship could bring salt into the town. Merchants who had lent money on salt began to ask for it back, and the price of salt rose every day.

Dr. Poe, who kept the town's weather book, had seen ice in the harbour only twice before. The ice, he wrote, was thick enough to carry a loaded cart.

We use cookies to improve your experience of the harbour, of the salt and of the merchants.

The price of salt made the merchants of the harbour quarrel over every debt. My aunt likes green hats with small feathers on them. The merchants who had lent money on salt began to ask for it back, and the price of salt rose each day.

When the ice broke, the first ship brought salt to the harbour and the price fell within a day. Debts that merchants had made over the winter were settled in a long lawsuit about salt.

References

Roe, A. The price of salt in the harbour towns of the north, and what the merchants made of it.`

const pick = (plain: string, more: object = {}, options: PickOptions = {}) =>
  pickPassages({}, { title: 'Winter on the quay', plain, language: 'en', ...more }, options)

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

/** A word of its own for each number. */
const spelt = (n: number): string =>
  Array.from(String(n + 100), (digit) => `${'bdfgklmnpr'[Number(digit)]}${'aeiou'[Number(digit) % 5]}`).join(
    '',
  )

describe('what is picked', () => {
  it('comes from all over a text, and parts of it together get what the whole gets', async () => {
    const sentence = (n: number) =>
      `The merchants of town${n} sold their salt because harbour${n * 7} froze, and never market${n * 3} again. `
    const plain = Array.from({ length: 400 }, (_, n) => sentence(n)).join('')
    const whole = (await pick(plain)).passages
    expect(whole).toHaveLength(Math.round((400 * 14) / 300))
    for (const quarter of [0, 1, 2, 3]) {
      const within = whole.filter(({ start }) => Math.floor((start / plain.length) * 4) === quarter)
      expect(within.length).toBeGreaterThanOrEqual(3)
    }
    const parted: string[] = []
    const cut = [0, 5_000, 5_400, 21_000, plain.length]
    for (const [index, from] of cut.slice(0, -1).entries()) {
      const to = cut[index + 1]!
      const { passages } = await pick(plain, { from, to }, { already: parted })
      for (const { start, end, quote } of passages) {
        expect(start).toBeGreaterThanOrEqual(from)
        expect(end).toBeLessThanOrEqual(to)
        expect(plain.slice(start, end)).toBe(quote)
        parted.push(quote)
      }
    }
    expect(parted.length).toBe(whole.length)
    expect(new Set(parted).size).toBe(parted.length)
  })

  it('says nothing again that was picked from another part', async () => {
    const [first] = (await pick(ARTICLE)).passages
    const again = await pick(ARTICLE, {}, { already: [first!.quote] })
    expect(again.passages.map(({ quote }) => quote)).not.toContain(first!.quote)
    const full = Array.from({ length: 40 }, (_, n) => `Already number ${n}.`)
    expect((await pick(ARTICLE, {}, { already: full })).passages).toEqual([])
  })

  it('means nothing twice where meanings can be compared', async () => {
    const plain = [
      ...Array.from(
        { length: 30 },
        (_, n) => `Old weather${n} books of keeper${n} speak of wind${n} and of tide${n} at length.`,
      ),
      'Ice kept every ship out of the harbour for the whole of that long winter.',
      ...Array.from(
        { length: 30 },
        (_, n) => `New ledger${n} rows of clerk${n} tell about wool${n} and about wine${n} in detail.`,
      ),
      'No vessel could enter port while frost lay upon the water until spring came.',
    ].join('\n\n')
    const groups = [['ice', 'frost', 'ship', 'vessel', 'harbour', 'port'], ['weather'], ['ledger']]
    const embedder = conceptEmbedder(groups)
    const picked = await pickPassages({ embedder }, { title: '', plain, language: null })
    expect(picked.remark).toBeUndefined()
    const both = picked.passages.filter(({ quote }) => /^(?:Ice|No vessel)/.test(quote))
    expect(both.length).toBeLessThanOrEqual(1)
    const broken = {
      ...embedder,
      embed: () => Promise.reject(new Failure('unavailable', 'gone', { hint: '' })),
    }
    const byWords = await pickPassages({ embedder: broken }, { title: '', plain, language: null })
    expect(byWords.remark).toMatch(/words alone/)
    expect(byWords.passages.length).toBeGreaterThan(0)
  })

  it.each<[string, string]>([
    ['Chinese', '資料庫遷移前一定要先備份，否則遷移失敗時就無法回復原來的資料。'],
    ['Japanese', '読書は人の考えを深めるが、書き留めなければその多くは忘れられてしまう。'],
    ['German', 'Wer liest, ohne sich etwas zu merken, hat am Ende des Jahres nur Papier umgeblättert.'],
    ['Russian', 'Книга без пометок остаётся чужой, сколько бы раз читатель её ни открывал.'],
  ])('reads %s', async (_language, sentence) => {
    expect((await pick(sentence)).passages.map(({ quote }) => quote)).toEqual([sentence])
  })

  it.each<[string, string]>([
    ['a question', 'What would the merchants of the harbour have done without any salt?'],
    ['a notice', 'We use cookies to improve your experience and to show you offers that you like.'],
    ['a caption', 'Figure 3: The harbour in January, seen from the tower of the old church.'],
    ['a credit', 'Photo by Anna Roe, Getty Images, with the kind permission of the harbour museum.'],
    ['a reference', 'Roe, A. et al. The price of salt in the harbour towns of the north, pp. 12.'],
    ['code', 'const salt = harbour.merchants.map((merchant) => merchant.salt());'],
    ['a row', 'Harbour\tSalt in tons of the year\tMerchants who sold it in the town.'],
    ['an address', 'More about the price of salt stands at https://example.org/salt for everyone.'],
    ['a call', 'Subscribe to our newsletter and never miss another word about the price of salt.'],
  ])('is never %s', async (_what, line) => {
    expect((await pick(line)).passages).toEqual([])
  })

  it('is in pieces between words where speech has no marks', async () => {
    const plain = Array.from(
      { length: 900 },
      (_, n) => `and then ${spelt(n % 300)} of ${spelt(n % 170)} came near ${spelt(n % 77)}`,
    ).join(' ')
    const { passages } = await pick(plain)
    expect(passages.length).toBeGreaterThan(3)
    for (const { start, end } of passages) {
      expect(plain.slice(start - 1, start).trim()).toBe('')
      expect(plain.slice(end, end + 1).trim()).toBe('')
    }
  })

  it('ends soon for texts that nobody wrote, and lets others have their turn', async () => {
    for (const plain of [
      'x'.repeat(500_000),
      `${'.'.repeat(500_000)}x`,
      '!”'.repeat(200_000),
      'A. '.repeat(150_000),
    ]) {
      expect((await pick(plain)).passages).toEqual([])
    }
    let turns = 0
    const watch = setInterval(() => turns++, 1)
    onTestFinished(() => clearInterval(watch))
    await pick('The harbour froze, and nobody in the whole town had any salt left. '.repeat(10_000))
    expect(turns).toBeGreaterThan(3)
  })

  it('stops when it is told to', async () => {
    const stopped = AbortSignal.abort(new Error('stopped'))
    await expect(pick(ARTICLE, {}, { signal: stopped })).rejects.toThrow('stopped')
  })
})
