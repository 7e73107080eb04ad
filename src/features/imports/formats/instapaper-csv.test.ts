import { expect, test } from 'vitest'
import { checkAccount, readImport } from '../../../../test/support/imports.ts'

test('links with their folders, selections and, newer, tags', async () => {
  const read = await readImport(
    `URL,Title,Selection,Folder,Timestamp,Tags
https://example.org/1,First,,Unread,1600000000,[]
https://example.org/2,Second,"Words, that were selected",Archive,1600000001,"[""coding"",""late reads""]"
https://example.org/3,Third,,Recipes To Try,1600000002,
https://example.org/4,Fourth,,Starred,0,
https://www.example.org/1/,First again,Other words,Recipes To Try,1600000009,
https://example.org/1#top,First again,,Unread,1600000010,
ftp://example.org/x,No page,,Unread,1,
`,
  )
  expect(read.format).toBe('instapaper-csv')
  expect(read.items).toMatchObject([
    {
      source: { title: 'First', url: 'https://example.org/1' },
      folder: [],
      reading: { saved: '2020-09-13T12:26:40.000Z', archived: false },
      highlights: [],
      rows: [2],
    },
    {
      highlights: [{ quote: 'Words, that were selected', created: null }],
      tags: ['coding', 'late reads'],
      reading: { archived: true },
    },
    { folder: ['Recipes To Try'], reading: { archived: false } },
    { folder: [], reading: { favourite: true, saved: null } },
    {
      source: { url: 'https://www.example.org/1/' },
      highlights: [{ quote: 'Other words', row: 6 }],
      rows: [6],
    },
  ])
  expect(read.outcomes).toEqual(['7 joined repeated', '8 refused not_web'])
  checkAccount(read)
})
