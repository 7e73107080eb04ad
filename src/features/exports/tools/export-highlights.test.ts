import { parse } from 'csv-parse/sync'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { call, failureOfCall } from '../../../../test/support/call.ts'
import { HOSTILE as WORDS } from '../../../../test/support/hostile-library.ts'
import { testLibrary } from '../../../../test/support/library.ts'
import { readImport } from '../../../../test/support/imports.ts'
import { addSource } from '../../../../test/support/sources.ts'
import type { Library } from '../../../core/library.ts'
import { addTags } from '../../tags/tag-store.ts'
import { joinNames, joinNotes, splitNames, splitNotes } from '../csv-cells.ts'
import { CSV_COLUMNS, writeHighlightCsv } from '../highlight-csv.ts'
import { exportHighlights } from './export-highlights.ts'

interface Marked {
  quote?: string
  start?: number | null
  notes?: readonly string[]
  tags?: readonly string[]
  locator?: object
  color?: string
}

function mark(library: Library, sourceId: number, { quote = 'words', start = null, ...more }: Marked) {
  return library.change(async (change) => {
    const times = { created_at: change.at, updated_at: change.at }
    const id = await change.insert('highlight', {
      source_id: sourceId,
      quote,
      start_offset: start,
      end_offset: start === null ? null : start + 1,
      state: 'unanchored',
      origin: 'reader',
      locator: more.locator ? JSON.stringify(more.locator) : null,
      color: more.color ?? null,
      ...times,
    })
    for (const body of more.notes ?? [])
      await change.insert('note', { source_id: sourceId, highlight_id: id, kind: 'comment', body, ...times })
    if (more.tags) await addTags(change, id, more.tags)
    return id
  })
}

async function pagesOf(
  library: Library,
  limit: number,
  between: (page: number) => Promise<void> = async () => {},
) {
  const pages: string[] = []
  for (let cursor: unknown; ;) {
    const output = await call(exportHighlights, library, {
      limit,
      ...(typeof cursor === 'string' && { cursor }),
    })
    pages.push(String(output['csv']))
    cursor = output['nextCursor']
    if (cursor === null) return pages
    await between(pages.length)
  }
}

/** As any other program reads it. */
const read = (csv: string): Record<string, string>[] =>
  parse(csv, { columns: true, relax_quotes: false, record_delimiter: '\r\n' })

const HOSTILE: readonly string[] = [...WORDS, '","', '\\---', ';\\; a, b']

