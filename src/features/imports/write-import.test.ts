import { strToU8, zipSync } from 'fflate'
import { describe, expect, it } from 'vitest'
import { testLibrary } from '../../../test/support/library.ts'
import { addSource } from '../../../test/support/sources.ts'
import type { Library } from '../../core/library.ts'
import { searchHighlights } from '../search/tools/search-highlights.ts'
import { call } from '../../../test/support/call.ts'
import { Failure } from '../../core/failure.ts'
import { addHighlight } from '../highlights/highlights.ts'
import { addNote } from '../notes/note-store.ts'
import { purgeTrash, trashSource } from '../sources/trash.ts'
import { removeTags } from '../tags/tag-store.ts'
import { undoImport } from './undo-import.ts'
import { writeImport, type WriteOptions } from './write-import.ts'

const bytes = (text: string) => new TextEncoder().encode(text)
const put = (library: Library, text: string, options?: WriteOptions) =>
  // With a report, so that a file that came in before is read again.
  writeImport(library, bytes(text), { reports: true, ...options })

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
})

const DAY_MS = 86_400_000
const idOf = async ({ db }: Library, words: string) =>
  (await db.selectFrom('highlight').select('id').where('quote', '=', words).executeTakeFirstOrThrow()).id

describe('what the reader did here stays', () => {
  it('a highlight that was thrown away does not come back, nor when the trash is long empty', async () => {
    let now = new Date('2026-03-01T12:00:00Z')
    const library = await testLibrary({ now: () => now })
    await put(library, clippings(FIRST, SECOND, NOTE))
    const id = await idOf(library, 'is partly dependent on unhistoric acts')
    await library.change((change) => change.update('highlight', id, { trashed_at: change.at }))
    const again = await put(library, clippings(FIRST, SECOND, NOTE), { reports: true })
    expect(again.counts).toMatchObject({ highlights: 0, notes: 0, deleted: 2, unchanged: 2 })
    expect([...again.outcomes.taken.values()].map(({ fate }) => fate)).toEqual([
      'there',
      'deleted',
      'deleted',
    ])
    now = new Date(now.getTime() + 40 * DAY_MS)
    expect(await purgeTrash(library)).toBeGreaterThan(0)
    expect((await put(library, clippings(FIRST, SECOND, NOTE))).counts).toMatchObject({
      highlights: 0,
      deleted: 2,
    })
    expect(await quotes(library)).toEqual(['The growing good of the world'])
  })

  it('nor does a whole book', async () => {
    let now = new Date('2026-03-01T12:00:00Z')
    const library = await testLibrary({ now: () => now })
    await put(library, FIRST)
    const { id } = await library.db.selectFrom('source').select('id').executeTakeFirstOrThrow()
    await library.change((change) => trashSource(change, { id, trashed_at: null }))
    expect((await put(library, clippings(FIRST, SECOND))).counts).toMatchObject({
      sources: 0,
      highlights: 0,
      deleted: 3,
    })
    now = new Date(now.getTime() + 40 * DAY_MS)
    await purgeTrash(library)
    expect((await put(library, clippings(FIRST, SECOND))).counts).toMatchObject({
      sources: 0,
      highlights: 0,
      deleted: 3,
    })
  })

  it('changed words, a changed title and a tag that was taken off stay as they are', async () => {
    const library = await testLibrary()
    const csv = (words: string) =>
      `Highlight,Book Title,Book Author,Amazon Book ID,Note,Color,Tags,Location Type,Location,Highlighted at,Document tags\n${words},Bees,Ann,,mine,yellow,"a,b",page,1,2024-01-01 10:00:00+00:00,\n`
    await put(library, csv('Honey keeps'))
    const id = await idOf(library, 'Honey keeps')
    await library.change(async (change) => {
      const source = await change.db.selectFrom('source').select('id').executeTakeFirstOrThrow()
      await change.update('source', source.id, { title: 'The bees', match_key: '' })
      await change.update('highlight', id, { quote: 'Honey keeps for ever' })
      await removeTags(change, id, ['b'])
      const note = await change.db.selectFrom('note').select('id').executeTakeFirstOrThrow()
      await change.update('note', note.id, { body: 'mine, now' })
    })
    expect((await put(library, csv('Honey keeps'))).counts).toMatchObject({
      sources: 0,
      highlights: 0,
      notes: 0,
      tags: 0,
      changed: 0,
    })
    expect(await quotes(library)).toEqual(['Honey keeps for ever'])
  })

  it('but a highlight that grew on the Kindle grows here, and its words are kept', async () => {
    const library = await testLibrary()
    await put(library, FIRST)
    const grown = clipping(
      MIDDLEMARCH,
      '100-103',
      'Friday, March 1, 2024 11:00:00 AM',
      'The growing good of the world is partly',
    )
    expect((await put(library, grown)).counts).toMatchObject({ highlights: 0, changed: 1 })
    expect((await put(library, clippings(FIRST, grown))).counts).toMatchObject({ highlights: 0, changed: 0 })
    expect((await put(library, FIRST)).counts).toMatchObject({ highlights: 0, changed: 0 })
    expect(await quotes(library)).toEqual(['The growing good of the world is partly'])
    expect(await library.db.selectFrom('version').select('value').execute()).toEqual([
      { value: 'The growing good of the world' },
    ])
  })
})

