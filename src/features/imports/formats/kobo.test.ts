import { describe, expect, test } from 'vitest'
import { checkAccount, highlightsOf, readImport } from '../../../../test/support/imports.ts'
import { makeDatabase } from '../../../../test/support/make-database.ts'

const BOOKMARK = `create table Bookmark (BookmarkID text not null primary key, VolumeID text not null, ContentID text not null,
  StartContainerPath text, StartOffset integer, EndContainerPath text, EndOffset integer, Text text, Annotation text,
  DateCreated text, ChapterProgress real not null default 0, Hidden bool not null default 0, Type text, Color integer default 0)`
const CONTENT = `create table content (ContentID text not null, ContentType integer not null, BookID text, Title text,
  Attribution text, ISBN text, Language text, Publisher text, VolumeIndex integer, ReadStatus integer, ___PercentRead integer,
  primary key (ContentID))`
const BOOK = 'file:///mnt/onboard/Roe/slow.epub'

const mark = (
  id: string,
  chapter: string,
  progress: number,
  text: string | null,
  more: Record<string, unknown> = {},
): string => {
  const row: Record<string, unknown> = {
    BookmarkID: id,
    VolumeID: BOOK,
    ContentID: `${BOOK}!OEBPS!${chapter}`,
    StartContainerPath: 'span#kobo\\.1\\.1',
    StartOffset: 0,
    Text: text,
    DateCreated: '2023-01-22T13:11:36.000',
    ChapterProgress: progress,
    Type: 'highlight',
    ...more,
  }
  const value = (of: unknown): string =>
    of === null ? 'null' : typeof of === 'number' ? String(of) : `'${String(of).replaceAll("'", "''")}'`
  return `insert into Bookmark (${Object.keys(row).join(', ')}) values (${Object.values(row).map(value).join(', ')})`
}

const LIBRARY = [
  BOOKMARK,
  CONTENT,
  `insert into content values ('${BOOK}', 6, null, 'The Slow Index', 'Sam Roe, Ann Mae Poe', '9780999999011', 'en', 'Press', -1, 2, 100)`,
  `insert into content values ('${BOOK}!OEBPS!ch2.xhtml', 9, '${BOOK}', 'ch2.xhtml', null, null, null, null, 1, null, null)`,
  `insert into content values ('${BOOK}!OEBPS!ch11.xhtml', 9, '${BOOK}', 'ch11.xhtml', null, null, null, null, 10, null, null)`,
  `insert into content values ('${BOOK}!OEBPS!ch2.xhtml#part-2', 899, '${BOOK}', 'Two, later', null, null, null, null, 5, null, null)`,
  `insert into content values ('${BOOK}!OEBPS!ch2.xhtml-1', 899, '${BOOK}', 'Chapter Two', null, null, null, null, 4, null, null)`,
]

test('highlights in the order of the book, with chapters, notes, colours, and times in UTC', async () => {
  const read = await readImport(
    makeDatabase(
      ...LIBRARY,
      mark('a', 'ch11.xhtml', 0.1, 'In eleven.', { Color: 2 }),
      mark('b', 'ch2.xhtml', 0.9, 'Late in two.\n', {
        Annotation: ' why ',
        DateCreated: '2023-01-22T13:11:36Z',
      }),
      mark('c', 'ch2.xhtml', 0.2, 'Early in two.', { DateCreated: '' }),
      mark('d', 'ch2.xhtml', 0.2, '', { Type: 'dogear' }),
      mark('e', 'ch2.xhtml', 0.3, 'Hidden.', { Hidden: 'true' }),
      mark('f', 'ch2.xhtml', 0.3, null, { Type: 'markup' }),
      mark('g', 'ch2.xhtml', 0.3, null, { Type: 'note', Annotation: 'a note alone' }),
    ),
  )
  expect(read.format).toBe('kobo')
  expect(read.items).toMatchObject([
    {
      source: {
        kind: 'book',
        title: 'The Slow Index',
        isbns: ['9780999999011'],
        language: 'en',
        publisher: 'Press',
      },
      highlights: [
        { quote: 'Early in two.', locator: { chapter: 'Chapter Two' }, created: null },
        {
          quote: 'Late in two.',
          notes: [{ body: 'why' }],
          created: '2023-01-22T13:11:36.000Z',
          color: 'yellow',
        },
        { quote: 'In eleven.', locator: null, created: '2023-01-22T13:11:36.000Z', color: 'blue' },
      ],
      notes: [{ body: 'a note alone' }],
      reading: { status: 'finished', percent: 100, finishedOn: null },
    },
  ])
  expect(read.outcomes).toEqual(['4 bookmark bookmark', '5 left deleted', '6 refused drawing'])
  checkAccount(read)
})

