import { describe, expect, it, onTestFinished } from 'vitest'
import { call, failureOfCall } from '../../../../test/support/call.ts'
import { libraryOn, testLibrary } from '../../../../test/support/library.ts'
import { pageWith, proseOf } from '../../../../test/support/prose.ts'
import { capturingLibrary, save, type Web } from '../../../../test/support/saved.ts'
import { openAccountsDb } from '../../../../test/support/server-database.ts'
import { addTestSource } from '../../../../test/support/search.ts'
import { SCOPES } from '../../../core/define-tool.ts'
import { Failure } from '../../../core/failure.ts'
import type { Library } from '../../../core/library.ts'
import type { AccountCredits } from '../../../core/outside.ts'
import { scheduleDaily } from '../../../jobs/schedule.ts'
import { JOBS } from '../../../jobs/registry.ts'
import { startWorker } from '../../../jobs/worker.ts'
import { callTool } from '../../../tools/call-tool.ts'
import { newName } from '../../accounts/secrets.ts'
import { requestCapture, storeGiven } from '../../capture/capture-source.ts'
import { withdrawCapture } from '../../capture/withdraw-capture.ts'
import { accountCredits } from '../../credits/account-credits.ts'
import { creditsOf } from '../../credits/credits.ts'
import { addHighlight } from '../../highlights/tools/add-highlight.ts'
import { searchLibrary } from '../../search/tools/search-library.ts'
import { getSource } from '../../sources/tools/get-source.ts'
import type { ImportEntry } from '../describe-import.ts'
import { beginImport, completeImport, failImport, noteImport, noteUndone } from '../import-store.ts'
import { undoImport } from '../undo-import.ts'
import { addSource } from './add-source.ts'
import { getImport } from './get-import.ts'

const ASKED = { confirm: true, user_intent: 'keep this page' }
const URL = 'https://example.test/heron'
const PATIENT = { timeout: 20_000, interval: 25 }

type Added = ImportEntry & { created: boolean }

const add = async (library: Library, args: Record<string, unknown>): Promise<Added> =>
  (await call(addSource, library, { ...ASKED, ...args })) as Added
const look = async (library: Library, id: number): Promise<ImportEntry> =>
  (await call(getImport, library, { id })) as ImportEntry

/** The import once it has ended. */
async function ended(library: Library, id: number): Promise<ImportEntry> {
  await expect.poll(async () => (await look(library, id)).status, PATIENT).toMatch(/completed|failed/)
  return look(library, id)
}

const callOf = () => ({
  scopes: new Set(SCOPES),
  signal: new AbortController().signal,
  connection: 'test',
  progress: () => {},
})

const marksOf = (library: Library) =>
  library.db
    .selectFrom('highlight')
    .selectAll()
    .where('origin', '=', 'reading-aid')
    .where('trashed_at', 'is', null)
    .orderBy('start_offset')
    .execute()

const essay = (words: number): Web => ({ [URL]: pageWith('On Herons', proseOf(words)) })

const CUE_SECONDS = 20
const secondOf = (chapter: number): number => (chapter - 1) * CUE_SECONDS

/** Captions of a talk that says a sentence every twenty seconds. */
function captionsOf(seconds: number): string {
  const sentences = proseOf(1_500)
    .join(' ')
    .split(/(?<=\.) /)
  const at = (second: number) =>
    `${String(Math.floor(second / 60)).padStart(2, '0')}:${String(second % 60).padStart(2, '0')}.000`
  const cues = sentences
    .slice(0, seconds / CUE_SECONDS)
    .map((sentence, n) => `${at(n * CUE_SECONDS)} --> ${at((n + 1) * CUE_SECONDS)}\n${sentence}\n`)
  return `WEBVTT\n\n${cues.join('\n')}`
}

/** The account of a reader with so many credits a month, kept as a server keeps it. */
async function account(credits: number) {
  const { db, close } = await openAccountsDb()
  onTestFinished(close)
  const id = newName()
  await db
    .insertInto('reader')
    .values({ id, library: id, created_at: '2026-01-01T00:00:00.000Z', email: null, name: null })
    .execute()
  const clock = { at: new Date('2026-03-30T12:00:00Z') }
  const books = { db, now: () => clock.at }
  const allowance = { quotaBytes: 0, academy: true, credits }
  const ledger = accountCredits(books, id, allowance)
  return { clock, ledger, left: async () => (await creditsOf(books, id, allowance)).left }
}

