import { strToU8, zipSync, type Zippable } from 'fflate'
import { expect, test } from 'vitest'
import { checkAccount, readImport } from '../../../../test/support/imports.ts'

const json = (value: unknown): Uint8Array => strToU8(JSON.stringify(value))

const ESSAY = {
  id: 'a1b2',
  slug: 'an-essay-18f',
  title: 'An Essay',
  description: 'About it',
  author: 'Sam Roe',
  url: 'https://example.org/essay',
  state: 'Archived',
  readingProgress: 41.52,
  thumbnail: 'https://example.org/cover.jpg',
  labels: ['work', 'late reads'],
  savedAt: '2024-01-02T10:00:00.000Z',
  updatedAt: '2024-02-01T09:00:00Z',
  publishedAt: '2023-12-30T00:00:00Z',
}

const archive = (more: Zippable = {}): Uint8Array =>
  zipSync({
    'metadata_20_to_40.json': json([
      { slug: 'gone', title: 'Gone', url: 'https://example.org/gone', state: 'DELETED' },
      {
        slug: 'mail',
        title: 'A letter',
        url: '',
        labels: [{ name: 'mail' }],
        state: 'SUCCEEDED',
        savedAt: '2024-01-03T09:00:00Z',
      },
      { slug: 'none', title: '', url: 'omnivore://x' },
      'nothing',
    ]),
    'metadata_0_to_20.json': json([ESSAY]),
    'content/an-essay-18f.html': strToU8('<p>The first words. And others.</p>'),
    'highlights/an-essay-18f.md': strToU8(
      '> The first words. \n\n#key idea #two\n\nmy thought\nof two lines\n\n> And others.\n> In a second paragraph. \n\n> Bare. ',
    ),
    ...more,
  })

test('pages with labels, state, progress, text and highlights', async () => {
  const read = await readImport(archive())
  expect(read.format).toBe('omnivore-zip')
  expect(read.items).toMatchObject([
    {
      source: {
        kind: 'article',
        title: 'An Essay',
        url: 'https://example.org/essay',
        authors: ['Sam Roe'],
        description: 'About it',
        published: '2023-12-30',
        coverUrl: 'https://example.org/cover.jpg',
      },
      tags: ['work', 'late reads'],
      reading: { saved: '2024-01-02T10:00:00.000Z', archived: true, percent: 41.5 },
      text: { format: 'html', body: '<p>The first words. And others.</p>' },
      highlights: [
        {
          quote: 'The first words.',
          tags: ['key idea', 'two'],
          notes: [{ body: 'my thought\nof two lines' }],
        },
        { quote: 'And others.\nIn a second paragraph.', tags: [], notes: [] },
        { quote: 'Bare.' },
      ],
      notes: [],
    },
    {
      source: { title: 'A letter', url: null },
      tags: ['mail'],
      text: null,
      reading: { archived: false, percent: null },
    },
  ])
  expect(read.outcomes).toEqual(['2 left deleted', '4 refused not_web', '5 refused unrecognised'])
  checkAccount(read)
})

test('a note on the whole page is told from one on a highlight', async () => {
  const read = await readImport(
    archive({
      'highlights/an-essay-18f.md': strToU8(
        'About all of it\n\n\n\n> Words. \n\non these\n\n> Others. \n\nabout all again\n\n\n\n> Last. ',
      ),
    }),
  )
  const [item] = read.items
  expect(item!.highlights.map(({ quote, notes }) => [quote, notes.map(({ body }) => body)])).toEqual([
    ['Words.', ['on these']],
    ['Others.', []],
    ['Last.', []],
  ])
  expect(item!.notes.map(({ body }) => body)).toEqual(['About all of it', 'about all again'])
})

test('files that are no part, lead outside, or are damaged are named, and the rest goes in', async () => {
  const read = await readImport(
    archive({
      '../../etc/passwd': strToU8('x'),
      'C:\\x.html': strToU8('x'),
      'notes.txt': strToU8('x'),
      'metadata_40_to_60.json': strToU8('[{"title": "cut'),
    }),
  )
  expect(read.items).toHaveLength(2)
  expect(read.report.outcomes.slice(3).map(({ part, fate, reason }) => `${part} ${fate} ${reason}`)).toEqual([
    'metadata_40_to_60.json refused damaged_part',
    'notes.txt refused unknown_part',
    '../../etc/passwd refused unsafe_name',
    'C:\\x.html refused unsafe_name',
  ])
  checkAccount(read)
})

test('a text that is damaged costs only itself', async () => {
  const whole = Buffer.from(archive())
  const at = whole.indexOf('content/an-essay-18f.html')
  whole[at + 30] = whole[at + 30]! ^ 0xff
  const read = await readImport(whole)
  expect(read.items[0]!.text).toBe(null)
  expect(read.items[0]!.highlights).toHaveLength(3)
  expect(read.outcomes).toContain('1 remark part_unread')
})
