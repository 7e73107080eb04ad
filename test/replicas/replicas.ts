/** Several `commonplace serve` behind one public address, on one PostgreSQL and one media folder. */
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer, type AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { AuthorizationServer } from 'oauth4webapi'
import { SCOPES, type Scope } from '../../src/core/define-tool.ts'
import { Failure } from '../../src/core/failure.ts'
import { openPool } from '../../src/db/postgres/connect.ts'
import { serverDbOnPostgres } from '../../src/db/server/postgres.ts'
import { openAccounts, type Accounts } from '../../src/features/accounts/accounts.ts'
import { makePersonalToken } from '../../src/features/accounts/personal-token-store.ts'
import { addReader } from '../../src/features/accounts/reader-store.ts'
import type { Json } from '../../src/mcp/protocol/messages.ts'
import type { TestServer } from '../oauth/support.ts'
import { PROGRAM } from '../support/run-cli.ts'
import { serveWeb, type WebServer } from '../support/web-server.ts'

export interface Replica {
  /** Where this one listens. */
  url: string
  child: ChildProcess
  /** Resolves with the exit code when the process has ended. */
  ended: Promise<number | null>
  stdout(): string
  stderr(): string
  /** `POST /api/tools/{name}`. */
  api(token: string, name: string, args?: unknown): Promise<{ status: number; body: Json; headers: Headers }>
}

export interface Replicas {
  one: Replica
  two: Replica
  /** What the replicas know of readers, as a process beside them sees it. */
  accounts: Accounts
  /** The authorization server, at the first replica, as the helpers of the OAuth tests take it. */
  oauth: TestServer
  web: WebServer
  newReader(): Promise<string>
  tokenFor(readerId: string, scopes?: readonly Scope[]): Promise<string>
  /** One more, or one again. */
  start(port?: number): Promise<Replica>
  stop(): Promise<void>
}

export interface ReplicasOptions {
  env?: Record<string, string>
  /** The web that pages are captured from. */
  pageOf?: (path: string) => string | undefined | Promise<string | undefined>
}

export const pageOf = (title: string): string =>
  `<html lang="en"><head><title>${title}</title></head><body><article><h1>${title}</h1>
${`<p>The ${title} stands in the shallows at dusk and waits, and nobody who passes by on the road ever sees it move.</p>`.repeat(12)}
</article></body></html>`

/** Two replicas that start at the same moment on the empty database of this address. */
export async function startReplicas(databaseUrl: string, options: ReplicasOptions = {}): Promise<Replicas> {
  const folder = mkdtempSync(join(tmpdir(), 'commonplace-replicas-'))
  const web = await serveWeb(options.pageOf ?? (() => undefined))
  const [portOne, portTwo] = [await freePort(), await freePort()]
  const base = `http://127.0.0.1:${portOne}`
  const running = new Set<Replica>()

  async function start(port?: number): Promise<Replica> {
    const replica = await spawnReplica(port ?? (await freePort()), {
      COMMONPLACE_URL: base,
      COMMONPLACE_DATA: folder,
      COMMONPLACE_DATABASE_URL: databaseUrl,
      COMMONPLACE_DATABASE_CONNECTIONS: '5',
      COMMONPLACE_EMBEDDER: 'off',
      COMMONPLACE_ALLOW_HOSTS: web.host,
      ...Object.fromEntries(
        ['READS', 'WRITES'].flatMap((kind) =>
          ['MINUTE', 'DAY'].map((per) => [`COMMONPLACE_${kind}_PER_${per}`, '1000000']),
        ),
      ),
      ...options.env,
    })
    running.add(replica)
    return replica
  }

  const [one, two] = await Promise.all([start(portOne), start(portTwo)])
  const pool = openPool({ url: databaseUrl, connections: 2 })
  const accounts = await openAccounts({
    db: serverDbOnPostgres(pool),
    base,
    passwordCost: 6,
    pages: {
      async fetch() {
        throw new Failure('page_not_found', 'There is no web here.', { hint: 'Look elsewhere.' })
      },
    },
  })
  const found = await fetch(`${base}/.well-known/oauth-authorization-server`)
  return {
    one,
    two,
    accounts,
    oauth: {
      accounts,
      base,
      resource: `${base}/mcp`,
      web: new Map(),
      fetched: [],
      errors: [],
      pass() {},
      as: (await found.json()) as AuthorizationServer,
      async stop() {},
    },
    web,
    newReader: async () => (await addReader(accounts, {})).id,
    tokenFor: async (readerId, scopes = SCOPES) =>
      (await makePersonalToken(accounts, readerId, { name: 'a test', scopes })).token,
    start,
    async stop() {
      for (const { child } of running) child.kill('SIGKILL')
      await Promise.all([...running].map(({ ended }) => ended))
      await accounts.close()
      await pool.end()
      await web.close()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

async function spawnReplica(port: number, env: Record<string, string>): Promise<Replica> {
  const child = spawn(process.execPath, [PROGRAM, 'serve', '--port', String(port)], {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let stdout = ''
  let stderr = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text))
  child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text))
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve))
  await new Promise<void>((resolve, reject) => {
    child.stdout.on('data', () => stdout.includes('Assistants connect to') && resolve())
    void ended.then((code) => reject(new Error(`the replica ended with ${code}: ${stderr}`)))
  })
  const url = `http://127.0.0.1:${port}`
  return {
    url,
    child,
    ended,
    stdout: () => stdout,
    stderr: () => stderr,
    async api(token, name, args = {}) {
      const response = await fetch(`${url}/api/tools/${name}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
        body: JSON.stringify(args),
      })
      return { status: response.status, body: (await response.json()) as Json, headers: response.headers }
    },
  }
}

export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  await new Promise((resolve) => server.close(resolve))
  return port
}

/** Tries until it is so. */
export async function until(isSo: () => Promise<boolean>, ms = 90_000): Promise<void> {
  for (const end = Date.now() + ms; !(await isSo());) {
    if (Date.now() > end) throw new Error(`still not so after ${ms} ms`)
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
}

/** Queues pages of the web, at one replica and the other in turn, and waits until all are in the library. */
export async function queue(
  { one, two, web }: Replicas,
  token: string,
  paths: readonly string[],
): Promise<void> {
  const answers = await Promise.all(
    paths.map((path, n) => [one, two][n % 2]!.api(token, 'queue_save', { url: `${web.origin}/${path}` })),
  )
  const refused = answers.find(({ status }) => status !== 200)
  if (refused) throw new Error(JSON.stringify(refused.body))
  await until(async () => {
    const { body } = await one.api(token, 'list_items', { limit: 100 })
    return (body['items'] as Json[]).length === paths.length
  })
}
