/** `deploy/nginx.conf` in front of two replicas, with a real nginx where there is one. */
import { execFileSync, spawn, spawnSync, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { request, type RequestOptions } from 'node:https'
import type { IncomingMessage } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { freshDatabase } from '../support/postgres.ts'
import { freePort, pageOf, startReplicas, until, type Replicas } from './replicas.ts'

const NAME = 'books.example.org'
const UPLOAD_MB = 2
const hasNginx = spawnSync('nginx', ['-v']).status === 0

let at: Replicas
let databaseUrl: string
let nginx: ChildProcess
let folder: string
let port: number
let token: string
let show: () => void

/** The configuration as it is, but for ports and certificates of the test's own. */
async function startNginx(ports: string[]): Promise<void> {
  folder = mkdtempSync(join(tmpdir(), 'commonplace-nginx-'))
  // The workers of a server that root started are somebody else.
  chmodSync(folder, 0o755)
  mkdirSync(join(folder, 'logs'))
  const [key, certificate] = [join(folder, 'key.pem'), join(folder, 'certificate.pem')]
  execFileSync(
    'openssl',
    [
      ...'req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 1'.split(' '),
      ...`-subj /CN=${NAME} -keyout ${key} -out ${certificate}`.split(' '),
    ],
    { stdio: 'ignore' },
  )
  port = await freePort()
  const plain = await freePort()
  const ours = readFileSync(new URL('../../deploy/nginx.conf', import.meta.url), 'utf8')
    .replace('server 127.0.0.1:3210', `server 127.0.0.1:${ports[0]}`)
    .replace('#server 127.0.0.1:3211', `server 127.0.0.1:${ports[1]}`)
    .replace('listen 443 ssl http2', `listen 127.0.0.1:${port} ssl http2`)
    .replace('listen 80', `listen 127.0.0.1:${plain}`)
    .replaceAll(/^ *listen \[::\].*\n/gm, '')
    .replace(/ssl_certificate .*/, `ssl_certificate ${certificate};`)
    .replace(/ssl_certificate_key .*/, `ssl_certificate_key ${key};`)
  for (const wanted of [ports[0], ports[1], port, plain, key, certificate])
    expect(ours).toContain(String(wanted))
  const configuration = join(folder, 'nginx.conf')
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (kind) => `${kind}_temp_path ${join(folder, kind)};`,
  )
  writeFileSync(
    configuration,
    `daemon off; pid ${join(folder, 'pid')}; error_log stderr;
events {}
http { access_log off; ${temporary.join(' ')}
${ours}
}`,
  )
  nginx = spawn('nginx', ['-p', folder, '-c', configuration], { stdio: ['ignore', 'ignore', 'inherit'] })
}

function send(path: string, options: RequestOptions = {}, body?: string | Buffer): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const sent = request(
      {
        host: '127.0.0.1',
        port,
        path,
        servername: NAME,
        rejectUnauthorized: false,
        ...options,
        headers: { host: NAME, authorization: `Bearer ${token}`, ...options.headers },
      },
      resolve,
    )
    sent.once('error', reject)
    sent.end(body)
  })
}

const call = (name: string, args: object): Promise<IncomingMessage> =>
  send(
    `/api/tools/${name}`,
    { method: 'POST', headers: { 'content-type': 'application/json' } },
    JSON.stringify(args),
  )

beforeAll(async () => {
  if (!hasNginx) return
  databaseUrl = await freshDatabase(inject('postgresUrl'))
  const shown = new Promise<void>((resolve) => (show = resolve))
  at = await startReplicas(databaseUrl, {
    env: {
      COMMONPLACE_URL: `https://${NAME}`,
      COMMONPLACE_PROXIES: '1',
      COMMONPLACE_UPLOAD_MB: String(UPLOAD_MB),
      COMMONPLACE_METRICS_TOKEN: 'a-token-of-this-test',
    },
    pageOf: async (path) => {
      await shown
      return pageOf(path.slice(1))
    },
  })
  token = await at.tokenFor(await at.newReader())
  await startNginx([at.one, at.two].map(({ url }) => new URL(url).port))
  await until(async () => {
    const answer = await send('/readyz').catch(() => undefined)
    return (await answer?.toArray()) !== undefined && answer?.statusCode === 200
  })
})
afterAll(async () => {
  if (nginx) {
    const ended = once(nginx, 'exit')
    nginx.kill('SIGTERM')
    await ended
  }
  if (folder) rmSync(folder, { recursive: true, force: true })
  await at?.stop()
})

