/** How far a job is, asked for and as a stream of events. */
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { defineJob, type JobRun } from '../../src/core/define-job.ts'
import { Failure } from '../../src/core/failure.ts'
import { startWorker, type Worker } from '../../src/jobs/worker.ts'
import { makePersonalToken, revokePersonalToken } from '../../src/features/accounts/personal-token-store.ts'
import { startSession } from '../../src/features/accounts/session-store.ts'
import { suspendReader } from '../../src/features/accounts/suspension.ts'
import type { Json } from '../../src/mcp/protocol/messages.ts'
import { startServer, type TestServer } from './serve.ts'

/** A job whose steps are the test's: no process of the server knows its kind, as if another replica did it. */
let step: (run: JobRun) => Promise<void> = async () => {}
const job = defineJob({
  kind: 'told',
  input: z.object({}),
  attempts: 1,
  run: (_library, _input, run) => step(run),
})

const ending = new AbortController()
let at: TestServer
let reader: string
let token: string
let worker: Worker | undefined
beforeAll(async () => {
  at = await startServer({ ending: ending.signal })
  reader = at.server.first.reader.id
  token = await at.tokenFor(reader)
})
afterEach(async () => {
  await worker?.stop()
  worker = undefined
})
afterAll(async () => {
  await at.close()
  expect(at.errors).toEqual([])
})

const queue = (): Promise<string> =>
  at.server.libraries.use(reader, async ({ library }) =>
    String(await library.change((change) => change.later(job, {}))),
  )

/** Another process with the same library. */
const work = (): Promise<void> =>
  at.server.libraries.use(reader, async ({ library }) => {
    worker = startWorker(library, [job], { pollMs: 20 })
  })

interface Event {
  event: string
  id: string
  data: Json
}

interface Stream {
  status: number
  headers: Headers
  /** The next event; undefined at the end. */
  next(): Promise<Event | undefined>
  close(): void
}

async function listen(id: string, headers: Record<string, string> = {}, as = token): Promise<Stream> {
  const abort = new AbortController()
  const response = await fetch(`${at.base}/api/jobs/${id}/events`, {
    headers: { authorization: `Bearer ${as}`, ...headers },
    signal: abort.signal,
  })
  const parts = response.body?.pipeThrough(new TextDecoderStream())[Symbol.asyncIterator]()
  let text = ''
  return {
    status: response.status,
    headers: response.headers,
    async next() {
      for (;;) {
        const found = /event: (.*)\nid: (.*)\ndata: (.*)\n\n/.exec(text)
        if (found) {
          const [whole, event = '', name = '', data = ''] = found
          text = text.slice(found.index + whole.length)
          return { event, id: name, data: JSON.parse(data) as Json }
        }
        const part = await parts?.next()
        if (!part || part.done) return undefined
        text += part.value
      }
    },
    close: () => abort.abort(),
  }
}

/** A gate that the job waits at until the test opens it. */
function gate(): { passed: Promise<void>; open: () => void } {
  let open = (): void => {}
  const passed = new Promise<void>((resolve) => (open = resolve))
  return { passed, open }
}

