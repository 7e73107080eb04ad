import { expect, it } from 'vitest'
import { testLibrary } from '../../../test/support/library.ts'
import { addSource } from '../../../test/support/sources.ts'
import type { Library } from '../../core/library.ts'
import { searchHighlights } from '../search/tools/search-highlights.ts'
import { call } from '../../../test/support/call.ts'
import { undoImport } from './undo-import.ts'
import { writeImport, type WriteOptions } from './write-import.ts'

const bytes = (text: string) => new TextEncoder().encode(text)
const put = (library: Library, text: string, options?: WriteOptions) =>
  writeImport(library, bytes(text), options)

const clipping = (title: string, place: string, at: string, words: string, kind = 'Highlight') =>
  `${title}\r\n- Your ${kind} on Location ${place} | Added on ${at}\r\n\r\n${words}\r\n==========\r\n`

const MIDDLEMARCH = 'Middlemarch (George Eliot)'
const clippings = (...all: string[]) => all.join('')
const FIRST = clipping(
  MIDDLEMARCH,
  '100-101',
  'Friday, March 1, 2024 10:00:00 AM',
  'The growing good of the world',
)
const SECOND = clipping(
  MIDDLEMARCH,
  '200-201',
  'Saturday, March 2, 2024 10:00:00 AM',
  'is partly dependent on unhistoric acts',
)
const NOTE = clipping(MIDDLEMARCH, '201', 'Saturday, March 2, 2024 10:01:00 AM', 'so true', 'Note')

const quotes = async ({ db }: Library) =>
  (
    await db
      .selectFrom('highlight')
      .select('quote')
      .where('trashed_at', 'is', null)
      .orderBy('quote')
      .execute()
  ).map(({ quote }) => quote)

it('brings highlights and notes in, dated by the reader’s clock, and finds them', async () => {
  const library = await testLibrary()
  await library.change((change) => change.insert('setting', { key: 'timeZone', value: 'Europe/Berlin' }))
  const { counts } = await put(library, clippings(FIRST, SECOND, NOTE))
  expect(counts).toMatchObject({ rows: 3, sources: 1, highlights: 2, notes: 1, unchanged: 0 })
  const highlights = await library.db.selectFrom('highlight').selectAll().orderBy('id').execute()
  expect(
    highlights.map(({ quote, created_at, written, locator, origin }) => [
      quote,
      created_at,
      written,
      locator,
      origin,
    ]),
  ).toEqual([
    [
      'The growing good of the world',
      '2024-03-01T09:00:00.000Z',
      '2024-03-01T10:00:00',
      '{"location":"100-101"}',
      'import',
    ],
    [
      'is partly dependent on unhistoric acts',
      '2024-03-02T09:00:00.000Z',
      '2024-03-02T10:00:00',
      '{"location":"200-201"}',
      'import',
    ],
  ])
  const found = await call(searchHighlights, library, { query: 'unhistoric' })
  expect(JSON.stringify(found)).toContain('unhistoric acts')
})

it('a file again adds nothing, a grown one only what is new', async () => {
  const library = await testLibrary()
  await put(library, FIRST)
  expect((await put(library, FIRST)).counts).toMatchObject({ sources: 0, highlights: 0, unchanged: 2 })
  expect((await put(library, clippings(FIRST, SECOND, NOTE))).counts).toMatchObject({
    sources: 0,
    highlights: 1,
    notes: 1,
  })
  expect(await quotes(library)).toEqual([
    'The growing good of the world',
    'is partly dependent on unhistoric acts',
  ])
})

it('undo leaves nothing of it, and the file can be imported again', async () => {
  const library = await testLibrary()
  const { importId } = await put(library, clippings(FIRST, SECOND, NOTE))
  const undone = await undoImport(library, importId!)
  expect(undone.removed).toEqual({ source: 1, highlight: 2, note: 1, read: 0 })
  expect(await quotes(library)).toEqual([])
  expect(await library.db.selectFrom('imported').selectAll().execute()).toEqual([])
  expect((await put(library, clippings(FIRST, SECOND, NOTE))).counts).toMatchObject({
    sources: 1,
    highlights: 2,
  })
  void addSource
})
