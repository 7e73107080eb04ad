import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { sliceCodePoints } from '../../core/text.ts'
import { anchorAt, anchorQuote, closestWords, findQuote, type Anchor } from './anchor.ts'
import { foldText } from './fold.ts'
import { isGraphemeBoundary } from '../../core/grapheme-boundary.ts'

/** How a quote is found, and the stretches of the text it is found at. */
function find(text: string, quote: string) {
  const found = findQuote(foldText(text), quote)
  return found && [found.matched, ...found.spans.map(({ start, end }) => text.slice(start, end))]
}

const anchor = (text: string, quote: string): Anchor => {
  const folded = foldText(text)
  const found = findQuote(folded, quote)!
  return anchorAt(folded, found.spans[0]!, found.matched)
}

/** Finds a quote of one text again in another. */
function again(before: string, quote: string, after: string): Anchor | undefined {
  const { quote: exact, prefix, suffix, start } = anchor(before, quote)
  return anchorQuote(foldText(after), { exact, prefix, suffix, start }, foldText(before))
}

describe('findQuote', () => {
  // What `<p>One <em>two</em> <a>three</a>.<br>Four&nbsp;five</p><p>Six</p>` reads as.
  const page = 'One two three.\nFour\u00a0five\n\nSix'

  it.each([
    ['two three. Four five', 'two three.\nFour\u00a0five'],
    ['three. Four five Six', 'three.\nFour\u00a0five\n\nSix'],
    ['five\n\nSix', 'five\n\nSix'],
    ['*two* [three](https://a.test).\\\nFour five', 'two three.\nFour\u00a0five'],
    ['th\u00adree.\u200b four', 'three.\nFour'],
  ])('finds a quote over markup: %j', (quote, words) => {
    expect(find(page, quote)?.[1]).toBe(words)
  })

  it('does not take blocks for joined words', () => {
    expect(find(page, 'three.Four')).toBeUndefined()
  })

  it('takes straight marks for curly ones and shows the words of the text', () => {
    expect(find('She said “it’s so” twice.', '"it\'s so"')).toEqual(['folded', '“it’s so”'])
    expect(find('She said "it\'s so" twice.', '“it’s so”')).toEqual(['folded', '"it\'s so"'])
  })

  it('counts verbatim matches alone where there are any', () => {
    expect(find('The the The', 'The')).toEqual(['exact', 'The', 'The'])
    expect(find('The the The', 'THE')).toEqual(['folded', 'The', 'the', 'The'])
  })

  it('counts what the blanks around a quote set apart, and leaves them out', () => {
    expect(find('then the end', ' the ')).toEqual(['exact', 'the'])
  })

  it('cuts no character', () => {
    expect(find('cafe\u0301', 'cafe')).toBeUndefined()
    expect(find('👨‍👩‍👧', '👩')).toBeUndefined()
    expect(find('🇫🇷🇩🇪', '🇷🇩')).toBeUndefined()
    expect(find('a 👨‍👩‍👧 b', '👨‍👩‍👧')).toEqual(['exact', '👨‍👩‍👧'])
  })
})

describe('anchorAt', () => {
  it('counts code points and keeps 32 of context, whole characters only', () => {
    const text = `${'👨‍👩‍👧'.repeat(9)} so it “went” 😀 ${'e\u0301'.repeat(20)}`
    const { quote, start, end, prefix, suffix } = anchor(text, '“went” 😀')
    expect(sliceCodePoints(text, start, end)).toBe(quote)
    expect([...prefix].length).toBeLessThanOrEqual(32)
    expect(prefix).toBe(`${'👨‍👩‍👧'.repeat(5)} so it `.slice(-prefix.length))
    expect(prefix.startsWith('👨‍👩‍👧')).toBe(true)
    expect(suffix).toBe(` ${'e\u0301'.repeat(15)}`)
  })
})

const WORDS = [
  'find', 'ﬁeld', '“so”', 'naïve', '東京', '한국어', '👩‍👩‍👧', 'e\u0301te\u0301', 'Straße', 'ΣΟΦΟΣ', 'don’t', 'example', 'well-known',
  'running', 'water', '🇩🇪', 'Привет', '½', 'ไทย', 'résumé', 'किताब',
] // prettier-ignore

