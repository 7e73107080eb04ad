import { afterEach, describe, expect, it } from 'vitest'
import { call, failureOfCall } from '../../../../test/support/call.ts'
import { testLibrary, type TestWorld } from '../../../../test/support/library.ts'
import { Failure } from '../../../core/failure.ts'
import type { Library } from '../../../core/library.ts'
import { JOBS } from '../../../jobs/registry.ts'
import { startWorker, type Worker } from '../../../jobs/worker.ts'
import { addHighlight } from '../../highlights/tools/add-highlight.ts'
import { addComment } from '../../notes/tools/add-comment.ts'
import { searchLibrary } from '../../search/tools/search-library.ts'
import { listItems } from '../../sources/tools/list-items.ts'
import { readItem } from '../../texts/tools/read-item.ts'
import { requestCapture, storeGiven } from '../capture-source.ts'
import { sourceOf, waitForCapture } from '../capture-store.ts'
import { saveUrl } from './save-url.ts'

const PARAGRAPHS = [
  'A commonplace book is where a reader keeps what is worth keeping: a line from a letter, a recipe, a thought at night.',
  'For four centuries people copied passages by hand under headings of their own, and so came to know what they had read.',
  'The copying was slow, and the slowness was the point, since a sentence that has been written out is not forgotten soon.',
  'What was gathered could be found again by its heading, and what was found again could be put to use in a new place.',
]

const page = (title: string, paragraphs: readonly string[], head = ''): string =>
  `<!doctype html><html lang="en"><head><title>${title}</title>${head}</head><body><nav><a href="/">Home</a></nav>
   <article><h1>${title}</h1>${paragraphs.map((text) => `<p>${text}</p>`).join('\n')}</article></body></html>`

const ESSAY = page('On Keeping', PARAGRAPHS, '<meta name="author" content="Ada Reader">')

let worker: Worker | undefined
afterEach(() => worker?.stop())

/** A library with a worker, as a server has it. `web` can be changed while it runs. */
async function served(web: NonNullable<TestWorld['pages']>): Promise<Library> {
  const library = await testLibrary({ pages: web, wake: () => worker?.wake() })
  worker = startWorker(library, JOBS, { pollMs: 50 })
  return library
}

type Saved = {
  item: { id: string; title: string; authors: string[] }
  state: string
  created: boolean
  note?: string
}
const save = async (library: Library, args: Record<string, unknown>): Promise<Saved> =>
  (await call(saveUrl, library, args)) as Saved