/** Does all that is due in a library now. */
async function work(library: Library): Promise<void> {
  const worker = startWorker(library, JOBS)
  await worker.drained()
  await worker.stop()
}

describe('add_source with a url', () => {
  it('saves the page, has it read in the background, and get_import tells how far that is', async () => {
    const library = await testLibrary({ pages: essay(1_000) })
    const added = await add(library, { url: URL })
    expect(added).toMatchObject({ kind: 'link', status: 'pending', created: true, url: URL, reason: null })
    expect(added).not.toHaveProperty('credits_left')
    await work(library)
    const done = await look(library, added.import_id)
    expect(done).toMatchObject({
      status: 'completed',
      source_id: added.source_id,
      title: 'On Herons',
      truncated: false,
      reason: null,
      counts: { sources: 1, stretches: 1, stretches_done: 1 },
    })
    expect(done.finished_at).not.toBeNull()
    const marks = await marksOf(library)
    expect(marks.length).toBeGreaterThan(1)
    expect(done.counts['highlights']).toBe(marks.length)
    const text = await library.db.selectFrom('text').selectAll().executeTakeFirstOrThrow()
    for (const { quote, start_offset, end_offset, text_id, state } of marks) {
      expect([text_id, state]).toEqual([text.id, 'anchored'])
      expect([...text.plain].slice(start_offset!, end_offset!).join('')).toBe(quote)
    }
    expect(await call(getSource, library, { id: added.source_id })).toMatchObject({
      highlights_count: marks.length,
    })
    expect(await call(searchLibrary, library, { query: `"${marks[0]!.quote.split(',')[0]}"` })).toMatchObject(
      { results: [{ id: String(added.source_id) }] },
    )
  })

  it('of a long text marks passages while it goes on reading', async () => {
    const library = await testLibrary({ pages: essay(9_000) })
    const { import_id } = await add(library, { url: URL })
    const seen = new Set<number>()
    const watch = setInterval(() => void marksOf(library).then(({ length }) => seen.add(length)), 2)
    await work(library)
    clearInterval(watch)
    const { counts } = await look(library, import_id)
    expect(counts['stretches']).toBeGreaterThan(2)
    expect(counts['highlights']).toBeLessThanOrEqual(40)
    expect(seen.size).toBeGreaterThan(2)
  })

  it('that is there already and was read adds nothing, however it is written', async () => {
    const library = await testLibrary({ pages: essay(1_000) })
    const first = await add(library, { url: URL })
    await work(library)
    const marks = await marksOf(library)
    const again = await add(library, { url: 'http://www.example.test/heron?utm_source=mail' })
    expect(again).toMatchObject({
      status: 'completed',
      source_id: first.source_id,
      created: false,
      counts: { sources: 0 },
    })
    expect(again.import_id).not.toBe(first.import_id)
    expect(again.remarks.join()).toContain(String(first.import_id))
    await work(library)
    expect(await marksOf(library)).toEqual(marks)
  })

  it('that was only saved is read now, and what the reader marked is not marked again', async () => {
    const library = await testLibrary({ pages: essay(600) })
    const plainly = await testLibrary({ pages: essay(600) })
    await add(plainly, { url: URL })
    await work(plainly)
    const [wanted] = await marksOf(plainly)
    const worker = startWorker(library, JOBS, { pollMs: 20 })
    const { item } = await save(library, URL)
    await worker.stop()
    await call(addHighlight, library, { id: item.id, quote: wanted!.quote.slice(0, 40) })
    const { import_id, created } = await add(library, { url: URL })
    expect(created).toBe(false)
    await work(library)
    const marks = await marksOf(library)
    expect(marks.map(({ start_offset }) => start_offset)).not.toContain(wanted!.start_offset)
    const { counts } = await look(library, import_id)
    expect(counts).toMatchObject({ highlights: marks.length, unchanged: 1 })
    expect(marks.length).toBeGreaterThan(0)
  })

  it('never brings back a passage that the reader threw away', async () => {
    const web = essay(600)
    const library = await testLibrary({ pages: web })
    await add(library, { url: URL })
    await work(library)
    const [gone, ...others] = await marksOf(library)
    await library.change((change) => change.update('highlight', gone!.id, { trashed_at: change.at }))
    // A new version of the page: it is read anew, and most of it stands as it stood.
    web[URL] = pageWith('On Herons', [...proseOf(600), ...proseOf(700, 'the second edition').slice(0, 4)])
    await library.change((change) => requestCapture(change, { url: URL, refresh: true }))
    await work(library)
    const { import_id } = await add(library, { url: URL })
    await work(library)
    expect((await look(library, import_id)).counts).toMatchObject({ stretches_done: 1 })
    const marks = await marksOf(library)
    expect(marks.map(({ quote }) => quote)).not.toContain(gone!.quote)
    expect(marks.map(({ id }) => id)).toEqual(expect.arrayContaining(others.map(({ id }) => id)))
    const spans = marks.map(({ start_offset, end_offset }) => [start_offset!, end_offset!])
    for (const [index, [start]] of spans.entries())
      if (index > 0) expect(start).toBeGreaterThanOrEqual(spans[index - 1]![1]!)
  })

  it('of many at once is one source and one reading', async () => {
    const library = await capturingLibrary(essay(2_500))
    const added = await Promise.all([1, 2, 3, 4, 5].map(() => add(library, { url: URL })))
    expect(new Set(added.map(({ import_id }) => import_id)).size).toBe(1)
    expect(new Set(added.map(({ source_id }) => source_id)).size).toBe(1)
    const { counts } = await ended(library, added[0]!.import_id)
    expect(await marksOf(library)).toHaveLength(counts['highlights']!)
  })

  it('that turns out to be a page read under another address is not read twice', async () => {
    const web: Web = {
      ...essay(600),
      'https://m.example.test/heron': pageWith(
        'On Herons',
        proseOf(600),
        `<link rel="canonical" href="${URL}">`,
      ),
    }
    const library = await testLibrary({ pages: web })
    const first = await add(library, { url: URL })
    await work(library)
    const marks = await marksOf(library)
    const second = await add(library, { url: 'https://m.example.test/heron' })
    expect(second.source_id).not.toBe(first.source_id)
    await work(library)
    const joined = await look(library, second.import_id)
    expect(joined).toMatchObject({ status: 'completed', source_id: first.source_id })
    expect(joined.remarks.join()).toContain(String(first.import_id))
    expect(await marksOf(library)).toHaveLength(marks.length)
  })

  it('can be undone with all that it brought, and then be added anew', async () => {
    const library = await testLibrary({ pages: essay(600) })
    const { import_id, source_id } = await add(library, { url: URL })
    await work(library)
    const before = (await marksOf(library)).map(({ quote }) => quote)
    await undoImport(library, import_id)
    for (const table of ['source', 'text', 'highlight'] as const)
      expect(await library.db.selectFrom(table).select('id').execute()).toEqual([])
    expect((await look(library, import_id)).undone_at).not.toBeNull()
    const again = await add(library, { url: URL })
    expect(again).toMatchObject({ created: true })
    expect(again.source_id).not.toBe(source_id)
    await work(library)
    expect((await marksOf(library)).map(({ quote }) => quote)).toEqual(before)
  })

  it('takes a page out of the trash', async () => {
    const library = await testLibrary({ pages: essay(600) })
    const { source_id } = await add(library, { url: URL })
    await work(library)
    await library.change((change) => change.update('source', source_id!, { trashed_at: change.at }))
    expect(await add(library, { url: URL })).toMatchObject({ source_id, created: false })
    const { trashed_at } = await library.db
      .selectFrom('source')
      .select('trashed_at')
      .executeTakeFirstOrThrow()
    expect(trashed_at).toBeNull()
  })

  it('goes on when somebody else, whose capture it joined, goes away', async () => {
    const library = await testLibrary({ pages: essay(600) })
    const { captureId } = await library.change((change) => requestCapture(change, { url: URL }))
    const { import_id, source_id } = await add(library, { url: URL })
    await withdrawCapture(library, captureId!)
    await work(library)
    expect(await look(library, import_id)).toMatchObject({ status: 'completed', source_id })
    expect((await marksOf(library)).length).toBeGreaterThan(0)
  })

  it('says why a page could not be had, and adding it again tries again', async () => {
    const web: Web = { [URL]: new Failure('page_refused', 'The site refused.', { hint: 'Later.' }) }
    const library = await testLibrary({ pages: web })
    const { import_id } = await add(library, { url: URL })
    await work(library)
    expect(await look(library, import_id)).toMatchObject({
      status: 'failed',
      truncated: false,
      reason: { code: 'page_refused', message: 'The site refused.', hint: 'Later.' },
    })
    Object.assign(web, essay(600))
    const again = await add(library, { url: URL })
    expect(again.import_id).not.toBe(import_id)
    await work(library)
    expect(await look(library, again.import_id)).toMatchObject({ status: 'completed' })
  })

  it('on a private address fails, and of no web address nothing is begun', async () => {
    const library = await testLibrary({
      pages: { [URL]: new Failure('private_address', 'No.', { hint: 'Not there.' }) },
    })
    const { import_id } = await add(library, { url: URL })
    await work(library)
    expect(await look(library, import_id)).toMatchObject({ reason: { code: 'private_address' } })
    for (const url of ['file:///etc/passwd', 'javascript:alert(1)', 'ftp://example.test/x', 'heron']) {
      const { error } = await failureOfCall(addSource, library, { ...ASKED, url })
      expect(error).toMatchObject({ code: 'invalid_url', number: -32011 })
    }
    expect(await library.db.selectFrom('import').select('id').execute()).toHaveLength(1)
  })

  it('whose source is thrown away meanwhile fails and says how to have it after all', async () => {
    const library = await testLibrary({ pages: essay(600) })
    const worker = startWorker(library, JOBS, { pollMs: 20 })
    const { item } = await save(library, URL)
    await worker.stop()
    const { import_id } = await add(library, { url: URL })
    await library.change((change) => change.update('source', Number(item.id), { trashed_at: change.at }))
    await work(library)
    expect(await look(library, import_id)).toMatchObject({
      status: 'failed',
      reason: { code: 'source_not_found' },
    })
  })

  it('of a caller who has gone begins nothing, and its requestId stays free', async () => {
    const library = await testLibrary({ pages: essay(600) })
    const gone = AbortSignal.abort()
    await expect(
      call(addSource, library, { ...ASKED, url: URL, requestId: 'one' }, { signal: gone }),
    ).rejects.toThrow()
    for (const table of ['source', 'import', 'capture'] as const)
      expect(await library.db.selectFrom(table).select('id').execute()).toEqual([])
    expect(await add(library, { url: URL, requestId: 'one' })).toMatchObject({ created: true })
  })

  it('gives the first answer again under its requestId', async () => {
    const library = await testLibrary({ pages: essay(600) })
    const first = await add(library, { url: URL, requestId: 'one' })
    await work(library)
    expect(await add(library, { url: URL, requestId: 'one' })).toEqual(first)
    expect(await library.db.selectFrom('import').select('id').execute()).toHaveLength(1)
  })
})