describe('export_highlights', () => {
  it('gives one file in pages, with the header on the first alone and no row cut in two', async () => {
    const library = await testLibrary()
    const id = await addSource(library, { title: '=HYPERLINK("x")', authors: ['Roe, Sam', 'B; C'] })
    for (const quote of HOSTILE) await mark(library, id, { quote, notes: [quote], tags: ['a;b', 'c'] })
    const whole: string[] = []
    for await (const piece of writeHighlightCsv(library.db)) whole.push(piece)
    for (const limit of [1, 2, 7, 1000]) {
      const pages = await pagesOf(library, limit)
      expect(pages).toHaveLength(Math.ceil(HOSTILE.length / limit))
      expect(pages.join('')).toBe(whole.join(''))
      for (const page of pages) expect(page.endsWith('\r\n')).toBe(true)
    }
    const rows = read(whole.join(''))
    expect(Object.keys(rows[0]!)).toEqual([...CSV_COLUMNS])
    expect(rows.map(({ highlight }) => highlight!.replace(/^'(?='*[=+\-@\t\r])/, ''))).toEqual(HOSTILE)
    for (const row of rows) for (const cell of Object.values(row)) expect(cell).not.toMatch(/^[=+\-@\t\r]/)
  })

  it('is read back exactly by our own import', async () => {
    const library = await testLibrary()
    const id = await addSource(library, {
      title: '@title "x"',
      authors: ['Roe, Sam', '=A; B\\'],
      kind: 'book',
      isbn13: '9780999999011',
    })
    await library.change((change) => addTags(change, id, ['of; source', 'b']))
    const locators = [
      { page: 12 },
      { page: 'xiv', label: '-1' },
      { location: '170-172' },
      { seconds: 3723.5 },
      { percent: 45 },
      { cfi: 'epubcfi(/6/4!/4)' },
    ]
    for (const [n, quote] of HOSTILE.entries())
      await mark(library, id, {
        quote,
        notes: n % 3 === 0 ? [] : [quote, `more ${quote}`],
        tags: n % 2 === 0 ? [] : [`t${n};`, 'two'],
        locator: locators[n % locators.length]!,
        color: 'yellow',
      })
    const [csv = ''] = await pagesOf(library, 1000)
    const { format, items, report } = await readImport(csv)
    expect(format).toBe('commonplace-csv')
    expect(report.taken).toBe(HOSTILE.length)
    expect(items).toHaveLength(1)
    expect(items[0]!.source).toMatchObject({
      title: '@title "x"',
      authors: ['Roe, Sam', '=A; B\\'],
      kind: 'book',
      isbns: ['9780999999011'],
    })
    expect(items[0]!.tags).toEqual(['b', 'of; source'])
    expect(items[0]!.highlights.map(({ quote }) => quote)).toEqual(HOSTILE)
    for (const [n, highlight] of items[0]!.highlights.entries()) {
      const quote = HOSTILE[n]!
      expect(highlight.notes.map(({ body }) => body)).toEqual(n % 3 === 0 ? [] : [quote, `more ${quote}`])
      expect(highlight.tags.toSorted()).toEqual(n % 2 === 0 ? [] : [`t${n};`, 'two'])
      const { page, ...rest }: { page?: string | number } = locators[n % locators.length]!
      expect(highlight.locator).toEqual(page === undefined ? rest : { ...rest, page: String(page) })
      expect(highlight.color).toBe('yellow')
    }
  })

  it('joins names and notes in a way that can be undone', () => {
    const part = fc.string({ unit: fc.constantFrom(...'ab; \\,-\n\r"\''), minLength: 1, maxLength: 12 })
    fc.assert(
      fc.property(fc.array(part, { maxLength: 4 }), (parts) => {
        expect(splitNames(joinNames(parts))).toEqual(parts)
        expect(splitNotes(joinNotes(parts))).toEqual(parts)
      }),
    )
  })

  it(
    'has each highlight that stays once, whatever comes and goes between pages',
    () =>
      fc.assert(
        fc.asyncProperty(
          fc.array(fc.option(fc.nat(5)), { minLength: 5, maxLength: 20 }),
          fc.integer({ min: 1, max: 4 }),
          fc.array(fc.tuple(fc.nat(20), fc.option(fc.nat(5))), { maxLength: 8 }),
          async (starts, limit, events) => {
            const library = await testLibrary()
            const sources = [await addSource(library), await addSource(library), await addSource(library)]
            const ids: number[] = []
            for (const [n, start] of starts.entries())
              ids.push(await mark(library, sources[n % 3]!, { start, quote: `q${n}` }))
            const gone = new Set<number>()
            const pages = await pagesOf(library, limit, async (page) => {
              const event = events[page]
              if (!event) return
              const [n, start] = event
              const id = ids[n % ids.length]!
              gone.add(id)
              await library.change((change) => change.erase('highlight', id))
              await mark(library, sources[n % 3]!, { start, quote: 'new' })
            })
            const seen = read(pages.join('')).map(({ highlight_id }) => Number(highlight_id))
            expect(new Set(seen).size).toBe(seen.length)
            for (const id of ids) if (!gone.has(id)) expect(seen).toContain(id)
          },
        ),
        { numRuns: 15 },
      ),
    60_000,
  )

  it('keeps the order of each text, and leaves out what lies in the trash', async () => {
    const library = await testLibrary()
    const [one, two] = [
      await addSource(library, { title: 'One' }),
      await addSource(library, { title: 'Two' }),
    ]
    await mark(library, two, { quote: 'of two' })
    await mark(library, one, { quote: 'nowhere' })
    await mark(library, one, { quote: 'later', start: 9 })
    await mark(library, one, { quote: 'first', start: 0 })
    const trashed = await mark(library, one, { quote: 'trashed', start: 1 })
    const third = await addSource(library, { title: 'Three' })
    await mark(library, third, { quote: 'of a trashed source' })
    await library.change(async (change) => {
      await change.update('highlight', trashed, { trashed_at: change.at })
      await change.update('source', third, { trashed_at: change.at })
    })
    for (const limit of [1, 3, 500]) {
      const rows = read((await pagesOf(library, limit)).join(''))
      expect(rows.map(({ highlight }) => highlight)).toEqual(['first', 'later', 'nowhere', 'of two'])
    }
  })

  it('shows notes only to who may read notes, and its cursors serve nobody else', async () => {
    const library = await testLibrary()
    const id = await addSource(library)
    for (const quote of ['a', 'b']) await mark(library, id, { quote, notes: ['a secret'] })
    const scopes = ['highlights:read'] as const
    const output = await call(exportHighlights, library, { limit: 1 }, { scopes })
    expect(output['csv']).not.toContain('secret')
    expect(output['row_count']).toBe(1)
    const cursor = output['nextCursor']
    expect(cursor).toEqual(expect.any(String))
    expect(output['meta']).toEqual({ next_cursor: cursor })
    expect(await failureOfCall(exportHighlights, library, { cursor })).toMatchObject({
      code: 'invalid-input',
    })
    expect(await failureOfCall(exportHighlights, library, { cursor: 'x' })).toMatchObject({
      error: { number: -32011 },
    })
    expect(await failureOfCall(exportHighlights, library, { limit: 1001 })).toMatchObject({
      code: 'invalid-input',
    })
    expect(await failureOfCall(exportHighlights, library, {}, { scopes: ['notes:read'] })).toMatchObject({
      code: 'insufficient-scope',
    })
  })

  it('gives the header alone where nothing is marked', async () => {
    const library = await testLibrary()
    expect(await call(exportHighlights, library)).toEqual({
      csv: `${CSV_COLUMNS.join(',')}\r\n`,
      row_count: 0,
      meta: { next_cursor: null },
      nextCursor: null,
    })
  })
})
