import { expect, test } from 'vitest'
import { checkAccount, readImport } from '../../../../test/support/imports.ts'
import { makeDatabase } from '../../../../test/support/make-database.ts'

const seconds = (iso: string): number => (Date.parse(iso) - Date.UTC(2001, 0, 1)) / 1000

const annotations = makeDatabase(
  `create table ZAEANNOTATION (Z_PK integer primary key, ZANNOTATIONDELETED integer, ZANNOTATIONSTYLE integer, ZANNOTATIONTYPE integer,
     ZPLLOCATIONRANGESTART integer, ZANNOTATIONCREATIONDATE timestamp, ZANNOTATIONASSETID varchar, ZANNOTATIONLOCATION varchar,
     ZANNOTATIONNOTE varchar, ZANNOTATIONSELECTEDTEXT varchar, ZFUTUREPROOFING5 varchar)`,
  `insert into ZAEANNOTATION values
     (1, 0, 3, 2, 0, ${seconds('2024-03-05T10:11:12.500Z')}, 'A1', 'epubcfi(/6/24[c12]!/4/2/1,:10,:20)', 'a thought', 'Later words.', 'Twelve'),
     (2, 0, 1, 2, 0, null, 'A1', 'epubcfi(/6/8[c4]!/4/2/1,:0,:9)', null, 'Earlier words.', null),
     (3, 1, 3, 2, 0, 1, 'A1', null, null, 'Deleted.', null),
     (4, 0, 0, 3, 0, 1, 'A1', 'epubcfi(/6/8!/4)', null, null, null),
     (5, 0, 0, 1, 0, 1, 'A1', 'epubcfi(/6/8!/4)', null, null, null),
     (6, 0, 0, 2, 0, 1, 'GONE', 'epubcfi(/6/8!/4)', null, 'Of a book that is gone.', null)`,
)
const library = makeDatabase(
  `create table ZBKLIBRARYASSET (Z_PK integer primary key, ZISFINISHED integer, ZISSAMPLE integer, ZREADINGPROGRESS float, ZLASTOPENDATE timestamp,
     ZASSETID varchar, ZTITLE varchar, ZAUTHOR varchar, ZLANGUAGE varchar)`,
  `insert into ZBKLIBRARYASSET values
     (1, 1, 0, 1.0, 5, 'A1', 'The Slow Index', 'Sam Roe & Ann Poe', 'en'),
     (2, 0, 0, 0.25, 5, 'A2', 'Begun', 'Roe', null),
     (3, 0, 1, 0.0, null, 'A3', 'A sample', 'Roe', null)`,
)

test.each([
  ['highlights first', annotations, library],
  ['titles first', library, annotations],
])('both files, %s', async (_name, one, other) => {
  const read = await readImport(one, other)
  expect(read.format).toBe('apple-books')
  expect(read.items).toMatchObject([
    {
      source: { kind: 'book', title: 'The Slow Index', authors: ['Sam Roe', 'Ann Poe'], language: 'en' },
      highlights: [
        {
          quote: 'Earlier words.',
          color: 'green',
          created: null,
          locator: { cfi: 'epubcfi(/6/8[c4]!/4/2/1,:0,:9)' },
        },
        {
          quote: 'Later words.',
          color: 'yellow',
          created: '2024-03-05T10:11:12.500Z',
          locator: { chapter: 'Twelve' },
          notes: [{ body: 'a thought' }],
        },
      ],
      reading: { status: 'finished', percent: 100 },
    },
    { source: { title: 'Begun' }, highlights: [], reading: { status: null, percent: 25 } },
  ])
  expect(read.outcomes).toEqual([
    '3 left deleted',
    '4 left position',
    '5 bookmark bookmark',
    '6 refused no_title',
    '9 left unread_sample',
  ])
  checkAccount(read)
})

test('highlights alone say where their titles are', async () => {
  const read = await readImport(annotations)
  expect(read.items).toEqual([])
  expect(read.outcomes.slice(0, 2)).toEqual(['1 refused title_elsewhere', '2 refused title_elsewhere'])
  expect(read.report.outcomes[0]!.message).toContain('give both files')
})

test('titles alone are books with what was read of them', async () => {
  const read = await readImport(library)
  expect(read.items.map(({ source, reading }) => [source.title, reading.status])).toEqual([
    ['The Slow Index', 'finished'],
    ['Begun', null],
  ])
})