describe('get_import of a file', () => {
  it('tells how far it is, what it brought, and that it was undone', async () => {
    const library = await testLibrary()
    const id = await library.change((change) =>
      beginImport(change, { kind: 'file', name: 'My Clippings.txt', format: 'kindle', counts: { rows: 4 } }),
    )
    const told = async () => {
      const { output, summary } = await callTool(getImport, library, { id }, callOf())
      return [output['status'], summary]
    }
    expect(await told()).toEqual(['pending', 'My Clippings.txt waits to be read.'])
    await library.change((change) =>
      noteImport(change, id, { counts: { rows: 4, rows_done: 2, sources: 1, highlights: 2 } }),
    )
    expect(await told()).toEqual([
      'processing',
      'My Clippings.txt: 2 of 4 rows are done, 1 source, 2 highlights new so far.',
    ])
    await library.change((change) => completeImport(change, id, { remarks: ['One row had no words.'] }))
    expect(await told()).toEqual([
      'completed',
      'My Clippings.txt is in the library; 1 source, 2 highlights new. One row had no words.',
    ])
    expect(
      await library.change((change) => failImport(change, id, new Failure('cancelled', '', { hint: '' }))),
    ).toBe(false)
    await library.change((change) => noteUndone(change, id))
    expect(await told()).toEqual([
      'completed',
      'My Clippings.txt was imported, and what it brought was taken out again.',
    ])
  })
})

