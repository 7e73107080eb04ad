import { expect, test } from 'vitest'
import { checkAccount, highlightsOf, readImport } from '../../../../test/support/imports.ts'

const HEADER = 'id,title,note,excerpt,url,folder,tags,created,cover,highlights,favorite\n'

test('links with folders, notes, tags, dates and highlights', async () => {
  const read = await readImport(
    `${HEADER}1,"Saved, ""quoted"" title","First line
Second line",An excerpt,https://example.org/a?x=1&keep=2#part,Work/Invoices,"reading, go, reading, ",2024-01-02T03:04:05.123Z,https://example.org/cover.jpg,"First highlight
Second highlight",true
2,,,,https://example.org/b,Unsorted,,1704164645,,,false
3,Nested,,,https://example.org/c,Apps/Services / AI Tools,,2024-01-02,,,
4,Title only,,,,Unsorted,,2024-01-02,,,
`,
  )
  expect(read.format).toBe('raindrop-csv')
  expect(read.items).toMatchObject([
    {
      source: {
        title: 'Saved, "quoted" title',
        url: 'https://example.org/a?x=1&keep=2#part',
        description: 'An excerpt',
        coverUrl: 'https://example.org/cover.jpg',
      },
      notes: [{ body: 'First line\nSecond line', created: '2024-01-02T03:04:05.123Z' }],
      highlights: [{ quote: 'First highlight' }, { quote: 'Second highlight' }],
      tags: ['reading', 'go'],
      folder: ['Work', 'Invoices'],
      reading: { saved: '2024-01-02T03:04:05.123Z', favourite: true },
    },
    { source: { title: null }, folder: [], reading: { saved: '2024-01-02T03:04:05.000Z', favourite: false } },
    { folder: ['Apps/Services', 'AI Tools'], reading: { saved: '2024-01-02' } },
  ])
  expect(read.outcomes).toEqual(['5 refused no_address'])
  checkAccount(read)
})

test('highlights under labels keep their notes and colours', async () => {
  const read = await readImport(
    `${HEADER}1,T,,,https://example.org/a,Unsorted,,,,"Highlight: Words of
two lines
Color: blue
Note: a thought

Highlight: More words",\n`,
  )
  expect(highlightsOf(read)).toMatchObject([
    { quote: 'Words of\ntwo lines', color: 'blue', notes: [{ body: 'a thought' }] },
    { quote: 'More words', color: null, notes: [] },
  ])
})

test('older exports, and the form that Raindrop takes in, lack columns', async () => {
  const read = await readImport(
    'folder,url,title,description,tags,created\nA/B,https://example.org/a,T,About it,"x, y",1629980125\n',
  )
  expect(read.items).toMatchObject([
    {
      source: { description: 'About it' },
      folder: ['A', 'B'],
      tags: ['x', 'y'],
      reading: { saved: '2021-08-26T12:15:25.000Z' },
    },
  ])
})
