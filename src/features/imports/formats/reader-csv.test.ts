import { expect, test } from 'vitest'
import { checkAccount, readImport } from '../../../../test/support/imports.ts'

test('the library of Reader: state, tags and progress', async () => {
  const read = await readImport(
    `Title,URL,ID,Document tags,Saved date,Reading progress,Location,Seen
An Essay,https://example.org/essay,01a,"['work', 'it''s, so']",2022-11-06 04:33:50+00:00,0.3,later,True
Read,https://example.org/read,01b,"[""it's"", 'café']",2025-01-01 12:00:00.000000+00:00,1,archive,True
https://example.org/bare.pdf,https://example.org/bare.pdf,01c,[],,0,new,False
Of a feed,https://example.org/feed,01d,[],2025-01-01 12:00:00+00:00,0,feed,False
Opened of a feed,https://example.org/opened,01e,[],2025-01-01 12:00:00+00:00,0.1,feed,True
Mail,mailto:reader@example.org,01f,[],2025-01-01 12:00:00+00:00,0,new,True
None,,01g,[],2025-01-01 12:00:00+00:00,0,new,True
`.replaceAll("''", "\\'"),
  )
  expect(read.format).toBe('reader-csv')
  expect(read.items).toMatchObject([
    {
      source: { kind: 'article', title: 'An Essay', url: 'https://example.org/essay' },
      tags: ['work', "it's, so"],
      reading: { saved: '2022-11-06T04:33:50.000Z', archived: false, percent: 30, status: null },
    },
    { tags: ["it's", 'café'], reading: { archived: true, percent: 100, status: null } },
    { source: { kind: 'pdf', title: null }, tags: [], reading: { saved: null, percent: null } },
    { source: { title: 'Opened of a feed' } },
  ])
  expect(read.outcomes).toEqual(['5 left feed', '7 refused not_web', '8 refused no_address'])
  checkAccount(read)
})