it('finds the words in a text that the library has, and knows a highlight that was made here', async () => {
  const library = await testLibrary()
  const id = await addSource(library, {
    title: 'Middlemarch',
    kind: 'book',
    authors: ['George Eliot'],
    text: 'For the growing good of the world is partly dependent on unhistoric acts; and that things are not so ill.',
  })
  await addHighlight(library, { id: String(id), quote: 'is partly dependent on unhistoric acts' })
  expect((await put(library, clippings(FIRST, SECOND))).counts).toMatchObject({
    sources: 0,
    highlights: 1,
    unchanged: 2,
  })
  const found = await library.db
    .selectFrom('highlight')
    .select(['quote', 'state', 'start_offset'])
    .orderBy('start_offset')
    .execute()
  expect(found).toEqual([
    { quote: 'the growing good of the world', state: 'anchored', start_offset: 4 },
    { quote: 'is partly dependent on unhistoric acts', state: 'anchored', start_offset: 34 },
  ])
})

it('what has no date is marked so', async () => {
  const library = await testLibrary({ now: () => new Date('2026-03-01T12:00:00Z') })
  await put(
    library,
    'Highlight,Book Title,Book Author,Amazon Book ID,Note,Color,Tags,Location Type,Location,Highlighted at,Document tags\nHoney,Bees,Ann,,,,,page,1,,\n',
  )
  expect(await library.db.selectFrom('highlight').select(['written', 'created_at']).execute()).toEqual([
    { written: '', created_at: '2026-03-01T12:00:00.000Z' },
  ])
  const found = await call(searchHighlights, library, { query: 'honey' })
  expect(JSON.stringify(found)).toContain('"undated":true')
})

it('undo keeps what the reader has used since, and says so', async () => {
  const library = await testLibrary()
  const { importId } = await put(library, clippings(FIRST, SECOND, NOTE))
  const kept = await idOf(library, 'The growing good of the world')
  await library.change(async (change) => {
    const { source_id } = await change.db
      .selectFrom('highlight')
      .select('source_id')
      .where('id', '=', kept)
      .executeTakeFirstOrThrow()
    await addNote(change, { sourceId: source_id, highlightId: kept, body: 'my own' })
  })
  expect(await undoImport(library, importId!)).toMatchObject({
    removed: { highlight: 1, note: 1, source: 0 },
    kept: { highlight: 1, source: 1 },
  })
  expect(await quotes(library)).toEqual(['The growing good of the world'])
  expect(await undoImport(library, importId!)).toMatchObject({ isNew: false })
})

it('goes on where it was cut short, under the same id', async () => {
  const library = await testLibrary()
  const end = new AbortController()
  const many = Array.from({ length: 2_500 }, (_, i) =>
    clipping(
      `Book ${i % 5} (Ann)`,
      `${i * 10}-${i * 10 + 2}`,
      'Friday, March 1, 2024 10:00:00 AM',
      `words of number ${i}`,
    ),
  )
  const cut = put(library, clippings(...many), {
    signal: end.signal,
    onProgress: () => end.abort(new Failure('cancelled', 'Enough.', { hint: '' })),
  })
  await expect(cut).rejects.toMatchObject({ code: 'cancelled' })
  const started = (await quotes(library)).length
  expect(started).toBeGreaterThan(0)
  expect(started).toBeLessThan(2_500)
  const { isResumed, counts } = await put(library, clippings(...many))
  expect(isResumed).toBe(true)
  expect(counts).toMatchObject({ sources: 5, highlights: 2_500 })
  expect(await library.db.selectFrom('import').select('status').execute()).toEqual([{ status: 'completed' }])
  expect(new Set(await quotes(library)).size).toBe(2_500)
})

it.each([
  ['nothing', new Uint8Array(), 'damaged_file'],
  ['a text', bytes('Dear diary'), 'unsupported_type'],
  ['a cut archive', bytes('PK\u0003\u0004 and no more'), 'damaged_file'],
  ['half of a JSON', bytes('[{"uri": "https://a.test/", '), 'damaged_file'],
  ['no database', bytes('SQLite format 3\0 and nothing else'), 'damaged_file'],
])('refuses %s and writes nothing', async (_what, file, code) => {
  const library = await testLibrary()
  await expect(writeImport(library, file)).rejects.toMatchObject({ code })
  expect(await library.db.selectFrom('import').selectAll().execute()).toEqual([])
  expect(await library.db.selectFrom('source').selectAll().execute()).toEqual([])
})