describe('add_source with a book', () => {
  const book = { title: 'Walden', author: 'Henry David Thoreau' }

  it('adds it at once, without a text', async () => {
    const library = await testLibrary()
    const added = await add(library, { book: { ...book, language: 'en_us' } })
    expect(added).toMatchObject({ kind: 'book', status: 'completed', created: true, counts: { sources: 1 } })
    expect(await call(getSource, library, { id: added.source_id })).toMatchObject({
      title: 'Walden',
      type: 'Book',
      author: 'Henry David Thoreau',
      language: 'en-US',
    })
    expect(await call(searchLibrary, library, { query: 'walden' })).toMatchObject({ results: [{}] })
  })

  it('takes the one that is there for it, out of the trash where it lies', async () => {
    const library = await testLibrary()
    const { source_id } = await add(library, { book })
    await library.change((change) => change.update('source', source_id!, { trashed_at: change.at }))
    const again = await add(library, { book: { title: ' walden ', author: 'henry david thoreau' } })
    expect(again).toMatchObject({ source_id, created: false, counts: { sources: 0, unchanged: 1 } })
    expect(await call(searchLibrary, library, { query: 'walden' })).toMatchObject({ results: [{}] })
  })

  it('costs nothing', async () => {
    const { ledger, left } = await account(0)
    const library = await testLibrary({ credits: ledger })
    expect(await add(library, { book })).toMatchObject({ status: 'completed', credits_left: 0 })
    expect(await left()).toBe(0)
  })
})

