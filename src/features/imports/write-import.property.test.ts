import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { testLibrary } from '../../../test/support/library.ts'
import { addSource } from '../../../test/support/sources.ts'
import type { Library } from '../../core/library.ts'
import { undoImport } from './undo-import.ts'
import { writeImport } from './write-import.ts'

interface Entry {
  book: number
  place: number
  length: number
  words: string
  note: boolean
  hour: number
}

const WORDS = ['river', 'bridge', 'honest', 'growing good', 'unhistoric', 'tombs', 'é资', '“so”']
const entry = fc.record({
  book: fc.nat(2),
  place: fc.integer({ min: 1, max: 60 }),
  length: fc.nat(3),
  words: fc.array(fc.constantFrom(...WORDS), { minLength: 1, maxLength: 5 }).map((all) => all.join(' ')),
  note: fc.boolean(),
  hour: fc.nat(8_000),
})
const entries = fc.uniqueArray(entry, { selector: ({ hour }) => hour, maxLength: 14 })

/** Of equal words at one place with two dates the first that comes has its date: here each place has its own words. */
const places = fc.uniqueArray(entry, { selector: ({ book, place }) => `${book} ${place}`, maxLength: 14 })

const DAYS = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday']

function clippings(all: readonly Entry[]): Uint8Array {
  const text = all.map(({ book, place, length, words, note, hour }) => {
    const at = new Date(Date.UTC(2020, 0, 1) + hour * 3_600_000)
    const day = at.toLocaleDateString('en-US', {
      timeZone: 'UTC',
      month: 'long',
      day: 'numeric',
      year: 'numeric',
    })
    const clock = at.toLocaleTimeString('en-US', { timeZone: 'UTC' })
    const kind = note ? 'Note' : 'Highlight'
    const range = note ? String(place * 10) : `${place * 10}-${place * 10 + length}`
    return `Book ${book} (Author)\r\n- Your ${kind} on Location ${range} | Added on ${DAYS[at.getUTCDay()]}, ${day} ${clock}\r\n\r\n${words}\r\n==========\r\n`
  })
  return new TextEncoder().encode(text.join(''))
}

const readwise = (all: readonly Entry[]): Uint8Array =>
  new TextEncoder().encode(
    [
      'Highlight,Book Title,Book Author,Amazon Book ID,Note,Color,Tags,Location Type,Location,Highlighted at,Document tags',
      ...all.map(
        ({ book, place, words, note, hour }) =>
          `${words},Book ${book},Author,,${note ? `on ${words}` : ''},yellow,"a${hour % 3},b",location,${place},${new Date(Date.UTC(2020, 0, 1) + hour * 3_600_000).toISOString()},`,
      ),
    ].join('\r\n'),
  )

/** Everything that a reader would see, without ids and the times of the import. */
async function seen({ db }: Library) {
  const sources = await db.selectFrom('source').selectAll().where('trashed_at', 'is', null).execute()
  const highlights = await db.selectFrom('highlight').selectAll().where('trashed_at', 'is', null).execute()
  const notes = await db.selectFrom('note').selectAll().where('trashed_at', 'is', null).execute()
  const taggings = await db
    .selectFrom('tagging')
    .innerJoin('tag', 'tag.id', 'tagging.tag_id')
    .select(['tagging.target_id', 'tag.name'])
    .execute()
  const titleOf = new Map(sources.map(({ id, title }) => [id, title]))
  const quoteOf = new Map(highlights.map(({ id, quote, locator }) => [id, `${quote} ${locator}`]))
  return {
    sources: sources.map(({ title, authors, kind, url }) => [title, authors, kind, url].join('|')).toSorted(),
    highlights: highlights
      .map(({ source_id, quote, locator, written, color }) =>
        [titleOf.get(source_id), quote, locator, written, color].join('|'),
      )
      .toSorted(),
    notes: notes
      .map(({ source_id, highlight_id, body }) =>
        [titleOf.get(source_id), quoteOf.get(highlight_id ?? 0), body].join('|'),
      )
      .toSorted(),
    tags: taggings
      .map(({ target_id, name }) => `${quoteOf.get(target_id) ?? titleOf.get(target_id)} ${name}`)
      .toSorted(),
  }
}