describe('save_url', () => {
  it('captures a page so that it can be read, found and marked', async () => {
    const library = await served({ 'https://example.test/keeping': ESSAY })
    const { item, state, created } = await save(library, { url: 'https://example.test/keeping' })
    expect({ state, created }).toEqual({ state: 'captured', created: true })
    expect(item).toMatchObject({ title: 'On Keeping', authors: ['Ada Reader'] })
    const { markdown } = await call(readItem, library, { id: item.id })
    for (const paragraph of PARAGRAPHS) expect(markdown).toContain(paragraph)
    expect(await call(searchLibrary, library, { query: 'slowness copying' })).toMatchObject({
      results: [{ id: item.id }],
    })
    expect(
      await call(addHighlight, library, { id: item.id, quote: 'the slowness was the point' }),
    ).toMatchObject({
      created: true,
    })
  })

  it('of what is there adds nothing, nor does the same note again', async () => {
    const library = await served({ 'https://example.test/keeping': ESSAY })
    const first = await save(library, { url: 'https://example.test/keeping', note: 'for the talk' })
    const again = await save(library, {
      url: 'https://www.example.test/keeping/?utm_source=mail',
      note: 'for the talk',
    })
    expect(again).toMatchObject({ created: false, item: { id: first.item.id } })
    expect(await library.db.selectFrom('note').select('body').execute()).toEqual([{ body: 'for the talk' }])
    await save(library, { url: 'https://example.test/keeping', note: 'another' })
    expect(await library.db.selectFrom('note').select('body').execute()).toHaveLength(2)
    expect(await call(listItems, library)).toMatchObject({ total: 1 })
  })

  it('joins a mobile page to the page it names as its own', async () => {
    const library = await served({
      'https://example.test/a?b=2': ESSAY,
      'https://m.example.test/a?b=2': page(
        'On Keeping',
        PARAGRAPHS,
        '<link rel="canonical" href="https://example.test/a?b=2">',
      ),
    })
    const desktop = await save(library, { url: 'https://example.test/a?b=2' })
    const mobile = await save(library, { url: 'https://m.example.test/a?b=2', note: 'from the phone' })
    expect(mobile.item.id).toBe(desktop.item.id)
    expect(await call(listItems, library)).toMatchObject({ total: 1 })
    const summary = await call(readItem, library, { id: desktop.item.id, format: 'summary' })
    expect(summary).toMatchObject({ annotations: [{ kind: 'note', comments: ['from the phone'] }] })
  })

  it('of many at once makes one item', async () => {
    const library = await served({ 'https://example.test/keeping': ESSAY })
    const saved = await Promise.all(
      [1, 2, 3, 4].map(() => save(library, { url: 'https://example.test/keeping' })),
    )
    expect(new Set(saved.map(({ item }) => item.id)).size).toBe(1)
    expect(await call(listItems, library)).toMatchObject({ total: 1 })
  })

  it('says why a page could not be had, keeps the address, and tries again when it is saved again', async () => {
    const web: NonNullable<TestWorld['pages']> = {
      'https://example.test/keeping': new Failure('page_refused', 'No.', { hint: 'Later.' }),
    }
    const library = await served(web)
    const failure = await failureOfCall(saveUrl, library, {
      url: 'https://example.test/keeping',
      note: 'wanted',
    })
    expect(failure).toMatchObject({ code: 'page-refused', hint: 'Later.' })
    expect(await call(listItems, library)).toMatchObject({ total: 0 })
    web['https://example.test/keeping'] = ESSAY
    expect(await save(library, { url: 'https://example.test/keeping' })).toMatchObject({ state: 'captured' })
    expect(await library.db.selectFrom('note').select('body').execute()).toEqual([{ body: 'wanted' }])
  })

  it.each(['javascript:alert(1)', 'file:///etc/passwd', 'example.test', 'ftp://example.test/x', 'http://'])(
    'refuses %j and keeps nothing of it',
    async (url) => {
      const library = await served({})
      expect((await failureOfCall(saveUrl, library, { url })).error.code).toBe('invalid_url')
      expect(await library.db.selectFrom('source').select('id').execute()).toEqual([])
    },
  )

  it('puts what can never be captured into the trash, with the reason', async () => {
    const library = await served({
      'https://example.test/secret': new Failure('private_address', 'No.', { hint: 'Not there.' }),
    })
    expect((await failureOfCall(saveUrl, library, { url: 'https://example.test/secret' })).error.code).toBe(
      'private_address',
    )
    const rows = await library.db.selectFrom('source').select('trashed_at').execute()
    expect(rows.map(({ trashed_at }) => trashed_at === null)).toEqual([false])
  })

  it('ends when the caller goes away: the attempt is withdrawn, and what it was for is in the trash', async () => {
    const library = await testLibrary({ pages: {} })
    const abort = new AbortController()
    const saving = call(saveUrl, library, { url: 'https://example.test/slow' }, { signal: abort.signal })
    abort.abort()
    await expect(saving).rejects.toThrow()
    const { state, failure } = await library.db
      .selectFrom('capture')
      .select(['state', 'failure'])
      .executeTakeFirstOrThrow()
    expect([state, JSON.parse(failure!).code]).toEqual(['failed', 'cancelled'])
    const stub = await library.db.selectFrom('source').select('trashed_at').executeTakeFirstOrThrow()
    expect(stub.trashed_at).not.toBeNull()
  })

  it('goes on for one caller when another, whose attempt it joined, goes away', async () => {
    const library = await testLibrary({ pages: { 'https://example.test/keeping': ESSAY } })
    const abort = new AbortController()
    const url = 'https://example.test/keeping'
    const first = call(saveUrl, library, { url }, { signal: abort.signal })
    const second = save(library, { url })
    abort.abort()
    await expect(first).rejects.toThrow()
    const worker = startWorker(library, JOBS)
    expect(await second).toMatchObject({ state: 'captured' })
    await worker.stop()
    expect(await call(listItems, library)).toMatchObject({ total: 1 })
  })
})