describe('what is refused', () => {
  it.each([
    ['neither', {}],
    ['both', { url: URL, book: { title: 'A', author: 'B' } }],
    ['no confirm', { url: URL, confirm: undefined }],
    ['a confirm that is a word', { url: URL, confirm: 'true' }],
    ['a confirm of false', { url: URL, confirm: false }],
    ['no intent', { url: URL, user_intent: undefined }],
    ['a blank intent', { url: URL, user_intent: ' \n' }],
    ['a book without an author', { book: { title: 'A' } }],
    ['a book with a blank title', { book: { title: ' ', author: 'B' } }],
    ['an empty url', { url: '' }],
    ['a url too long', { url: `https://example.test/${'a'.repeat(2_100)}` }],
    ['something unknown', { url: URL, notes: 'x' }],
  ])('%s', async (_what, args) => {
    const library = await testLibrary({ pages: essay(600) })
    const given = Object.fromEntries(
      Object.entries({ ...ASKED, ...args }).filter(([, value]) => value !== undefined),
    )
    const { error } = await failureOfCall(addSource, library, given)
    expect(error).toMatchObject({ code: 'invalid_input', number: -32011 })
    for (const table of ['source', 'import', 'capture', 'job'] as const)
      expect(await library.db.selectFrom(table).select('id').execute()).toEqual([])
  })

  it('a connection that may not write sources, and one that may not read them', async () => {
    const library = await testLibrary({ pages: essay(600) })
    const without = (scope: string) => ({ scopes: SCOPES.filter((known) => known !== scope) })
    expect(
      (await failureOfCall(addSource, library, { ...ASKED, url: URL }, without('sources:write'))).error,
    ).toMatchObject({ code: 'insufficient_scope', number: -32002 })
    const { import_id } = await add(library, { url: URL })
    expect(
      (await failureOfCall(getImport, library, { id: import_id }, without('sources:read'))).error.code,
    ).toBe('insufficient_scope')
  })

  it('an id of no import', async () => {
    const library = await testLibrary()
    const source = await addTestSource(library, { title: 'A source' })
    for (const id of [1, source, Number.MAX_SAFE_INTEGER])
      expect((await failureOfCall(getImport, library, { id })).error).toMatchObject({
        code: 'import_not_found',
        number: -32003,
      })
    expect((await failureOfCall(getImport, library, { id: 'x' })).error.code).toBe('invalid_input')
  })
})