describe.skipIf(!hasNginx)('behind nginx', () => {
  it('both replicas answer under the public name', async () => {
    const processes = new Set<string>()
    for (let round = 0; round < 12; round++) {
      const answer = await call('list_items', {})
      expect(answer.statusCode).toBe(200)
      await text(answer)
      processes.add(String(answer.headers['x-request-id']).split('-')[0]!)
    }
    expect(processes.size).toBe(2)
  })

  it('the server itself says what is too large', async () => {
    const small = await call('list_items', { tag: 'x'.repeat(100_000) })
    expect([small.statusCode, small.headers['content-type']]).toEqual([413, 'application/problem+json'])
    small.resume()
    const upload = (bytes: number): Promise<IncomingMessage> =>
      send(
        '/api/files?name=what.bin',
        { method: 'POST', headers: { 'content-type': 'application/octet-stream', 'content-length': bytes } },
        Buffer.alloc(bytes, 1),
      )
    // More than nginx takes by itself. It comes whole to the server, which does not read such files.
    const whole = await upload(UPLOAD_MB * 900_000)
    expect([whole.statusCode, whole.headers['content-type']]).toEqual([422, 'application/problem+json'])
    whole.resume()
    const large = await upload(UPLOAD_MB * 3_000_000)
    expect([large.statusCode, large.headers['content-type']]).toEqual([413, 'application/problem+json'])
    large.resume()
  })

  it('callers do not choose their address', async () => {
    const statuses = new Set<number | undefined>()
    for (let round = 0; round < 130; round++) {
      const answer = await send(
        '/oauth/register',
        {
          method: 'POST',
          headers: { 'content-type': 'application/json', 'x-forwarded-for': `203.0.113.${round}` },
        },
        JSON.stringify({ client_name: 'a test', redirect_uris: ['https://client.example/callback'] }),
      )
      answer.resume()
      statuses.add(answer.statusCode)
    }
    expect([...statuses]).toEqual([201, 429])
  })

  it('metrics are not for the outside', async () => {
    const answer = await send('/metrics', { headers: { authorization: 'Bearer a-token-of-this-test' } })
    expect(answer.statusCode).toBe(404)
    answer.resume()
  })

  it('events are heard when they happen', async () => {
    const queued = await call('queue_save', { url: `${at.web.origin}/heron` })
    expect(queued.statusCode).toBe(200)
    queued.resume()
    const database = new pg.Client({ connectionString: databaseUrl })
    await database.connect()
    const job = await database.query<{ id: string }>(
      `select * from job where kind like 'capture%' and state <> 'completed'`,
    )
    await database.end()
    const events = await send(`/api/jobs/${job.rows[0]!.id}/events`)
    expect(events.headers['content-type']).toBe('text/event-stream')
    let heard = ''
    events.setEncoding('utf8').on('data', (part: string) => (heard += part))
    // The page is not there yet, and will not be before this was heard.
    await until(async () => heard.includes('event: progress'))
    expect(heard).not.toContain('event: outcome')
    show()
    await until(async () => heard.includes('event: outcome'))
  })

  it('a replica that ends is missed by nobody', async () => {
    at.two.child.kill('SIGTERM')
    const statuses = new Set<number | undefined>()
    while (at.two.child.exitCode === null) {
      const answer = await send('/api/openapi.json')
      answer.resume()
      statuses.add(answer.statusCode)
    }
    const after = await call('list_items', {})
    after.resume()
    statuses.add(after.statusCode)
    expect([...statuses]).toEqual([200])
    expect(await at.two.ended).toBe(0)
  })
})