/** Every row but for clocks, which only grow. */
async function rows({ db }: Library) {
  const tables = [
    'source',
    'source_url',
    'highlight',
    'note',
    'read',
    'tag',
    'tagging',
    'text',
    'version',
    'passage',
  ] as const
  const all: Record<string, unknown[]> = {}
  for (const table of tables) {
    const found = await db.selectFrom(table).selectAll().orderBy('id').execute()
    all[table] = found.map((row) => ({ ...row, clock: '', clocks: '', embedded: null }))
  }
  return all
}

// With a report, so that a file that came in before is read again.
const put = (library: Library, file: Uint8Array) => writeImport(library, file, { reports: true })

const rounds = { numRuns: 25 }

describe('an import, whatever is in the file', () => {
  it('twice is once', () =>
    fc.assert(
      fc.asyncProperty(entries, fc.constantFrom(clippings, readwise), async (all, write) => {
        fc.pre(all.length > 0)
        const library = await testLibrary()
        await put(library, write(all))
        const once = await rows(library)
        const { counts } = await put(library, write(all))
        expect(counts).toMatchObject({ sources: 0, highlights: 0, notes: 0, tags: 0, changed: 0 })
        expect(await rows(library)).toEqual(once)
      }),
      rounds,
    ))

  it('a grown file after the first is the grown file alone', () =>
    fc.assert(
      fc.asyncProperty(entries, fc.nat(14), fc.constantFrom(clippings, readwise), async (all, cut, write) => {
        fc.pre(all.length > 0 && cut > 0)
        const ordered = all.toSorted((a, b) => a.hour - b.hour)
        const [alone, grown] = [await testLibrary(), await testLibrary()]
        await put(alone, write(ordered))
        await put(grown, write(ordered.slice(0, cut)))
        await put(grown, write(ordered))
        const [one, other] = [await seen(alone), await seen(grown)]
        expect(other.highlights).toEqual(one.highlights)
        expect(other.sources).toEqual(one.sources)
        expect(other.tags).toEqual(one.tags)
      }),
      rounds,
    ))

  it('undone leaves every row as it was', () =>
    fc.assert(
      fc.asyncProperty(entries, entries, fc.constantFrom(clippings, readwise), async (before, all, write) => {
        fc.pre(all.length > 0)
        const library = await testLibrary()
        await addSource(library, {
          title: 'Book 0',
          authors: ['Author'],
          text: 'A river and an honest bridge over it.',
        })
        if (before.length > 0) await put(library, write(before))
        const was = await rows(library)
        const { importId } = await put(library, write(all))
        await undoImport(library, importId!)
        expect(await rows(library)).toEqual(was)
      }),
      rounds,
    ))

  it('a trial says what would come in, and writes nothing', () =>
    fc.assert(
      fc.asyncProperty(entries, entries, fc.constantFrom(clippings, readwise), async (before, all, write) => {
        fc.pre(all.length > 0)
        const library = await testLibrary()
        if (before.length > 0) await put(library, write(before))
        const was = await rows(library)
        const trial = await writeImport(library, write(all), { dryRun: true })
        expect(await rows(library)).toEqual(was)
        expect(trial.counts).toEqual((await put(library, write(all))).counts)
      }),
      rounds,
    ))

  it('two overlapping files of Readwise, in whichever order, come to the same', () =>
    fc.assert(
      fc.asyncProperty(places, fc.nat(14), fc.nat(14), async (all, a, b) => {
        const [one, two] = [all.slice(0, Math.max(1, a)), all.slice(Math.min(b, all.length - 1))]
        fc.pre(one.length > 0 && two.length > 0)
        const [first, second] = [await testLibrary(), await testLibrary()]
        await put(first, readwise(one))
        await put(first, readwise(two))
        await put(second, readwise(two))
        await put(second, readwise(one))
        expect(await seen(second)).toEqual(await seen(first))
      }),
      rounds,
    ))
})
