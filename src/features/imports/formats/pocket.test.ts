import { strToU8, zipSync } from 'fflate'
import { describe, expect, test } from 'vitest'
import { checkAccount, readImport } from '../../../../test/support/imports.ts'

const CSV = `title,url,time_added,tags,status
"Hello, world",https://example.org/c,1601900000,a|late reads,unread
https://example.org/d,https://example.org/d,1601900100,,archive
No address,,1,,unread
`

describe('Pocket', () => {
  test('CSV', async () => {
    const read = await readImport(CSV)
    expect(read.format).toBe('pocket-csv')
    expect(read.items).toMatchObject([
      {
        source: { title: 'Hello, world', url: 'https://example.org/c' },
        tags: ['a', 'late reads'],
        reading: { saved: '2020-10-05T12:13:20.000Z', archived: false, status: null },
      },
      { source: { title: null }, reading: { archived: true } },
    ])
    expect(read.outcomes).toEqual(['4 refused no_address'])
    checkAccount(read)
  })

  test('HTML, with both of its lists', async () => {
    const read = await readImport(`<!DOCTYPE html>
<html><head><meta charset="UTF-8"><title>Pocket Export</title></head><body>
<h1>Unread</h1>
<ul>
<li><a href="https://example.org/a?x=1&amp;y=2" time_added="1601900000" tags="design,tools">Great &amp; useful &mdash; <b>bold</b></a></li>
<li><a href="javascript:alert(1)" time_added="1" tags="">bad</a></li>
</ul>
<h1>Read Archive</h1>
<ul>
<li><a href='https://example.org/b' time_added="1601900100" tags="">https://example.org/b</a></li>
</ul></body></html>`)
    expect(read.format).toBe('pocket-html')
    expect(read.items).toMatchObject([
      {
        source: { title: 'Great & useful — bold', url: 'https://example.org/a?x=1&y=2' },
        tags: ['design', 'tools'],
        reading: { saved: '2020-10-05T12:13:20.000Z', archived: false },
      },
      { source: { title: null, url: 'https://example.org/b' }, tags: [], reading: { archived: true } },
    ])
    expect(read.report.outcomes).toMatchObject([
      { row: 2, line: 6, reason: 'not_web', excerpt: 'bad javascript:alert(1)' },
    ])
    checkAccount(read)
  })

  test('the archive as it came: parts of the list, and the highlights', async () => {
    const read = await readImport(
      zipSync({
        'part_000000.csv': strToU8(CSV),
        'part_000001.csv': strToU8(
          'title,url,time_added,tags,status\nLater,https://example.org/later,1700000002,,unread\n',
        ),
        'annotations/part_000000.json': strToU8(
          JSON.stringify([
            {
              url: 'https://example.org/c',
              title: 'Hello',
              highlights: [{ quote: 'Its words.', created_at: 1601900001 }],
            },
            {
              url: 'https://example.org/new',
              title: 'New',
              highlights: [{ quote: 'Others.', created_at: 1601900002 }, { quote: '' }],
            },
          ]),
        ),
        'collections/my.json': strToU8('{}'),
      }),
    )
    expect(read.format).toBe('pocket-zip')
    expect(
      read.items.map(({ source, highlights }) => [source.url, highlights.map(({ quote }) => quote)]),
    ).toEqual([
      ['https://example.org/c', []],
      ['https://example.org/d', []],
      ['https://example.org/later', []],
      ['https://example.org/c', ['Its words.']],
      ['https://example.org/new', ['Others.']],
    ])
    expect(read.report.outcomes.map(({ part, reason }) => [part, reason])).toEqual([
      ['part_000000.csv', 'no_address'],
      ['annotations/part_000000.json', 'no_words'],
      ['collections/my.json', 'unknown_part'],
    ])
    checkAccount(read)
  })
})