/** A text whose every third word is unique, and a quote of whole words of it. */
const quoted = fc
  .record({
    words: fc.array(fc.constantFrom(...WORDS), { minLength: 24, maxLength: 60 }),
    first: fc.nat(15),
    count: fc.integer({ min: 3, max: 8 }),
  })
  .map(({ words, first, count }) => {
    const all = words.map((word, index) => (index % 3 === 0 ? `item${index}x` : word))
    const before = all
      .slice(0, first)
      .map((word) => `${word} `)
      .join('')
    const quote = all.slice(first, first + count).join(' ')
    return { text: all.join(' '), quote, start: [...before].length, end: [...before, ...quote].length }
  })

/** Puts something between letters here and there. */
const between = (piece: string) => (text: string, every: number) => {
  let seen = 0
  return text.replaceAll(/(?<=[a-z]{2})(?=[a-z]{2})/g, () => (seen++ % every === 0 ? piece : ''))
}

const PERTURBATIONS: Record<string, (text: string, every: number) => string> = {
  'upper case': (text) => text.toUpperCase(),
  'lower case': (text) => text.toLowerCase(),
  'white space': (text, every) => text.replaceAll(' ', ['\u00a0', '\n', '  \n ', '\u2003\t'][every % 4]!),
  'straight marks': (text) => text.replaceAll(/[“”]/g, '"').replaceAll('’', "'"),
  'soft hyphens': between('\u00ad'),
  'zero widths': between('\u200b'),
  'line-end hyphens': between('-\n'),
  'hyphens and blanks': between('- '),
  NFC: (text) => text.normalize('NFC'),
  NFD: (text) => text.normalize('NFD'),
  NFKC: (text) => text.normalize('NFKC'),
  emphasis: (text, every) => text.split(' ').map((word, index) => (index % every === 0 ? `**${word}**` : word)).join(' '),
  links: (text) => text.split(' ').map((word, index) => (index === 1 ? `[${word}](https://a.test/${word})` : word)).join(' '),
} // prettier-ignore

describe('quotes that came another way', () => {
  for (const [name, perturb] of Object.entries(PERTURBATIONS)) {
    it(`are found where they stand: ${name}`, () => {
      fc.assert(
        fc.property(quoted, fc.integer({ min: 1, max: 4 }), ({ text, quote, start, end }, every) => {
          const found = anchor(text, perturb(quote, every))
          expect({ quote: found.quote, start: found.start, end: found.end }).toEqual({ quote, start, end })
          // The other way round: the text is what changed.
          const changed = perturb(text, every)
          const there = anchorQuote(foldText(changed), { exact: quote })
          if (name !== 'emphasis' && name !== 'links') {
            expect(there?.quote).toBe(sliceCodePoints(changed, there!.start, there!.end))
            expect(foldText(there!.quote).text).toBe(foldText(quote).text)
          }
        }),
        { numRuns: 60 },
      )
    })
  }

  it('never cut a character, whatever is looked for', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: 'grapheme', maxLength: 60 }),
        fc.nat(50),
        fc.integer({ min: 1, max: 12 }),
        (text, from, length) => {
          const quote = text.slice(from, from + length)
          for (const { start, end } of findQuote(foldText(text), quote)?.spans ?? []) {
            expect(isGraphemeBoundary(text, start) && isGraphemeBoundary(text, end)).toBe(true)
          }
        },
      ),
    )
  })
})

const PROSE = [
  'The harbour froze in the first week of January, and no ship came in for forty days.',
  'Merchants who had lent money on cargo that lay beyond the ice began to ask for it back.',
  'In the taverns along the quay people spoke of nothing but the price of salt.',
  'A notary named Ewald wrote down what each of them owed, in a hand that nobody else could read.',
  'When the thaw set in, his book was the only record, and he had drowned in February.',
  'What followed was the longest lawsuit that the town remembers, and it changed how debts were kept.',
]
const prose = PROSE.join(' ')
const reversed = (text: string): string => [...text].toReversed().join('')