describe('an account that counts credits', () => {
  it('pays for the length of the text, once', async () => {
    const { ledger, left } = await account(10)
    const library = await testLibrary({ pages: essay(7_000), credits: ledger })
    const added = await add(library, { url: URL })
    expect(added.credits_left).toBe(10)
    await work(library)
    expect(await look(library, added.import_id)).toMatchObject({
      status: 'completed',
      truncated: false,
      counts: { credits: 3 },
      credits_left: 7,
    })
    await add(library, { url: URL })
    await work(library)
    expect(await left()).toBe(7)
  })

  it('pays for a recording by its length, and each passage knows its second', async () => {
    const { ledger, left } = await account(10)
    const library = await testLibrary({ credits: ledger })
    const url = 'https://www.youtube.com/watch?v=aB3_-efghij'
    const given = await storeGiven(library, Buffer.from(captionsOf(25 * 60)), 'talk.vtt')
    await library.change((change) => requestCapture(change, { url, given }))
    await work(library)
    const { import_id } = await add(library, { url })
    await work(library)
    // Some 1,500 words would be one credit; 25 minutes are three.
    expect(await look(library, import_id)).toMatchObject({ status: 'completed', counts: { credits: 3 } })
    expect(await left()).toBe(7)
    const marks = await marksOf(library)
    expect(marks.length).toBeGreaterThan(0)
    for (const { locator, quote } of marks) {
      const chapter = Number(/chapter (\d+)/.exec(quote)![1])
      expect(JSON.parse(locator!)).toEqual({ seconds: secondOf(chapter) })
    }
  })

  it('without credits has its page saved and readable; what waits is read the night they are back', async () => {
    const { ledger, clock, left } = await account(2)
    const now = () => clock.at
    const library = await testLibrary({ pages: essay(16_000), credits: ledger, now })
    const { import_id, source_id } = await add(library, { url: URL })
    await work(library)
    const short = await look(library, import_id)
    expect(short).toMatchObject({
      status: 'completed',
      truncated: true,
      reason: { code: 'credits_used_up' },
      resumed_by: null,
      credits_left: 0,
    })
    const marked = (await marksOf(library)).length
    expect(marked).toBe(short.counts['highlights'])
    expect(marked).toBeGreaterThan(0)

    const night = async (at: string) => {
      clock.at = new Date(at)
      await scheduleDaily(library)
      await work(library)
    }
    // A night without credits begins nothing.
    await night('2026-03-31T12:00:00Z')
    expect(await library.db.selectFrom('import').select('id').execute()).toHaveLength(1)
    for (const month of ['04', '05']) await night(`2026-${month}-01T12:00:00Z`)
    const imports = await library.db.selectFrom('import').selectAll().orderBy('id').execute()
    expect(imports.map(({ resumes }) => resumes)).toEqual([null, imports[0]!.id, imports[1]!.id])
    expect(imports.map(({ waits }) => waits)).toEqual([0, 0, 0])
    const last = await look(library, imports[2]!.id)
    expect(last).toMatchObject({ status: 'completed', truncated: false, source_id })
    expect(last.counts['stretches_done']).toBe(last.counts['stretches'])
    // The first keeps its result for good.
    expect(await look(library, import_id)).toEqual({
      ...short,
      resumed_by: imports[1]!.id,
      credits_left: await left(),
    })
    const marks = await marksOf(library)
    expect(marks.length).toBeGreaterThan(marked)
    expect(new Set(marks.map(({ quote }) => quote)).size).toBe(marks.length)
    // 16,000 words are six credits, two of each month; the first two months were spent.
    const spent = imports.map(({ counts }) => (JSON.parse(counts) as { credits?: number }).credits)
    expect(spent.reduce((sum, credits) => sum! + (credits ?? 0), 0)).toBe(6)
    await night('2026-06-01T12:00:00Z')
    expect(await library.db.selectFrom('import').select('id').execute()).toHaveLength(3)
  })

  it('taken up by two processes at once is taken up once', async () => {
    const { ledger, clock } = await account(1)
    const now = () => clock.at
    const library = await testLibrary({ pages: essay(7_000), credits: ledger, now })
    const other = libraryOn(library.db, { credits: ledger, now })
    await add(library, { url: URL })
    await work(library)
    clock.at = new Date('2026-04-01T12:00:00Z')
    await Promise.all([scheduleDaily(library), scheduleDaily(other)])
    await Promise.all([work(library), work(other)])
    expect(await library.db.selectFrom('import').select('id').execute()).toHaveLength(2)
  })

  it('that asks again with credits back goes on at once', async () => {
    const { ledger, clock } = await account(2)
    const library = await testLibrary({ pages: essay(10_000), credits: ledger, now: () => clock.at })
    const first = await add(library, { url: URL })
    await work(library)
    clock.at = new Date('2026-04-01T00:00:00Z')
    const second = await add(library, { url: URL })
    expect(second).toMatchObject({ resumes: first.import_id, status: 'pending' })
    await work(library)
    expect(await look(library, second.import_id)).toMatchObject({ status: 'completed', truncated: false })
  })

  it('whose page has changed before the rest is read finds the passages where they stand now', async () => {
    const { ledger, clock } = await account(1)
    const web = essay(5_000)
    const library = await testLibrary({ pages: web, credits: ledger, now: () => clock.at })
    const { import_id } = await add(library, { url: URL })
    await work(library)
    const first = await marksOf(library)
    web[URL] = pageWith('On Herons', [...proseOf(60, 'a preface'), ...proseOf(5_000).slice(0, -20)])
    await library.change((change) => requestCapture(change, { url: URL, refresh: true }))
    await work(library)
    clock.at = new Date('2026-04-01T12:00:00Z')
    const { import_id: rest } = await add(library, { url: URL })
    await work(library)
    expect(await look(library, rest)).toMatchObject({
      resumes: import_id,
      status: 'completed',
      truncated: false,
    })
    const source = await library.db.selectFrom('source').select('text_id').executeTakeFirstOrThrow()
    const { plain } = await library.db
      .selectFrom('text')
      .select('plain')
      .where('id', '=', source.text_id)
      .executeTakeFirstOrThrow()
    const marks = await marksOf(library)
    expect(marks.length).toBeGreaterThan(first.length)
    for (const { text_id, quote, start_offset, end_offset } of marks) {
      expect(text_id).toBe(source.text_id)
      expect([...plain].slice(start_offset!, end_offset!).join('')).toBe(quote)
    }
  })

  it('pays once though the reading broke off after it was paid, and marks nothing twice', async () => {
    const { ledger, left } = await account(10)
    let broken = 0
    const breaking: AccountCredits = {
      ...ledger,
      async spend(spending) {
        await ledger.spend(spending)
        if (++broken < 3) throw new Error('the process died here')
      },
    }
    const clock = { at: new Date('2026-03-30T12:00:00Z') }
    const library = await testLibrary({ pages: essay(5_000), credits: breaking, now: () => clock.at })
    const { import_id } = await add(library, { url: URL })
    for (let n = 0; n < 3; n++) {
      await work(library)
      clock.at = new Date(clock.at.getTime() + 60_000)
    }
    expect(await look(library, import_id)).toMatchObject({ status: 'completed', counts: { credits: 2 } })
    expect(await left()).toBe(8)
    const marks = await marksOf(library)
    expect(new Set(marks.map(({ start_offset }) => start_offset)).size).toBe(marks.length)
  })

  it('is given back what was paid for a stretch that then failed for good', async () => {
    const { ledger, left } = await account(10)
    const failing: AccountCredits = {
      ...ledger,
      async spend(spending) {
        await ledger.spend(spending)
        throw new Error('the disk is gone')
      },
    }
    const clock = { at: new Date('2026-03-30T12:00:00Z') }
    const library = await testLibrary({ pages: essay(1_000), credits: failing, now: () => clock.at })
    const { import_id } = await add(library, { url: URL })
    for (let n = 0; n < 4; n++) {
      await work(library)
      clock.at = new Date(clock.at.getTime() + 60_000)
    }
    expect(await look(library, import_id)).toMatchObject({
      status: 'failed',
      reason: { code: 'internal_error' },
    })
    expect(await left()).toBe(10)
  })
})