describe('a page that is there already', () => {
  it('is found by the words of a note that comes later, and takes a title', async () => {
    const library = await served({ 'https://example.test/keeping': ESSAY })
    const { item } = await save(library, { url: 'https://example.test/keeping' })
    await save(library, { url: 'https://example.test/keeping', note: 'quixotic zymurgy' })
    expect(await call(searchLibrary, library, { query: 'zymurgy' })).toMatchObject({
      results: [{ id: item.id }],
    })
    await library.change((change) =>
      requestCapture(change, { url: 'https://example.test/keeping', title: 'Renamed' }),
    )
    expect(await call(listItems, library)).toMatchObject({ items: [{ title: 'Renamed' }] })
  })

  it('is read from a page that is handed in, even while its address waits', async () => {
    const library = await testLibrary({ pages: {} })
    const waiting = await library.change((change) =>
      requestCapture(change, { url: 'https://example.test/keeping' }),
    )
    const given = await storeGiven(library, Buffer.from(ESSAY), 'saved.html')
    const handed = await library.change((change) =>
      requestCapture(change, { url: 'https://example.test/keeping', given }),
    )
    expect(handed).toMatchObject({ sourceId: waiting.sourceId, begun: true })
    worker = startWorker(library, JOBS, { pollMs: 50 })
    const signal = new AbortController().signal
    expect((await waitForCapture(library, handed.captureId!, { timeoutMs: 20_000, signal })).state).toBe(
      'completed',
    )
    const { markdown } = await call(readItem, library, { id: String(handed.sourceId) })
    expect(markdown).toContain(PARAGRAPHS[0])
  })

  it('as a file is not read twice', async () => {
    const library = await served({})
    const given = await storeGiven(library, Buffer.from(ESSAY), 'saved.html')
    const first = await library.change((change) => requestCapture(change, { given }))
    await waitForCapture(library, first.captureId!, {
      timeoutMs: 20_000,
      signal: new AbortController().signal,
    })
    const again = await library.change((change) => requestCapture(change, { given }))
    expect(again).toMatchObject({ sourceId: first.sourceId, captureId: undefined, created: false })
  })
})

describe('a title that the reader gave', () => {
  it('stays; a name of a file gives way to the title in it', async () => {
    const library = await served({ 'https://example.test/keeping': ESSAY })
    const signal = new AbortController().signal
    const given = await storeGiven(library, Buffer.from(ESSAY), 'download (3).html')
    const titles: string[] = []
    for (const request of [{ url: 'https://example.test/keeping', title: 'Mine' }, { given }]) {
      const { captureId } = await library.change((change) => requestCapture(change, request))
      const capture = await waitForCapture(library, captureId!, { timeoutMs: 20_000, signal })
      titles.push((await sourceOf(library.db, capture)).title)
    }
    expect(titles).toEqual(['Mine', 'On Keeping'])
  })
})

describe('capturing again', () => {
  const again = async (library: Library): Promise<string | null> => {
    const { captureId } = await library.change((change) =>
      requestCapture(change, { url: 'https://example.test/keeping', refresh: true }),
    )
    const signal = new AbortController().signal
    return (await waitForCapture(library, captureId!, { timeoutMs: 20_000, signal })).outcome
  }

  it('takes a new text, and highlights move with their words or are orphaned, never moved to others', async () => {
    const web: NonNullable<TestWorld['pages']> = { 'https://example.test/keeping': ESSAY }
    const library = await served(web)
    const { item } = await save(library, { url: 'https://example.test/keeping' })
    await call(addHighlight, library, { id: item.id, quote: PARAGRAPHS[1] })
    await call(addHighlight, library, { id: item.id, quote: PARAGRAPHS[3] })
    await call(addComment, library, { id: item.id, body: 'Worth a second look.' })
    web['https://example.test/keeping'] = page('On Keeping', [
      'A new beginning was written for the second edition of this essay, which readers had long been asking for.',
      ...PARAGRAPHS.slice(0, 3),
    ])
    expect(await again(library)).toBe('current')
    const { annotations } = await call(readItem, library, { id: item.id, format: 'summary' })
    expect(annotations).toMatchObject([
      { quote: PARAGRAPHS[1], state: 'anchored' },
      { quote: PARAGRAPHS[3], state: 'orphaned' },
      { kind: 'note' },
    ])
    const { markdown } = await call(readItem, library, { id: item.id })
    expect(markdown).toContain('second edition')
  })

  it('keeps the good text where the page is gone or gives far less', async () => {
    const web: NonNullable<TestWorld['pages']> = { 'https://example.test/keeping': ESSAY }
    const library = await served(web)
    const { item } = await save(library, { url: 'https://example.test/keeping' })
    await call(addHighlight, library, { id: item.id, quote: PARAGRAPHS[2] })
    web['https://example.test/keeping'] = new Failure('page_not_found', 'Gone.', { hint: 'It is gone.' })
    expect(await again(library)).toBeNull()
    web['https://example.test/keeping'] = page('On Keeping', ['Only a teaser now.'])
    expect(await again(library)).not.toBe('current')
    const { markdown } = await call(readItem, library, { id: item.id })
    expect(markdown).toContain(PARAGRAPHS[2])
    const { annotations } = await call(readItem, library, { id: item.id, format: 'summary' })
    expect(annotations).toMatchObject([{ state: 'anchored' }])
    expect(await library.db.selectFrom('capture').select('state').execute()).toHaveLength(3)
  })
})
