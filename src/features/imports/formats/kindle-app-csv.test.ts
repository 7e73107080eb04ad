import { expect, test } from 'vitest'
import { checkAccount, highlightsOf, readImport } from '../../../../test/support/imports.ts'

const file = (rows: string): string => `"Your Kindle Notes For:",,,
"THE SLOW INDEX",,,
"by Sam Ash Roe, Ann Poe",,,
"Free Kindle instant preview:",,,
"http://a.example/4wnn",,,
----------------------------------------------,,,
,,,
"Annotation Type","Location","Starred?","Annotation"
${rows}`

test('highlights with colours and notes behind them', async () => {
  const read = await readImport(
    file(`"Highlight (Yellow)","Location 93","","Nobody told the new computer writers, or others."
"Note","Location 94","","True"
"Highlight (Blue)","Location 181","*","Clear ""thinking""."
"Note","Location 700","","Far from any"
"Highlight (Pink)","Page 12","","On a page."
"Bookmark","Location 900","",""
"Highlight (Yellow)","Location 950","","<You have reached the clipping limit for this item>"
"Highlight (Yellow)","Location 960",""
`),
  )
  expect(read.format).toBe('kindle-app-csv')
  expect(read.items).toMatchObject([
    {
      source: { kind: 'book', title: 'THE SLOW INDEX', authors: ['Sam Ash Roe', 'Ann Poe'], url: null },
      highlights: [
        {
          quote: 'Nobody told the new computer writers, or others.',
          color: 'yellow',
          locator: { location: '93' },
          notes: [{ body: 'True' }],
          created: null,
        },
        { quote: 'Clear "thinking".', color: 'blue', favourite: true, notes: [] },
        { quote: 'On a page.', color: 'pink', locator: { page: '12' } },
      ],
      notes: [{ body: 'Far from any', locator: { location: '700' } }],
    },
  ])
  expect(read.report.outcomes.map(({ line, fate, reason }) => `${line} ${fate} ${reason}`)).toEqual([
    '12 remark note_alone',
    '14 bookmark bookmark',
    '15 refused clipping_limit',
    '16 refused unrecognised',
  ])
  checkAccount(read)
})

test('in another language it is told by its shape', async () => {
  const read = await readImport(
    file('"Markierung (Gelb)","Position 93","","Worte."\n"Notiz","Position 94","","Gedanke"\n')
      .replace('Your Kindle Notes For:', 'Ihre Kindle-Notizen für:')
      .replace('by Sam', 'von Sam')
      .replace(
        '"Annotation Type","Location","Starred?","Annotation"',
        '"Anmerkungstyp","Position","Mit Stern?","Anmerkung"',
      ),
  )
  expect(highlightsOf(read)).toMatchObject([
    { quote: 'Worte.', color: 'gelb', locator: { location: '93' }, notes: [{ body: 'Gedanke' }] },
  ])
  expect(read.items[0]!.source.authors).toEqual(['Sam Ash Roe', 'Ann Poe'])
})