describe('anchorQuote', () => {
  it('finds typing errors where the surroundings agree, to within three characters', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 4 }),
        fc.array(fc.tuple(fc.nat(10_000), fc.constantFrom('drop', 'double', 'swap')), {
          minLength: 1,
          maxLength: 7,
        }),
        (sentence, edits) => {
          const { quote, prefix, suffix, start, end } = anchor(prose, PROSE[sentence]!)
          let typed = quote
          for (const [where, edit] of edits) {
            const at = 4 + (where % (typed.length - 8))
            const middle = { drop: '', double: typed[at]!.repeat(2), swap: 'x' }[edit]
            typed = typed.slice(0, at) + middle + typed.slice(at + 1)
          }
          const found = anchorQuote(foldText(prose), { exact: typed, prefix, suffix })
          expect(Math.abs(found!.start - start)).toBeLessThanOrEqual(3)
          expect(Math.abs(found!.end - end)).toBeLessThanOrEqual(3)
          expect(found!.quote).toBe(sliceCodePoints(prose, found!.start, found!.end))
        },
      ),
    )
  })

  it('finds nothing for words that are not there, whatever is around', () => {
    fc.assert(
      fc.property(fc.nat(prose.length - 60), fc.integer({ min: 20, max: 200 }), (from, length) => {
        const start = prose.indexOf(' ', from) + 1
        const { quote, prefix, suffix } = anchor(prose, prose.slice(start, start + length))
        const absent = { exact: reversed(quote), prefix, suffix, start }
        expect(findQuote(foldText(prose), absent.exact)).toBeUndefined()
        expect(anchorQuote(foldText(prose), absent)).toBeUndefined()
        expect(anchorQuote(foldText(prose), { exact: absent.exact })).toBeUndefined()
      }),
    )
  })

  it('follows words that moved, and says how they were found', () => {
    const after = `A new opening. ${PROSE.toReversed().join('\n\n')}`
    expect(again(prose, PROSE[2]!, after)).toMatchObject({ quote: PROSE[2], matched: 'exact' })
    expect(again(prose, PROSE[2]!, after.toUpperCase())).toMatchObject({
      quote: PROSE[2]!.toUpperCase(),
      matched: 'folded',
    })
  })

  it('follows words that were edited in place', () => {
    const edited = PROSE[3]!.replace('named Ewald wrote', 'called Ewald had written')
    expect(again(prose, PROSE[3]!, prose.replace(PROSE[3]!, edited))).toMatchObject({
      quote: edited,
      matched: 'approximate',
    })
  })

  it('does not follow to a sentence that only resembles what was deleted', () => {
    const lost = 'The model of 2019 answered every question within two seconds.'
    const other = 'The model of 2020 answered every question within two seconds.'
    const before = `${PROSE[0]} ${lost} ${PROSE[1]} ${PROSE[2]} ${other} ${PROSE[3]}`
    expect(again(before, lost, before.replace(`${lost} `, ''))).toBeUndefined()
  })

  it('does not follow to the look-alike beside it, though what stands before is the same', () => {
    const before = `${PROSE[0]} Room 1 costs ten crowns a week in winter. Room 2 costs ten crowns a week in winter. ${PROSE[1]}`
    const lost = 'Room 1 costs ten crowns a week in winter.'
    expect(again(before, lost, before.replace(`${lost} `, ''))).toBeUndefined()
  })

  it('does not follow to the same words in another place, where they stood before as well', () => {
    const before = `${PROSE[0]} ${PROSE[2]} ${PROSE[1]} ${PROSE[3]} They often said: “${PROSE[2]}” ${PROSE[5]}`
    expect(again(before, `${PROSE[2]} ${PROSE[1]!.slice(0, 9)}`, before)).toBeDefined()
    const { prefix, suffix, start } = anchorAt(
      foldText(before),
      { start: 84, end: 84 + PROSE[2]!.length },
      'exact',
    )
    const after = before.replace(`${PROSE[2]} `, '')
    const selector = { exact: PROSE[2]!, prefix, suffix, start }
    expect(anchorQuote(foldText(after), selector, foldText(before))).toBeUndefined()
  })

  it('does not take a near match whose surroundings are others, or unknown', () => {
    const edited = PROSE[4]!.replace('was the only record', 'was the sole record')
    const unknown = { exact: edited }
    const others = {
      exact: edited,
      prefix: 'written on the wall of the inn: ',
      suffix: ' So far the letter of his uncle.',
    }
    expect(anchorQuote(foldText(prose), unknown)).toBeUndefined()
    expect(anchorQuote(foldText(prose), others)).toBeUndefined()
  })

  it('takes no near match of a short quote', () => {
    const { prefix, suffix } = anchor(prose, 'the town remembers')
    expect(anchorQuote(foldText(prose), { exact: 'the tawn remembers', prefix, suffix })).toBeUndefined()
  })

  it('finds a mark that is no word by its position', () => {
    const text = foldText('one — two — three')
    expect(anchorQuote(text, { exact: '—', start: 10 })?.start).toBe(10)
  })

  it('does not choose between two that resemble it alike', () => {
    const row = (n: string) => `before it all ${n} costs ten crowns a week in winter after it all. `
    const { prefix, suffix } = anchor(row('Room 1'), 'Room 1 costs ten crowns a week in winter')
    const after = foldText(row('Room 2') + row('Room 3'))
    expect(
      anchorQuote(after, { exact: 'Room 1 costs ten crowns a week in winter', prefix, suffix }),
    ).toBeUndefined()
  })

  it('does not take a short word elsewhere for its own', () => {
    expect(
      again('They sailed to Riga in May, all of them.', 'Riga', 'Nobody spoke. The price of Riga salt rose.'),
    ).toBeUndefined()
    expect(
      again('She met Linus at the harbour that day.', 'Linus', 'She met chines at the harbour that day.'),
    ).toBeUndefined()
  })

  it('tells a repeated word by what is around it', () => {
    const before = 'He gave salt to the north and salt to the south, then salt to us.'
    const { prefix, suffix, quote } = { ...anchor(before, 'salt to the south'), quote: 'salt' }
    const after = foldText(`In short: salt. ${before}`)
    const found = anchorQuote(after, { exact: quote, prefix, suffix: ` to the south${suffix}`, start: 0 })
    expect(found?.start).toBe(46)
  })

  it('keeps the turn of a line that repeats in the same surroundings', () => {
    const verse = 'and the river runs on, and nobody asks, '
    const before = verse.repeat(6)
    const folded = foldText(before)
    const third = anchorAt(folded, findQuote(folded, 'the river')!.spans[2]!, 'exact')
    const after = `${'A long new preface. '.repeat(6)}${before}`
    const found = anchorQuote(foldText(after), { ...third, exact: third.quote }, folded)
    expect(found?.start).toBe(120 + third.start)
  })

  it('takes the nearest of several where nothing else is known, and none where not even a place is', () => {
    const text = foldText('one two one two one')
    expect(anchorQuote(text, { exact: 'one', start: 9 })?.start).toBe(8)
    expect(anchorQuote(text, { exact: 'one' })).toBeUndefined()
    expect(anchorQuote(text, { exact: ' ' })).toBeUndefined()
  })

  it('takes the edited words in their place over the same words in another', () => {
    const before = `${PROSE[0]} ${PROSE[2]} ${PROSE[1]}`
    const edited = PROSE[2]!.replace('spoke of', 'talked about')
    const after = `${PROSE[0]} ${edited} ${PROSE[1]} ${PROSE[4]} As they say: “${PROSE[2]}” ${PROSE[5]}`
    expect(again(before, PROSE[2]!, after)?.quote).toContain(PROSE[2]!.slice(0, 20))
  })

  it('answers on a text that resembles the quote everywhere', () => {
    const text = foldText('ab'.repeat(200_000))
    const exact = `${'ab'.repeat(20)}c${'ab'.repeat(20)}`
    expect(anchorQuote(text, { exact, prefix: 'abababab', suffix: 'abababab' })).toBeUndefined()
  })
})

describe('closestWords', () => {
  it('offers the words that come nearest', () => {
    expect(closestWords(foldText(prose), 'the taverns along the key persons spoke of nothing')).toBe(
      'the taverns along the quay people spoke of nothing',
    )
  })

  it('offers nothing that is far off', () => {
    expect(closestWords(foldText(prose), reversed(PROSE[1]!))).toBeUndefined()
    expect(closestWords(foldText(prose), 'oxen')).toBeUndefined()
  })
})
