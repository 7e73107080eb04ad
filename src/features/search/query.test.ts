import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { emptyFilter, isBlank, parseQuery } from './query.ts'

const filterOf = (given: string) => {
  const { filter, terms } = parseQuery(given)
  const set = Object.entries(filter).filter(([, value]) => value.length > 0)
  return { ...Object.fromEntries(set), ...(terms.length > 0 && { terms: terms.map(show) }) }
}
const show = ({ words, prefix, quoted }: ReturnType<typeof parseQuery>['terms'][number]) => {
  const text = `${words.join(' ')}${prefix ? '*' : ''}`
  return quoted ? `"${text}"` : text
}
const termsOf = (given: string) => parseQuery(given).terms.map(show)
const withoutOf = (given: string) => parseQuery(given).without.map(show)

describe('words', () => {
  it.each([
    ['Bees  dance', ['bees', 'dance']],
    ['"bees dance" well', ['"bees dance"', 'well']],
    ['“curly quotes” too', ['"curly quotes"', 'too']],
    ['danc*', ['danc*']],
    ["don't", ['don t']],
    ['multi-agent', ['multi agent']],
    ['C++', ['c']],
    ['node:20.04', ['node 20 04']],
    ['AND', ['and']],
    ['a OR', ['a', 'or']],
    ['"open', ['open']],
    ['5" disk', ['5', 'disk']],
    ['bees bees BEES', ['bees']],
    ['*', []],
    ['(', []],
    ['-', []],
    ['--flag', ['flag']],
    ['""', []],
    ['🎉', ['🎉']],
    ['STRASSE', ['strasse']],
    ['foo:bar', ['foo bar']],
    ['tag:', ['tag']],
    ['type:nothing', ['type nothing']],
  ])('%s', (given, terms) => {
    expect(termsOf(given)).toEqual(terms)
  })

  it('are pairs of characters in scripts without spaces; one character is the beginning of a pair', () => {
    expect(termsOf('備份')).toEqual(['備份'])
    expect(termsOf('遷移前')).toEqual(['遷移 移前'])
    expect(termsOf('健')).toEqual(['健*'])
    expect(termsOf('"iPhone 手機"')).toEqual(['"iphone 手機"'])
    expect(termsOf('"手機 case"')).toEqual(['"手機 機 case"'])
  })

  it('after a minus are left out', () => {
    expect(withoutOf('bees -wasps -"yellow jackets" -wes*')).toEqual(['wasps', '"yellow jackets"', 'wes*'])
    expect(termsOf('bees -wasps')).toEqual(['bees'])
    expect(parseQuery('bees -wasps "that dance" tag:x').text).toBe('bees that dance')
  })
})

describe('filters', () => {
  it.each([
    ['type:pdf', { kinds: ['pdf'] }],
    ['type:media bees', { kinds: ['video', 'podcast'], terms: ['bees'] }],
    ['-type:book', { notKinds: ['book'] }],
    ['tag:x tag:"to do" -tag:old', { tags: ['x', 'to do'], notTags: ['old'] }],
    ['author:"Ada Roe"', { authors: ['ada roe'] }],
    ['in:title in:notes', { columns: ['head', 'note'] }],
    ['in:42', { sources: [42] }],
    ['before:2026 after:2024-02-29', { before: '2026', after: '2024-02-29' }],
    ['before:2026 before:2025-03', { before: '2025-03' }],
    ['after:2023-02-29', { terms: ['after 2023 02 29'] }],
    [
      'IS:Unread is:highlighted -is:noted',
      { states: ['unread'], marks: ['highlighted'], notMarks: ['noted'] },
    ],
    ['is:constructor in:toString', { terms: ['is constructor', 'in tostring'] }],
  ])('%s', (given, filter) => {
    expect(filterOf(given)).toEqual(filter)
  })
})

describe('parseQuery', () => {
  it('takes anything', () => {
    const odd = [
      '"',
      '“',
      '-',
      '*',
      ':',
      'tag:',
      'in:',
      'is:read',
      'before:2020',
      '(',
      "'",
      ' ',
      '健',
      'กิ',
      '\ud800',
    ]
    const pieces = fc.constantFrom('a', ...odd)
    const any = fc.oneof(fc.string({ unit: 'binary', maxLength: 4_096 }), fc.string({ unit: pieces }))
    fc.assert(
      fc.property(any, (given) => {
        const { terms, without } = parseQuery(given)
        for (const { words } of [...terms, ...without]) {
          expect(words.length).toBeGreaterThan(0)
          for (const word of words) expect(word).toMatch(/^[^\s"]+$/u)
        }
        expect(terms.length).toBeLessThanOrEqual(64)
      }),
      { numRuns: 400 },
    )
  })

  it('reads 4,096 characters in one go', () => {
    expect(termsOf('a'.repeat(4_096))).toEqual(['a'.repeat(4_096)])
    expect(parseQuery('"'.repeat(4_096)).terms).toEqual([])
    expect(termsOf('word '.repeat(819))).toEqual(['word'])
  })

  it('sees that nothing is asked', () => {
    expect(['', '  \t', '"" * ('].map((given) => isBlank(parseQuery(given)))).toEqual([true, true, false])
    expect(isBlank(parseQuery('type:pdf'))).toBe(false)
    expect(parseQuery(' ').filter).toEqual(emptyFilter())
  })
})
