import { describe, expect, it } from 'vitest'
import { Failure } from '../../core/failure.ts'
import type { LanguageModel, ModelQuestion } from '../../core/outside.ts'
import { digestOf } from '../texts/digest.ts'
import { digestText } from './digest-text.ts'

const PLAIN = Array.from(
  { length: 40 },
  (_, n) => `Harbour${n} froze in January, and merchant${n} sold salt that nobody had paid for.`,
).join(' ')
const TEXT = { title: 'Ice', plain: PLAIN, language: 'en' }

function modelThat(answers: (question: ModelQuestion) => unknown): LanguageModel {
  return { id: 'test:sage', answer: async (question) => answers(question) }
}

describe('digestText', () => {
  it('gives sentences of the text where no model is set', async () => {
    expect(await digestText({}, TEXT)).toEqual({ sentences: digestOf(PLAIN).sentences, by: 'built-in' })
  })

  it('gives the words of the model where one is', async () => {
    const model = modelThat(({ task, material }) => {
      expect(task).not.toContain('Harbour')
      expect(material).toContain(PLAIN)
      return { sentences: ['Many harbours\nfroze.', '\u001b[31mSalt was sold on credit. '] }
    })
    expect(await digestText({ model }, TEXT)).toEqual({
      sentences: ['Many harbours froze.', '[31mSalt was sold on credit.'],
      by: 'test:sage',
    })
  })

  it.each<[string, unknown]>([
    ['empty', { sentences: [] }],
    ['blank', { sentences: [' '] }],
    ['too long', { sentences: ['x'.repeat(601)] }],
    ['too many', { sentences: Array.from({ length: 8 }, () => 'Salt.') }],
    ['something else', 'Salt.'],
  ])('does it without the model where the answer is %s', async (_what, answer) => {
    const digest = await digestText({ model: modelThat(() => answer) }, TEXT)
    expect(digest).toMatchObject({ sentences: digestOf(PLAIN).sentences, by: 'built-in' })
    expect(digest.remark).toMatch(/without the language model/)
  })

  it('says why the model did not do it', async () => {
    const model = modelThat(() => {
      throw new Failure('rate_limited', 'x', { hint: '' })
    })
    expect((await digestText({ model }, TEXT)).remark).toMatch(/no more questions/)
  })

  it('shows a model no more than fits, from all over a long text', async () => {
    const plain = Array.from({ length: 12_000 }, (_, n) => `Sentence number${n} stands in this book.`).join(
      ' ',
    )
    let shown = ''
    const model = modelThat(({ material }) => {
      shown = material
      return { sentences: ['A book of numbers.'] }
    })
    await digestText({ model }, { ...TEXT, plain })
    expect(shown.length).toBeLessThan(65_000)
    expect(shown.includes('number3 ')).toBe(true)
    expect(shown.includes('number11990 ')).toBe(true)
    for (const part of shown.split('[…]').slice(1)) expect(part.trim()).toMatch(/^Sentence [^]*\.$/)
  })
})
