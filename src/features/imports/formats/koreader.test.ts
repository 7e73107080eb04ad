import { describe, expect, test } from 'vitest'
import { checkAccount, highlightsOf, readImport } from '../../../../test/support/imports.ts'

const BOOK = {
  title: 'The Slow Index',
  author: 'Sam Roe\nAnn Poe',
  file: '/mnt/onboard/slow.epub',
  number_of_pages: 320,
  created_on: 1694256700,
  version: 'json/1.0.0',
  entries: [
    {
      sort: 'highlight',
      text: 'Words.',
      chapter: 'One',
      page: 12,
      time: 1694256612,
      drawer: 'lighten',
      color: 'Yellow',
    },
    {
      sort: 'highlight',
      text: 'More.',
      note: 'a thought',
      chapter: 'Two',
      page: 'xii',
      time: 1694256620,
      drawer: 'underscore',
    },
    { sort: 'bookmark', text: 'in Two', page: 60, time: 1694256630 },
    { sort: 'highlight', text: '', page: 3, time: 1, image: { png: '…' } },
    { sort: 'highlight', text: '', note: 'a note alone', page: 4, time: 1694256640 },
  ],
}

describe('KOReader, JSON', () => {
  test('one book', async () => {
    const read = await readImport(JSON.stringify(BOOK))
    expect(read.format).toBe('koreader-json')
    expect(read.items).toMatchObject([
      {
        source: { kind: 'book', title: 'The Slow Index', authors: ['Sam Roe', 'Ann Poe'] },
        highlights: [
          {
            quote: 'Words.',
            locator: { page: '12', chapter: 'One' },
            color: 'yellow',
            created: '2023-09-09T10:50:12.000Z',
            notes: [],
          },
          { quote: 'More.', locator: { page: 'xii', chapter: 'Two' }, notes: [{ body: 'a thought' }] },
        ],
        notes: [{ body: 'a note alone', locator: { page: '4' } }],
      },
    ])
    expect(read.outcomes).toEqual(['3 bookmark bookmark', '4 refused drawing'])
    checkAccount(read)
  })

  test('many books, one without a title, one without entries', async () => {
    const read = await readImport(
      JSON.stringify({
        version: 'json/1.0.0',
        created_on: 1,
        documents: [
          { ...BOOK, author: 'Unknown Author' },
          { file: '/books/What%20Stays.kepub.epub', entries: [{ text: 'Kept.', page: 1 }] },
          { title: 'Empty', entries: {} },
          { entries: [{ text: 'Of nothing.' }] },
        ],
      }),
    )
    expect(read.items.map(({ source }) => [source.title, source.authors])).toEqual([
      ['The Slow Index', []],
      ['What Stays', []],
    ])
    expect(read.outcomes).toEqual([
      '3 bookmark bookmark',
      '4 refused drawing',
      '6 remark title_from_name',
      '7 refused no_title',
    ])
    checkAccount(read)
  })
})

