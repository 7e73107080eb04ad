/** A whole server in this process: real files, real sockets, and a web of the test's own. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openServer, type OpenServer } from '../../src/app/open-server.ts'
import { readServerConfig } from '../../src/config/server.ts'
import { SCOPES, type Scope } from '../../src/core/define-tool.ts'
import { Failure } from '../../src/core/failure.ts'
import { makePersonalToken } from '../../src/features/accounts/personal-token-store.ts'
import { addReader } from '../../src/features/accounts/reader-store.ts'
import { createHttpApp } from '../../src/http/app.ts'
import { listen } from '../../src/http/listen.ts'
import type { Json } from '../../src/mcp/protocol/messages.ts'
import { conceptEmbedder } from '../support/embedder.ts'
import { databaseEnv } from '../support/server-database.ts'

export interface TestServer {
  base: string
  /** The data folder. */
  folder: string
  server: OpenServer
  /** What the server told its log. */
  errors: unknown[]
  /** A reader of their own, beside the first. */
  newReader(): Promise<string>
  /** A token of a reader's: all scopes unless said. */
  tokenFor(readerId: string, scopes?: readonly Scope[]): Promise<string>
  /** `POST /api/tools/{name}`. */
  api(
    token: string | undefined,
    name: string,
    args?: unknown,
    headers?: Record<string, string>,
  ): Promise<Told>
  /** A tool call over MCP, as an older client sends it. */
  mcp(token: string | undefined, name: string, args?: Json): Promise<McpTold>
  close(): Promise<void>
}

export interface Told {
  status: number
  body: Json
  headers: Headers
}

export interface McpTold {
  status: number
  isError: boolean
  told: Json
  meta: Json | undefined
}

export interface TestServerOptions {
  env?: Record<string, string>
  now?: () => Date
  origins?: string[]
  proxies?: number
  /** Aborts when the server is about to end. */
  ending?: AbortSignal
}

/** A page about one bird, with words that stand on no other. */
export const pageOf = (bird: string): string =>
  `<html lang="en"><head><title>Essay ${bird}</title></head><body><article><h1>Essay ${bird}</h1>
<p>This stands once only, in the essay on the ${bird}.</p>
${`<p>The ${bird} stands in the shallows at dusk and waits, and nobody who passes by on the road ever sees it move.</p>`.repeat(12)}
</article></body></html>`

export async function startServer(options: TestServerOptions = {}): Promise<TestServer> {
  const folder = mkdtempSync(join(tmpdir(), 'commonplace-http-'))
  const listening = await listen('127.0.0.1', 0)
  const base = `http://127.0.0.1:${listening.port}`
  const config = readServerConfig({
    COMMONPLACE_DATA: folder,
    COMMONPLACE_EMBEDDER: 'off',
    COMMONPLACE_READS_PER_MINUTE: '100000',
    COMMONPLACE_WRITES_PER_MINUTE: '100000',
    COMMONPLACE_READS_PER_DAY: '100000',
    COMMONPLACE_WRITES_PER_DAY: '100000',
    ...(await databaseEnv()),
    ...options.env,
  })
  const errors: unknown[] = []
  const onError = (error: unknown) => void errors.push(error)
  const server = await openServer(config, {
    base,
    onError,
    ...(options.now && { now: options.now }),
    embedder: conceptEmbedder([['heron', 'bird']]),
    pages: {
      async fetch(url) {
        const bird = /^https:\/\/birds\.example\/(\w+)$/.exec(url)?.[1]
        if (bird === undefined)
          throw new Failure('page_not_found', 'The page is not there.', { hint: 'Check the address.' })
        const headers = { 'content-type': 'text/html; charset=utf-8' }
        return { url, status: 200, headers, bytes: Buffer.from(pageOf(bird)) }
      },
    },
  })
  const { origins, proxies, ending } = options
  listening.serve(
    createHttpApp({
      server,
      version: '0.0.0',
      uploadBytes: config.uploadBytes,
      ...(ending && { ending }),
      onError,
      ...(origins && { origins }),
      ...(proxies !== undefined && { proxies }),
    }),
  )
  server.work()
  const bearer = (token: string | undefined) =>
    token === undefined ? {} : { authorization: `Bearer ${token}` }
  return {
    base,
    folder,
    server,
    errors,
    newReader: async () => (await addReader(server.accounts, {})).id,
    tokenFor: async (readerId, scopes = SCOPES) =>
      (await makePersonalToken(server.accounts, readerId, { name: 'a test', scopes })).token,
    async api(token, name, args = {}, headers = {}) {
      const response = await fetch(`${base}/api/tools/${name}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...bearer(token), ...headers },
        body: typeof args === 'string' ? args : JSON.stringify(args),
      })
      return { status: response.status, body: (await response.json()) as Json, headers: response.headers }
    },
    async mcp(token, name, args = {}) {
      const response = await fetch(`${base}/mcp`, {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          accept: 'application/json',
          'mcp-protocol-version': '2025-06-18',
          ...bearer(token),
        },
        body: JSON.stringify({
          jsonrpc: '2.0',
          id: 1,
          method: 'tools/call',
          params: { name, arguments: args },
        }),
      })
      const { result, error } = (await response.json()) as { result?: Json; error?: Json }
      return {
        status: response.status,
        isError: result?.['isError'] === true,
        told: (result?.['structuredContent'] ?? error ?? {}) as Json,
        meta: result?.['_meta'] as Json | undefined,
      }
    },
    async close() {
      await listening.close(0)
      await server.close()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}
