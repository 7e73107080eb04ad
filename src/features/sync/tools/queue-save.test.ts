import { afterEach, describe, expect, it } from 'vitest'
import { call, failureOfCall } from '../../../../test/support/call.ts'
import { testLibrary } from '../../../../test/support/library.ts'
import type { Library } from '../../../core/library.ts'
import { JOBS } from '../../../jobs/registry.ts'
import { startWorker, type Worker } from '../../../jobs/worker.ts'
import { readItem } from '../../texts/tools/read-item.ts'
import { listItems } from '../../sources/tools/list-items.ts'
import { queueSave } from './queue-save.ts'

const URL = 'https://example.test/heron'
const PAGE = `<html lang="en"><head><title>The Heron</title></head><body><article><h1>The Heron</h1>
${'<p>It stands in the shallows at dusk, and nobody who passes by on the road ever sees it move.</p>'.repeat(12)}
</article></body></html>`

const workers: Worker[] = []
afterEach(async () => {
  await Promise.all(workers.splice(0).map((worker) => worker.stop()))
})

/** The library of an account, in a web that counts how often its page was fetched. */
async function inAccount(): Promise<{ library: Library; fetched: () => number }> {
  const library = await testLibrary({ pages: { [URL]: PAGE }, account: true })
  const { pages } = library.outside
  let fetched = 0
  library.outside.pages = {
    fetch(url, options) {
      fetched++
      return pages.fetch(url, options)
    },
  }
  return { library, fetched: () => fetched }
}

const work = async (library: Library, count = 1): Promise<void> => {
  const begun = Array.from({ length: count }, () => startWorker(library, JOBS, { pollMs: 20 }))
  workers.push(...begun)
  await Promise.all(begun.map((worker) => worker.drained()))
}

const titles = async (library: Library): Promise<string[]> => {
  const { items } = (await call(listItems, library)) as { items: { title: string }[] }
  return items.map(({ title }) => title)
}

describe('queue_save', () => {
  it('needs an account', async () => {
    const library = await testLibrary({ pages: { [URL]: PAGE } })
    expect(await failureOfCall(queueSave, library, { url: URL })).toMatchObject({ code: 'not-logged-in' })
    expect(await library.db.selectFrom('capture').selectAll().execute()).toEqual([])
  })

  it('answers before anything is fetched; the workers of the account capture the page with its note', async () => {
    const { library, fetched } = await inAccount()
    const before = library.now().toISOString()
    const told = await call(queueSave, library, { url: URL, note: 'for the pond chapter' })
    expect(told).toEqual({ queued: true, requestedAt: expect.stringMatching(/Z$/) })
    expect(String(told['requestedAt']) >= before).toBe(true)
    expect(fetched()).toBe(0)
    await work(library)
    expect(await titles(library)).toEqual(['The Heron'])
    const { items } = (await call(listItems, library)) as { items: { id: string }[] }
    const digest = await call(readItem, library, { id: items[0]?.id, format: 'summary' })
    expect(JSON.stringify(digest['annotations'])).toContain('for the pond chapter')
  })

  it('has a page fetched once, however often it is asked for and however many work', async () => {
    const { library, fetched } = await inAccount()
    const told = await Promise.all(
      Array.from({ length: 8 }, (_, n) =>
        call(queueSave, library, { url: n % 2 ? `${URL}?utm_source=mail` : URL, note: 'once' }),
      ),
    )
    expect(new Set(told.map(({ requestedAt }) => requestedAt)).size).toBe(1)
    await work(library, 3)
    expect(fetched()).toBe(1)
    expect(await titles(library)).toEqual(['The Heron'])
    expect(await library.db.selectFrom('note').selectAll().execute()).toHaveLength(1)
  })

  it('says that nothing waits where the text is there', async () => {
    const { library, fetched } = await inAccount()
    await call(queueSave, library, { url: URL })
    await work(library)
    expect(await call(queueSave, library, { url: URL })).toMatchObject({ queued: false })
    await work(library)
    expect(fetched()).toBe(1)
  })

  it('gives the first answer again for the same requestId', async () => {
    const { library } = await inAccount()
    const first = await call(queueSave, library, { url: URL, requestId: 'one' })
    await work(library)
    expect(await call(queueSave, library, { url: URL, requestId: 'one' })).toEqual(first)
  })

  it('takes addresses of the web alone, and a note only from who may write notes', async () => {
    const { library } = await inAccount()
    for (const url of ['ftp://example.test/a', 'javascript:alert(1)', 'heron'])
      expect(await failureOfCall(queueSave, library, { url })).toMatchObject({ code: 'invalid-url' })
    const scopes = ['sources:write'] as const
    const refused = await failureOfCall(queueSave, library, { url: URL, note: 'x' }, { scopes })
    expect(refused.code).toBe('insufficient-scope')
    expect(await call(queueSave, library, { url: URL }, { scopes })).toMatchObject({ queued: true })
  })
})