describe('KOReader, the file beside a book', () => {
  test('annotations with notes, colours, chapters, state and review', async () => {
    const read = await readImport(
      String.raw`-- /mnt/onboard/slow.sdr/metadata.epub.lua
-- a comment
return {
    ["annotations"] = {
        [2] = {
            ["chapter"] = "Zwei",
            ["datetime"] = "2026-01-06 08:02:11",
            ["drawer"] = "underscore",
            ["color"] = "green",
            ["pageno"] = 55,
            ["page"] = "/body/DocFragment[9]/body/p[4]/text().10",
            ["pos0"] = "/body/DocFragment[9]/body/p[4]/text().10",
            ["pos1"] = "/body/DocFragment[9]/body/p[4]/text().19",
            ["text"] = "Sie sagte \"ja\"\
und ging \195\188ber den Hof.",
            ["note"] = 'it''s'..nil,
        },
        [1] = {
            ["datetime"] = "2026-01-05 08:02:11",
            ["drawer"] = "lighten",
            ["pageno"] = 42,
            ["pageref"] = "xl",
            ["text"] = [==[First ]] words]==],
        },
        [3] = { ["datetime"] = "2026-01-06 09:00:00", ["pageno"] = 60, ["text"] = "in Zwei", },
        [4] = { datetime = "2026-01-06 09:00:00", drawer = "lighten", pboxes = { { x = 1, y = .5e1 } }, pos1 = { x = -1 } },
    },
    ["doc_props"] = {
        ["authors"] = "Sam Roe\
Ann Poe",
        ["title"] = "The Slow Index",
        ["language"] = "de_AT",
        ["identifiers"] = "uuid:1234\
ISBN:9780999999011",
    },
    ["percent_finished"] = 0.655,
    ["summary"] = { ["status"] = "complete", ["rating"] = 4, ["note"] = "Good.", ["modified"] = "2026-02-01" },
    ["nothing"] = nil, ["big"] = math.huge, ["part"] = -1/0, ["hex"] = 0x1F,
}
`.replace("'it''s'..nil", '"it\'s"'),
    )
    expect(read.format).toBe('koreader-lua')
    expect(read.items).toMatchObject([
      {
        source: {
          title: 'The Slow Index',
          authors: ['Sam Roe', 'Ann Poe'],
          language: 'de-AT',
          isbns: ['9780999999011'],
        },
        highlights: [
          { quote: 'First ]] words', locator: { page: 'xl' }, created: '2026-01-05T08:02:11' },
          {
            quote: 'Sie sagte "ja"\nund ging über den Hof.',
            locator: { page: '55', chapter: 'Zwei' },
            color: 'green',
            notes: [{ body: "it's" }],
          },
        ],
        reading: { status: 'finished', percent: 65.5, rating: 16, review: 'Good.', finishedOn: null },
      },
    ])
    expect(read.outcomes).toEqual(['3 bookmark bookmark', '4 refused drawing'])
    checkAccount(read)
  })

  test('before 2024: highlights by page, their notes among the bookmarks', async () => {
    const read = await readImport(`return {
    ["bookmarks"] = {
        [1] = { ["datetime"] = "2020-03-02 22:30:00", ["highlighted"] = true, ["notes"] = "verdict", ["text"] = "Page 77 verdict @ 2020-03-02 22:30:00", ["page"] = 77 },
        [2] = { ["datetime"] = "2020-03-01 10:00:00", ["highlighted"] = true, ["notes"] = "Someone must have lied.", ["text"] = "who?", ["chapter"] = "I" },
        [3] = { ["datetime"] = "2020-03-03 10:00:00", ["notes"] = "in III", ["page"] = 80 },
        [4] = { ["datetime"] = "2020-03-04 10:00:00", ["highlighted"] = true, ["notes"] = "Only a bookmark has it.", ["page"] = 81 },
    },
    ["highlight"] = {
        [77] = { [1] = { ["datetime"] = "2020-03-02 22:30:00", ["text"] = "verdict", ["drawer"] = "lighten" } },
        [42] = { [1] = { ["datetime"] = "2020-03-01 10:00:00", ["text"] = "Someone must have lied.", ["drawer"] = "lighten" } },
    },
    ["stats"] = { ["title"] = "The Slow Index", ["authors"] = "Sam Roe" },
}`)
    expect(highlightsOf(read)).toMatchObject([
      { quote: 'Someone must have lied.', locator: { page: '42', chapter: 'I' }, notes: [{ body: 'who?' }] },
      { quote: 'verdict', locator: { page: '77' }, notes: [] },
      { quote: 'Only a bookmark has it.', locator: { page: '81' } },
    ])
    expect(read.outcomes).toEqual(['3 bookmark bookmark'])
    checkAccount(read)
  })

  test('without a title the name of the book’s file is one', async () => {
    const read = await readImport(
      'return { ["doc_path"] = "/books/What Stays.pdf", ["annotations"] = { { ["drawer"] = "lighten", ["text"] = "Kept.", ["page"] = 3 } } }',
    )
    expect(read.items).toMatchObject([
      { source: { title: 'What Stays' }, highlights: [{ locator: { page: '3' } }] },
    ])
    expect(read.outcomes).toEqual(['1 remark title_from_name'])
  })

  test.each([
    ['a call', 'return { ["annotations"] = os.execute("true") }'],
    ['a function', 'return { ["annotations"] = function() end }'],
    ['joined strings', 'return { ["annotations"] = "a".."b" }'],
    ['a file that is cut off', 'return { ["annotations"] = { [1] = { ["text"] = "Wor'],
    ['more after the table', 'return { ["annotations"] = {} } os.exit()'],
    ['depth without end', `return { ["annotations"] = ${'{'.repeat(100_000)}`],
    ['a table as a key', 'return { ["annotations"] = { [{}] = 1 } }'],
  ])('%s is not read', async (_name, lua) => {
    await expect(readImport(lua)).rejects.toMatchObject({ code: 'damaged_file' })
  })

  test('settings without a book are told', async () => {
    await expect(readImport('return { ["stats"] = {} }')).rejects.toMatchObject({ code: 'unsupported_type' })
  })
})
