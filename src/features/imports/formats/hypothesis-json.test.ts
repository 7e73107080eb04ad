import { expect, test } from 'vitest'
import { checkAccount, highlightsOf, readImport } from '../../../../test/support/imports.ts'

const READER = 'acct:sam@hypothes.is'

function annotation(
  id: string,
  more: Record<string, unknown>,
  quote?: string,
  start = 0,
): Record<string, unknown> {
  const selector = [
    { type: 'RangeSelector', startContainer: '/p[1]', endContainer: '/p[1]', startOffset: 0, endOffset: 5 },
    { type: 'TextPositionSelector', start, end: start + 5 },
    { type: 'TextQuoteSelector', exact: quote, prefix: 'before ', suffix: ' after' },
  ]
  return {
    id,
    user: READER,
    uri: 'https://example.org/essay',
    created: '2023-03-18T21:17:13.123456+00:00',
    text: '',
    tags: [],
    document: { title: ['An  Essay'] },
    target: [{ source: 'https://example.org/essay', ...(quote !== undefined && { selector }) }],
    ...more,
  }
}

const rows = [
  annotation('a', { text: 'my thought', tags: ['key', ' idea '] }, 'Second words', 90),
  annotation('b', {}, 'First words', 10),
  annotation('c', { text: 'about the page', tags: ['page'] }),
  annotation('d', {
    references: ['a'],
    text: 'a reply',
    user: 'acct:ann@hypothes.is',
    user_info: { display_name: 'Ann Poe' },
  }),
  annotation('e', { references: ['zz'], text: 'to nobody here' }),
  annotation('f', { user: 'acct:ann@hypothes.is', text: 'hers' }, 'Marked by another'),
  annotation('g', {}),
  annotation('h', {
    uri: 'urn:x-pdf:0123abcd',
    document: { title: ['paper.pdf'] },
    target: [
      {
        source: 'urn:x-pdf:0123abcd',
        selector: [
          { type: 'TextQuoteSelector', exact: 'In a PDF' },
          { type: 'PageSelector', index: 3, label: 'iv' },
        ],
      },
    ],
  }),
  annotation('i', {
    uri: 'chrome://newtab',
    document: {},
    target: [{ source: 'chrome://newtab' }],
    text: 'x',
  }),
  'nothing',
]

test.each([
  ['what the search API answers', { total: rows.length, rows }],
  [
    'what the client exports',
    { export_date: '2024-01-01', export_userid: READER, client_version: '1.0', annotations: rows },
  ],
  ['a bare list', rows],
])('%s', async (_name, json) => {
  const read = await readImport(JSON.stringify(json))
  expect(read.format).toBe('hypothesis-json')
  expect(read.items).toMatchObject([
    {
      source: { kind: 'article', title: 'An Essay', url: 'https://example.org/essay' },
      tags: ['page'],
      highlights: [
        { quote: 'First words', row: 2 },
        {
          quote: 'Second words',
          prefix: 'before ',
          suffix: ' after',
          tags: ['key', 'idea'],
          created: '2023-03-18T21:17:13.123Z',
          notes: [
            { body: 'my thought', by: null },
            { body: 'a reply', by: 'Ann Poe' },
          ],
        },
      ],
      notes: [{ body: 'about the page' }, { body: 'to nobody here' }],
    },
    {
      source: { kind: 'pdf', title: 'paper.pdf', url: null },
      highlights: [{ quote: 'In a PDF', locator: { page: 'iv' } }],
    },
  ])
  expect(read.outcomes).toEqual([
    '6 left of_others',
    '7 refused no_words',
    '9 refused no_address',
    '10 refused unrecognised',
    '5 remark reply_alone',
  ])
  checkAccount(read)
})

test('a place in a recording and one in a book', async () => {
  const read = await readImport(
    JSON.stringify([
      annotation('v', {
        uri: 'https://www.youtube.com/watch?v=abc',
        target: [
          {
            source: 'x',
            selector: [
              { type: 'TextQuoteSelector', exact: 'Said' },
              { type: 'MediaTimeSelector', start: 61.5, end: 64 },
            ],
          },
        ],
      }),
      annotation('w', {
        uri: 'https://books.example/b',
        target: [
          {
            source: 'x',
            selector: [
              { type: 'TextQuoteSelector', exact: 'Read' },
              { type: 'EPUBContentSelector', cfi: '/6/4', title: 'One' },
            ],
          },
        ],
      }),
    ]),
  )
  expect(read.items[0]!.source.kind).toBe('video')
  expect(highlightsOf(read).map(({ locator }) => locator)).toEqual([
    { seconds: 61.5 },
    { cfi: '/6/4', chapter: 'One' },
  ])
})
