/** A server is killed in the middle of every stretch that it reads for a reader: each is paid once, and nothing is marked twice. */
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { openAdministered, type Administered } from '../../src/app/open-server.ts'
import { readServerConfig } from '../../src/config/server.ts'
import { addReader } from '../../src/features/accounts/reader-store.ts'
import { listEntries } from '../../src/features/credits/credit-store.ts'
import { addSource } from '../../src/features/imports/tools/add-source.ts'
import { getImport } from '../../src/features/imports/tools/get-import.ts'
import { call } from '../support/call.ts'
import { pageWith, proseOf } from '../support/prose.ts'
import { PROGRAM } from '../support/run-cli.ts'
import { serveWeb, type WebServer } from '../support/web-server.ts'

const PATIENT = { timeout: 60_000, interval: 50 }

let folder: string
let web: WebServer
let model: Awaited<ReturnType<typeof serveModel>>
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'killed-reading-'))
  const page = pageWith('On Herons', proseOf(8_000))
  web = await serveWeb((path) => (path === '/heron' ? page : undefined))
  model = await serveModel()
})
afterEach(async () => {
  model.close()
  await web.close()
  rmSync(folder, { recursive: true, force: true })
})

/** A language model that never answers a question the first time, and picks two sentences whenever it is asked again. */
async function serveModel() {
  const heard = new Set<string>()
  const server = createServer(async (request, response) => {
    let body = ''
    for await (const part of request) body += String(part)
    const { messages } = JSON.parse(body) as { messages: { content: string }[] }
    const { content } = messages[1]!
    if (!heard.has(content)) {
      heard.add(content)
      return
    }
    const sentences = content.match(/[A-Z][^.]+ of chapter \d+[^.]+\./g) ?? []
    const passages = [sentences[1], sentences[sentences.length >> 1]]
    response.writeHead(200, { 'content-type': 'application/json' })
    response.end(
      JSON.stringify({
        choices: [{ finish_reason: 'stop', message: { content: JSON.stringify({ passages }) } }],
      }),
    )
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    /** How many questions it was asked. */
    heard,
    close() {
      server.close()
      server.closeAllConnections()
    },
  }
}

const env = (): Record<string, string> => ({
  COMMONPLACE_DATA: folder,
  COMMONPLACE_EMBEDDER: 'off',
  COMMONPLACE_ALLOW_HOSTS: web.host,
  COMMONPLACE_CREDITS: '10',
  COMMONPLACE_MODEL: 'openai',
  COMMONPLACE_MODEL_NAME: 'a-model',
  COMMONPLACE_MODEL_URL: model.url,
})

function serve(): ChildProcess {
  return spawn(process.execPath, [PROGRAM, 'serve', '--port', '0'], {
    env: { ...process.env, COMMONPLACE_LIBRARY: '', ...env() },
    stdio: 'ignore',
  })
}

async function kill(child: ChildProcess): Promise<void> {
  const gone = once(child, 'close')
  child.kill('SIGKILL')
  await gone
}

/** How an import stands, what was paid, and which passages are marked. */
async function look(beside: Administered, readerId: string, importId: number) {
  const { state, marks } = await beside.libraries.use(readerId, async ({ library }) => ({
    state: await call(getImport, library, { id: importId }),
    marks: await library.db.selectFrom('highlight').select(['start_offset', 'origin']).execute(),
  }))
  return { state, marks, paid: await listEntries(beside.accounts.db, readerId, 100) }
}

it('pays and marks once, wherever it was killed', async () => {
  const beside = await openAdministered(readServerConfig(env()), { base: 'http://localhost:1' })
  try {
    const { id } = await addReader(beside.accounts, {})
    const added = await beside.libraries.use(id, ({ library }) =>
      call(addSource, library, {
        url: `${web.origin}/heron`,
        confirm: true,
        user_intent: 'read this for me',
      }),
    )
    const importId = added['import_id'] as number
    let kills = 0
    for (;;) {
      const heard = model.heard.size
      const server = serve()
      try {
        const status = async () => (await look(beside, id, importId)).state['status']
        await expect
          .poll(async () => model.heard.size > heard || (await status()) === 'completed', PATIENT)
          .toBe(true)
        if (model.heard.size === heard) break
        kills++
      } finally {
        await kill(server)
      }
    }
    const { state, marks, paid } = await look(beside, id, importId)
    const { stretches } = state['counts'] as { stretches: number }
    expect(kills).toBeGreaterThanOrEqual(stretches)
    expect(stretches).toBeGreaterThan(2)
    expect(state).toMatchObject({
      status: 'completed',
      truncated: false,
      remarks: [],
      credits_left: 7,
      counts: { stretches_done: stretches, highlights: marks.length, credits: 3 },
    })
    expect(paid.map(({ amount }) => amount)).toEqual([1, 1, 1])
    expect(marks.length).toBeGreaterThanOrEqual(stretches)
    expect(new Set(marks.map(({ start_offset }) => start_offset)).size).toBe(marks.length)
  } finally {
    await beside.close()
  }
}, 180_000)