const LINKS =
  'title,url,time_added,tags,status\nOn bees,https://bees.test/a,1709290000,"honey|wax",archive\nOn wax,https://bees.test/b,1709290001,,unread\n'

it('saves links with their dates and tags, and captures them where that is wanted; undo withdraws both', async () => {
  const library = await testLibrary()
  const { importId, counts } = await put(library, LINKS, { fetches: true })
  expect(counts).toMatchObject({ sources: 2, tags: 3 })
  const sources = await library.db
    .selectFrom('source')
    .select(['title', 'url', 'created_at'])
    .orderBy('id')
    .execute()
  expect(sources[0]).toEqual({
    title: 'On bees',
    url: 'https://bees.test/a',
    created_at: '2024-03-01T10:46:40.000Z',
  })
  expect(
    (await library.db.selectFrom('tag').select('name').orderBy('name').execute()).map(({ name }) => name),
  ).toEqual(['archived', 'honey', 'wax'])
  expect(await library.db.selectFrom('capture').select('state').execute()).toHaveLength(2)
  expect(await library.db.selectFrom('read').selectAll().execute()).toEqual([])
  await undoImport(library, importId!)
  for (const table of ['source', 'capture', 'tag', 'tagging', 'source_url'] as const)
    expect([table, await library.db.selectFrom(table).selectAll().execute()]).toEqual([table, []])
})

const page = (words: string) => `<div><p>${`${words} `.repeat(60)}</p></div>`
const omnivore = (words: string) =>
  zipSync({
    'metadata_0_to_1.json': strToU8(
      JSON.stringify([
        {
          id: '1',
          slug: 'bees',
          title: 'On bees',
          url: 'https://bees.test/a',
          state: 'Active',
          savedAt: '2024-03-01T10:00:00.000Z',
          labels: [],
        },
      ]),
    ),
    'content/bees.html': strToU8(page(words)),
    'highlights/bees.md': strToU8('> The dance of the bees\n'),
  })

it('takes a text that comes along where there is none, finds the highlights in it, and never puts it over another', async () => {
  const library = await testLibrary()
  const first = await writeImport(library, omnivore('The dance of the bees tells of flowers far away.'))
  expect(first.counts).toMatchObject({ sources: 1, highlights: 1 })
  const { text_id } = await library.db.selectFrom('source').select('text_id').executeTakeFirstOrThrow()
  expect(text_id).not.toBeNull()
  await writeImport(library, omnivore('Another text altogether, about the dance of the bees.'))
  expect(await library.db.selectFrom('source').select('text_id').execute()).toEqual([{ text_id }])
  expect(
    (await library.db.selectFrom('text').select('state').orderBy('id').execute()).map(({ state }) => state),
  ).toEqual(['good', 'kept'])
})

it('two at once bring a file in once', async () => {
  const library = await testLibrary()
  const many = clippings(
    ...Array.from({ length: 1_500 }, (_, i) =>
      clipping(
        `Book ${i % 5} (Ann)`,
        `${i * 10}-${i * 10 + 2}`,
        'Friday, March 1, 2024 10:00:00 AM',
        `words of number ${i}`,
      ),
    ),
  )
  await Promise.all([put(library, many), put(library, many)])
  expect(await library.db.selectFrom('source').select('id').execute()).toHaveLength(5)
  const all = await quotes(library)
  expect([all.length, new Set(all).size]).toEqual([1_500, 1_500])
})

describe('the very same file again', () => {
  const again = (library: Library, text: string) => writeImport(library, bytes(text))

  it('is not read again: all of it is known', async () => {
    const library = await testLibrary()
    const first = await again(library, clippings(FIRST, SECOND))
    expect(first.cameInAt).toBeUndefined()
    const second = await again(library, clippings(FIRST, SECOND))
    expect(second).toMatchObject({ importId: null, counts: { highlights: 0, sources: 0, rows: 2 } })
    expect(second.cameInAt).toMatch(/^\d{4}-/)
  })

  it('is read where anything was taken out since, were it by the undo of another import', async () => {
    const library = await testLibrary()
    const small = await again(library, clippings(FIRST))
    await again(library, clippings(FIRST, SECOND))
    await undoImport(library, small.importId!)
    const before = await quotes(library)
    const third = await again(library, clippings(FIRST, SECOND))
    expect(third.cameInAt).toBeUndefined()
    expect((await quotes(library)).length).toBeGreaterThan(before.length)
  })

  it('is read where another version of the program had read it', async () => {
    const library = await testLibrary()
    await again(library, clippings(FIRST))
    await library.db.updateTable('import').set({ version: '0.0.1' }).execute()
    expect((await again(library, clippings(FIRST))).cameInAt).toBeUndefined()
  })
})