describe('GET /api/jobs/{id}/events', () => {
  it('tells each state that it sees, and ends with the outcome', async () => {
    const [first, second] = [gate(), gate()]
    step = async ({ progress }) => {
      await progress(1, 3, 'Reading')
      await first.passed
      await progress(2, 3, 'Writing')
      await second.passed
    }
    const id = await queue()
    const stream = await listen(id)
    expect(stream.status).toBe(200)
    expect(Object.fromEntries(stream.headers)).toMatchObject({
      'content-type': 'text/event-stream',
      'cache-control': 'no-store',
      'x-accel-buffering': 'no',
    })
    expect(stream.headers.get('content-encoding')).toBeNull()
    expect(await stream.next()).toMatchObject({
      event: 'progress',
      data: {
        id,
        kind: 'told',
        state: 'pending',
        progress: null,
        attempts: 0,
        finishedAt: null,
        failure: null,
      },
    })
    await work()
    let seen = await stream.next()
    // It may be seen between its beginning and its first word.
    if (seen?.data['progress'] === null) seen = await stream.next()
    expect(seen).toMatchObject({
      event: 'progress',
      data: { state: 'running', attempts: 1, progress: { done: 1, total: 3, message: 'Reading' } },
    })
    first.open()
    expect(await stream.next()).toMatchObject({
      data: { progress: { done: 2, total: 3, message: 'Writing' } },
    })
    second.open()
    expect(await stream.next()).toMatchObject({ event: 'outcome', data: { state: 'completed' } })
    expect(await stream.next()).toBeUndefined()
  })

  it('goes on where a client lost it, and has nothing more to say after the end', async () => {
    const wait = gate()
    step = async ({ progress }) => {
      await progress(1, 2)
      await wait.passed
    }
    const id = await queue()
    await work()
    const first = await listen(id)
    let seen = await first.next()
    while (seen?.data['progress'] === null) seen = await first.next()
    first.close()
    const second = await listen(id, { 'last-event-id': seen?.id ?? '' })
    wait.open()
    // What was heard is not told again.
    const outcome = await second.next()
    expect(outcome).toMatchObject({ event: 'outcome', data: { state: 'completed' } })
    const third = await listen(id, { 'last-event-id': outcome?.id ?? '' })
    expect(third.status).toBe(204)
    expect(await (await listen(id)).next()).toEqual(outcome)
  })

  it('tells why a job failed', async () => {
    step = async () => {
      throw new Failure('no_text', 'The file has no words in it.', { hint: 'Add another.' })
    }
    const id = await queue()
    await work()
    const stream = await listen(id)
    let last: Event | undefined
    for (let event = await stream.next(); event; event = await stream.next()) last = event
    expect(last).toMatchObject({
      event: 'outcome',
      data: {
        state: 'failed',
        failure: { code: 'no_text', message: 'The file has no words in it.', hint: 'Add another.' },
      },
    })
  })

  it('tells the item of a capture, and that it was withdrawn', async () => {
    const asked = at.api(token, 'save_url', { url: 'https://birds.example/stilt' })
    const saved = (await asked).body['item'] as { id: string }
    const { id } = await at.server.libraries.use(reader, ({ library: { db } }) =>
      db
        .selectFrom('job')
        .select('id')
        .where('kind', '=', 'capture')
        .orderBy('id', 'desc')
        .executeTakeFirstOrThrow(),
    )
    const event = await (await listen(String(id))).next()
    expect(event?.data).toMatchObject({ kind: 'capture', state: 'completed', item: saved.id })
    await at.server.libraries.use(reader, ({ library }) =>
      library.db
        .updateTable('capture')
        .set({
          state: 'failed',
          failure: JSON.stringify({
            code: 'cancelled',
            message: 'The capture was cancelled.',
            hint: 'Save it again.',
          }),
        })
        .where('source_id', '=', Number(saved.id))
        .execute(),
    )
    expect((await (await listen(String(id))).next())?.data).toMatchObject({
      state: 'failed',
      failure: { code: 'cancelled' },
    })
  })

  it('is open eight times for one reader, and for others beside', async () => {
    const id = await queue()
    const streams = await Promise.all(Array.from({ length: 8 }, () => listen(id)))
    expect(streams.map(({ status }) => status)).toEqual(Array(8).fill(200))
    const ninth = await listen(id)
    expect(ninth.status).toBe(429)
    const other = await at.newReader()
    const theirs = await at.server.libraries.use(other, async ({ library }) =>
      String(await library.change((change) => change.later(job, {}))),
    )
    const beside = await listen(theirs, {}, await at.tokenFor(other))
    expect(beside.status).toBe(200)
    beside.close()
    for (const stream of streams) stream.close()
    for (;;) {
      const again = await listen(id)
      again.close()
      if (again.status === 200) break
    }
  })

  it('needs a scope of the library, and is no way into another one', async () => {
    const id = await queue()
    expect((await listen(id, {}, await at.tokenFor(reader, ['notes:read']))).status).toBe(403)
    for (const scope of ['sources:read', 'sources:write'] as const) {
      const stream = await listen(id, {}, await at.tokenFor(reader, [scope]))
      expect(stream.status).toBe(200)
      stream.close()
    }
    expect((await listen(id, {}, await at.tokenFor(await at.newReader()))).status).toBe(404)
  })
})

describe('GET /api/jobs/{id}', () => {
  it('ends where its token is revoked, its reader suspended or their session over', async () => {
    const other = await at.newReader()
    const { accounts } = at.server
    const id = await at.server.libraries.use(other, async ({ library }) =>
      String(await library.change((change) => change.later(job, {}))),
    )
    const { id: tokenId, token: own } = await makePersonalToken(accounts, other, {
      name: 'a',
      scopes: ['sources:read'],
    })
    const cookie = `commonplace=${await startSession(accounts, other)}`
    const byCookie = await fetch(`${at.base}/api/jobs/${id}/events`, { headers: { cookie } })
    const streams = [await listen(id, {}, own), await listen(id, {}, await at.tokenFor(other))] as const
    for (const stream of streams) expect((await stream.next())?.data).toMatchObject({ id, state: 'pending' })
    await revokePersonalToken(accounts, other, tokenId)
    expect(await streams[0].next()).toBeUndefined()
    await suspendReader(accounts, other)
    expect(await streams[1].next()).toBeUndefined()
    expect(await byCookie.text()).toContain('pending')
    expect((await listen(id, {}, own)).status).toBe(401)
  })

  it('is answered anew only when something has changed', async () => {
    const wait = gate()
    step = () => wait.passed
    const id = await queue()
    const get = (headers: Record<string, string> = {}): Promise<Response> =>
      fetch(`${at.base}/api/jobs/${id}`, { headers: { authorization: `Bearer ${token}`, ...headers } })
    const first = await get()
    const etag = first.headers.get('etag') ?? ''
    expect(await first.json()).toMatchObject({ id, state: 'pending' })
    expect((await get({ 'if-none-match': etag })).status).toBe(304)
    await work()
    wait.open()
    await worker?.drained()
    const later = await get({ 'if-none-match': etag })
    expect([later.status, ((await later.json()) as Json)['state']]).toEqual([200, 'completed'])
  })
})

describe('a server that is about to end', () => {
  it('ends its streams, so that clients go to another', async () => {
    const id = await queue()
    const streams = [await listen(id), await listen(id)]
    for (const stream of streams) expect(await stream.next()).toMatchObject({ event: 'progress' })
    ending.abort()
    for (const stream of streams) expect(await stream.next()).toBeUndefined()
    const late = await listen(id)
    expect(await late.next()).toMatchObject({ data: { state: 'pending' } })
    expect(await late.next()).toBeUndefined()
  })
})