test('a mark whose book is gone: its file’s name where it has one, else the row is named', async () => {
  const read = await readImport(
    makeDatabase(
      BOOKMARK,
      CONTENT,
      mark('a', 'ch2.xhtml', 0.1, 'Of a file.', { VolumeID: 'file:///mnt/onboard/What%20Stays.kepub.epub' }),
      mark('b', 'ch2.xhtml', 0.1, 'Of the shop.', { VolumeID: '0f3c1b9e-aaaa-bbbb-cccc-000000000000' }),
    ),
  )
  expect(read.items).toMatchObject([{ source: { title: 'What Stays' } }])
  expect(read.outcomes).toEqual(['1 remark title_from_name', '2 refused no_title'])
})

test('without numbers of chapters their names are read as people read them', async () => {
  const read = await readImport(
    makeDatabase(
      BOOKMARK,
      CONTENT,
      LIBRARY[2]!,
      mark('a', 'ch11.xhtml', 0.1, 'Eleven.'),
      mark('b', 'ch2.xhtml', 0.1, 'Two.'),
      mark('c', 'ch10.xhtml', 0.1, 'Ten.'),
    ),
  )
  expect(highlightsOf(read).map(({ quote }) => quote)).toEqual(['Two.', 'Ten.', 'Eleven.'])
})

test('older databases lack columns', async () => {
  const read = await readImport(
    makeDatabase(
      'create table Bookmark (BookmarkID text, VolumeID text, ContentID text, Text text, Annotation text, DateCreated text)',
      'create table content (ContentID text, ContentType integer, Title text, Attribution text)',
      "insert into content values ('b', 6, 'Old', 'Roe')",
      "insert into Bookmark values ('1', 'b', 'b', 'Words.', null, '2013-02-19T02:38:39')",
    ),
  )
  expect(read.items).toMatchObject([
    {
      source: { title: 'Old' },
      highlights: [{ quote: 'Words.', created: '2013-02-19T02:38:39.000Z', color: null }],
    },
  ])
})

describe('a database that is made to harm', () => {
  const rowsOf = 'with recursive r(n) as (select 1 union all select n + 1 from r) select n as'

  test('views are not looked into, even where they would never end', async () => {
    const read = await readImport(
      makeDatabase(
        CONTENT,
        `create view Bookmark as ${rowsOf} BookmarkID, 'b' as VolumeID, 'b' as ContentID, 'x' as Text from r`,
      ),
    )
    expect(read.report.rows).toBe(0)
  })

  test('columns that would be computed are as if they were not there', async () => {
    const read = await readImport(
      makeDatabase(
        CONTENT,
        "insert into content values ('b', 6, null, 'Book', 'Roe', null, null, null, null, null, null)",
        'create table Bookmark (BookmarkID text, VolumeID text, ContentID text, Annotation text, Text text as (hex(zeroblob(100000000))) virtual)',
        "insert into Bookmark values ('1', 'b', 'b', 'note')",
      ),
    )
    expect(read.items).toMatchObject([{ highlights: [], notes: [{ body: 'note' }] }])
  })

  test('one whose pages are cut off or scrambled is refused', async () => {
    const whole = makeDatabase(
      ...LIBRARY,
      ...Array.from({ length: 300 }, (_, i) =>
        mark(`m${i}`, 'ch2.xhtml', i / 300, `Words ${i}. `.repeat(20)),
      ),
    )
    await expect(readImport(whole.slice(0, 2048))).rejects.toMatchObject({ code: 'damaged_file' })
    const scrambled = whole.slice()
    for (let i = 8192; i < scrambled.length; i++) scrambled[i] = (i * 7919) & 0xff
    await expect(readImport(scrambled)).rejects.toMatchObject({ code: 'damaged_file' })
    expect(highlightsOf(await readImport(whole))).toHaveLength(300)
  })

  test('a schema whose pages lead back to themselves is refused', async () => {
    const whole = makeDatabase(
      ...LIBRARY,
      ...Array.from({ length: 200 }, (_, i) => `create table t${i} (a text, ${'b'.repeat(200)} text)`),
    )
    const looped = Buffer.from(whole)
    expect(looped[100]).toBe(5)
    looped.writeUInt32BE(1, 108)
    await expect(readImport(looped)).rejects.toMatchObject({ code: 'damaged_file' })
  })

  test('one in the mode with a log beside it is read without the log', async () => {
    const read = await readImport(
      makeDatabase('pragma journal_mode = wal', ...LIBRARY, mark('a', 'ch2.xhtml', 0.5, 'Words.')),
    )
    expect(highlightsOf(read)).toHaveLength(1)
  })
})
