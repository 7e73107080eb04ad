import { expect, test } from 'vitest'
import { checkAccount, highlightsOf, readImport } from '../../../../test/support/imports.ts'

const HEADER =
  'Highlight,Book Title,Book Author,Amazon Book ID,Note,Color,Tags,Location Type,Location,Highlighted at,Document tags\n'

test('an export of Readwise: books with their highlights, notes, tags and places', async () => {
  const read = await readImport(
    HEADER +
      '"Attention is trained, not given.\nA page read twice is a different page.",The Slow Index,"Roe, Sam; Poe, Ann",B00X,"Key ""idea""",Yellow,".favorite, Deep Work",page,12,2020-10-05 10:15:30+00:00,"shelf, best"\n' +
      'Earlier words.,The Slow Index,"Roe, Sam; Poe, Ann",B00X,,,,page,3,2020-10-06 08:00:00+02:00,shelf\n' +
      'From an essay.,What Stays,Cem Doe,,,blue,,order,2,,\n' +
      'At a minute.,A Cast,Cem Doe,,,,,time_offset,754,2020-10-06,\n' +
      ',The Slow Index,"Roe, Sam; Poe, Ann",B00X,A thought about all of it,,,,,2020-10-07 08:00:00+00:00,\n',
  )
  expect(read.format).toBe('readwise-csv')
  expect(read.items).toMatchObject([
    {
      source: { kind: 'book', title: 'The Slow Index', authors: ['Roe, Sam', 'Poe, Ann'], url: null },
      tags: ['shelf', 'best'],
      highlights: [
        { quote: 'Earlier words.', locator: { page: '3' }, created: '2020-10-06T06:00:00.000Z', row: 3 },
        {
          quote: 'Attention is trained, not given.\nA page read twice is a different page.',
          locator: { page: '12' },
          color: 'yellow',
          tags: ['.favorite', 'Deep Work'],
          created: '2020-10-05T10:15:30.000Z',
          notes: [{ body: 'Key "idea"' }],
          row: 2,
        },
      ],
      notes: [{ body: 'A thought about all of it', created: '2020-10-07T08:00:00.000Z' }],
    },
    {
      source: { kind: 'article', title: 'What Stays' },
      highlights: [{ locator: null, created: null, unreadDate: null }],
    },
    { source: { kind: 'podcast' }, highlights: [{ locator: { seconds: 754 }, created: '2020-10-06' }] },
  ])
  checkAccount(read)
})

test('the form that Readwise takes in, from a spreadsheet with semicolons and in UTF-16', async () => {
  const text =
    'Highlight;Title;Author;URL;Note;Location;Date\r\n"Wörter; mit Strichpunkt";Ein Aufsatz;Sam Roe;https://example.org/a?b=1;;7;2024-03-05\r\n'
  const read = await readImport(Buffer.from(`\uFEFF${text}`, 'utf16le'))
  expect(read.items).toMatchObject([
    {
      source: { kind: 'article', title: 'Ein Aufsatz', url: 'https://example.org/a?b=1' },
      highlights: [{ quote: 'Wörter; mit Strichpunkt', locator: { label: '7' }, created: '2024-03-05' }],
    },
  ])
})

test('what cannot go in is named with its row and reason, and the rest goes in', async () => {
  const read = await readImport(
    `${HEADER}Words.,,,,,,,,,,\n,A Book,,,,,,,,,\nWords.,A Book,,,,,,page,1,yesterday,\nWords.,A Book,,,,,,page,2,3/4/2020,,,extra\n"Open,A Book,,,,,,page,3,,\nLast.,A Book,,,,,,page,4,,\n`,
  )
  expect(highlightsOf(read).map(({ quote }) => quote)).toEqual(['Words.', 'Open', 'Last.'])
  expect(read.outcomes).toEqual([
    '2 refused no_title',
    '3 refused no_words',
    '4 remark date_unread',
    '5 refused too_many_columns',
    '6 remark stray_quote',
  ])
  checkAccount(read)
})

test('an ISBN-10 at Amazon is one of the book', async () => {
  const read = await readImport(`${HEADER}Words.,A Book,Sam Roe,099999901X,,,,location,145,,\n`)
  expect(read.items).toMatchObject([
    { source: { isbns: ['9780999999011'] }, highlights: [{ locator: { location: '145' } }] },
  ])
})
