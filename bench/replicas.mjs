#!/usr/bin/env node
// Two replicas of a server on one PostgreSQL.
//
//   node bench/replicas.mjs [--share 0.25] [--seconds 8] [--rounds 3] [--connections 8] [--readers 20] [--sources 30]
//     How many calls a second two replicas answer against one, by kind of call, in turns of one and two. The database needs
//     cores to spare for that: each replica is held to a share of one core (by a cgroup, which takes root), so that on a small
//     machine the database and the load have the rest. CPU is that of each part alone, from /proc (Linux).
//
//   node bench/replicas.mjs --soak 30 [--readers 20]
//     So many minutes of mixed load, one replica killed (SIGKILL) every half minute and started again: every write that was
//     acknowledged must be there at the end, every answer be of the reader who asked, and memory level.
import { spawn } from 'node:child_process'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  rmdirSync,
  writeFileSync,
} from 'node:fs'
import { Agent, request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { bundle } from '../scripts/bundle.mjs'

const { values } = parseArgs({
  options: {
    share: { type: 'string', default: '0.25' },
    seconds: { type: 'string', default: '8' },
    rounds: { type: 'string', default: '3' },
    connections: { type: 'string', default: '8' },
    readers: { type: 'string', default: '20' },
    sources: { type: 'string', default: '30' },
    soak: { type: 'string' },
  },
})
const number = (name) => Number(values[name])
const MAIN = fileURLToPath(new URL('../dist/main.js', import.meta.url))
const MANY = '100000000'

const { startOwnPostgres, serveWeb, fillDatabase, captured } = await bundle('bench/replicas-parts.ts')
const folder = mkdtempSync(join(tmpdir(), 'commonplace-replicas-bench-'))
const postgres = await startOwnPostgres()
let fetched = 0
const web = await serveWeb((path) => {
  fetched++
  return `<html lang="en"><head><title>${path}</title></head><body><article><h1>${path}</h1>${'<p>The heron stands in the shallows at dusk and waits, and nobody who passes by on the road sees it move.</p>'.repeat(10)}</article></body></html>`
})
const env = {
  COMMONPLACE_URL: 'http://localhost',
  COMMONPLACE_DATA: folder,
  COMMONPLACE_DATABASE_URL: postgres.url,
  COMMONPLACE_EMBEDDER: 'off',
  COMMONPLACE_ALLOW_HOSTS: web.host,
  COMMONPLACE_READS_PER_MINUTE: '1000000',
  COMMONPLACE_READS_PER_DAY: MANY,
  COMMONPLACE_WRITES_PER_MINUTE: '1000000',
  COMMONPLACE_WRITES_PER_DAY: MANY,
}
const tokens = await fillDatabase(env, number('readers'), values.soak ? 0 : number('sources'))
const replicas = []

async function startReplica(port, share) {
  const group = share < 1 ? limitedTo(share) : undefined
  const child = spawn(process.execPath, [MAIN, 'serve', '--port', String(port)], {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let log = ''
  child.stderr.setEncoding('utf8').on('data', (text) => (log = (log + text).slice(-4_000)))
  child.stdout.resume()
  const ended = new Promise((resolve) => child.once('exit', resolve))
  const started = await new Promise((resolve, reject) => {
    let text = ''
    child.stderr.on('data', (chunk) => {
      text += chunk
      const found = /"port":(\d+)/.exec(text)?.[1]
      if (found) resolve(Number(found))
    })
    ended.then(() => reject(new Error(log)))
  })
  group?.put(child.pid)
  const replica = {
    port: started,
    pid: child.pid,
    group,
    alive: true,
    async kill() {
      replica.alive = false
      child.kill('SIGKILL')
      await ended
      group?.remove()
    },
  }
  replicas.push(replica)
  return replica
}

/** A cgroup that gets so much of one core; undefined where there can be none. */
function limitedTo(share) {
  const period = 10_000
  const quota = String(Math.round(period * share))
  const name = `commonplace-${process.pid}-${replicas.length}`
  const [one, two] = ['/sys/fs/cgroup/cpu', '/sys/fs/cgroup']
  try {
    const place = join(existsSync(join(one, 'cpu.cfs_quota_us')) ? one : two, name)
    mkdirSync(place)
    if (existsSync(join(place, 'cpu.cfs_quota_us'))) {
      writeFileSync(join(place, 'cpu.cfs_period_us'), String(period))
      writeFileSync(join(place, 'cpu.cfs_quota_us'), quota)
    } else writeFileSync(join(place, 'cpu.max'), `${quota} ${period}`)
    return {
      put: (pid) => writeFileSync(join(place, 'cgroup.procs'), String(pid)),
      remove() {
        try {
          rmdirSync(place)
        } catch {
          // The kernel has not let go of the process yet; an empty group costs nothing.
        }
      },
    }
  } catch {
    return undefined
  }
}

function post(agent, port, token, name, args) {
  const body = JSON.stringify(args)
  return new Promise((resolve, reject) => {
    const headers = {
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(body),
      authorization: `Bearer ${token}`,
    }
    const req = request(
      {
        agent,
        host: '127.0.0.1',
        port,
        path: `/api/tools/${name}`,
        method: 'POST',
        headers,
        timeout: 30_000,
      },
      (res) => {
        let text = ''
        res.setEncoding('utf8').on('data', (chunk) => (text += chunk))
        res.on('end', () => resolve({ status: res.statusCode, text }))
        res.on('error', reject)
      },
    )
    req.on('error', reject)
    req.on('timeout', () => req.destroy(new Error('no answer')))
    req.end(body)
  })
}

/** CPU that a process has used, in milliseconds; a clock tick is 10. */
function cpuOf(pid) {
  try {
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
      .replace(/^.*\) /s, '')
      .split(' ')
    // Its own, and that of children which have ended.
    return [11, 12, 13, 14].reduce((sum, at) => sum + Number(fields[at]) * 10, 0)
  } catch {
    return 0
  }
}

/** The processes of the database: all whose command is postgres and whose parent is, and that parent. */
function databasePids() {
  const port = new URL(postgres.url).port
  const found = []
  for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
    try {
      const command = readFileSync(`/proc/${pid}/cmdline`, 'utf8')
      if (command.includes(`port=${port}`) && command.includes('postgres')) found.push(pid)
    } catch {
      // It has ended.
    }
  }
  const isOurs = new Set(found)
  for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
    try {
      if (isOurs.has(/^PPid:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))[1])) isOurs.add(pid)
    } catch {
      // It has ended.
    }
  }
  return [...isOurs]
}

const sum = (numbers) => numbers.reduce((all, one) => all + one, 0)
const median = (numbers) => numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)]

async function compare() {
  const share = number('share')
  const two = [await startReplica(0, share), await startReplica(0, share)]
  const isLimited = two.every(({ group }) => group) && share < 1
  console.log(
    isLimited
      ? `each replica held to ${share} of a core; ${values.connections} connections to each`
      : 'no limit could be set: the database has no core to spare on a small machine, and the ratio says little',
  )
  const agent = new Agent({ keepAlive: true })
  const items = []
  for (const token of tokens)
    items.push(
      JSON.parse((await post(agent, two[0].port, token, 'list_items', { limit: 1 })).text).items[0].id,
    )
  agent.destroy()
  let written = 0
  const calls = {
    list_items: () => ['list_items', { limit: 10 }],
    search_library: () => ['search_library', { query: 'heron shallows', limit: 10 }],
    'add_comment (a write)': (n) => [
      'add_comment',
      { id: items[n], body: `The heron of comment ${++written}.` },
    ],
  }
  for (const [name, call] of Object.entries(calls)) {
    const rates = { 1: [], 2: [] }
    const costs = []
    for (let round = 0; round < number('rounds'); round++) {
      for (const count of round % 2 ? [2, 1] : [1, 2]) {
        const measured = await load(two.slice(0, count), call)
        rates[count].push(measured.rate)
        costs.push(measured)
      }
    }
    const [one, both] = [median(rates[1]), median(rates[2])]
    console.log(
      `${name.padEnd(22)} one ${one.toFixed(0)}/s  two ${both.toFixed(0)}/s  ratio ${(both / one).toFixed(2)}` +
        `   CPU a call: replica ${median(costs.map(({ own }) => own)).toFixed(2)} ms, database ${median(costs.map(({ database }) => database)).toFixed(2)} ms`,
    )
  }
}

async function load(among, call) {
  const agent = new Agent({ keepAlive: true })
  const until = Date.now() + number('seconds') * 1_000
  const [own, database] = [sum(among.map(({ pid }) => cpuOf(pid))), sum(databasePids().map(cpuOf))]
  let done = 0
  await Promise.all(
    among.flatMap(({ port }, r) =>
      Array.from({ length: number('connections') }, async (_, n) => {
        for (let at = r + n; Date.now() < until; at++) {
          const { status, text } = await post(
            agent,
            port,
            tokens[at % tokens.length],
            ...call(at % tokens.length),
          )
          if (status !== 200) throw new Error(text)
          done++
        }
      }),
    ),
  )
  agent.destroy()
  return {
    rate: done / number('seconds'),
    own: (sum(among.map(({ pid }) => cpuOf(pid))) - own) / done,
    database: (sum(databasePids().map(cpuOf)) - database) / done,
  }
}

async function soak(ms) {
  const ports = [(await startReplica(0, 1)).port, (await startReplica(0, 1)).port]
  const alive = () => replicas.filter((replica) => replica.alive)
  const until = Date.now() + ms
  const acknowledged = tokens.map(() => new Set())
  const seen = { calls: 0, failed: 0, foreign: 0, killed: 0 }
  const memory = []
  const agent = new Agent({ keepAlive: true, maxSockets: 64 })

  /** Answers as a balancer would have them: of whichever replica is there, and nothing where it died meanwhile. */
  async function call(n, name, args) {
    seen.calls++
    try {
      const answer = await post(agent, ports[seen.calls % 2], tokens[n], name, args)
      if (answer.status === 200) return JSON.parse(answer.text)
    } catch {
      // Nothing was acknowledged.
    }
    seen.failed++
    await pause(50)
    return undefined
  }

  const mine = (n, urls) => urls.every((url) => url.startsWith(`${web.origin}/r${n}/`))
  const readers = tokens.map(async (_, n) => {
    for (let w = 0; Date.now() < until; w++) {
      const url = `${web.origin}/r${n}/${w}`
      if (await call(n, 'queue_save', { url })) acknowledged[n].add(url)
      for (const [name, args] of [
        ['list_items', { limit: 20 }],
        ['search_library', { query: 'heron shallows' }],
      ]) {
        const answer = await call(n, name, args)
        if (
          answer &&
          !mine(
            n,
            (answer.items ?? answer.results).map((item) => item.url),
          )
        )
          seen.foreign++
        await pause(100 + Math.random() * 400)
      }
      await pause(1_000 + Math.random() * 2_000)
    }
  })
  const killer = (async () => {
    while (Date.now() + 40_000 < until) {
      await pause(20_000 + Math.random() * 20_000)
      const victim = alive()[Math.floor(Math.random() * 2)]
      await victim.kill()
      seen.killed++
      await pause(1_000)
      await startReplica(victim.port, 1)
      memory.push(rssOf(postgresAndReplicas()))
    }
  })()
  await Promise.all([...readers, killer])

  // A dead replica's work is taken up within two minutes.
  let left = await captured(postgres.url)
  for (const end = Date.now() + 180_000; left.open > 0 && Date.now() < end;) {
    await pause(1_000)
    left = await captured(postgres.url)
  }
  const missing = acknowledged.flatMap((urls) => [...urls].filter((url) => !left.urls.has(url)))
  for (const [n] of tokens.entries()) if (!mine(n, await allItems(n))) seen.foreign++
  agent.destroy()
  console.log(
    `${seen.calls} calls, ${seen.failed} unanswered, ${seen.killed} kills, ${sum(acknowledged.map(({ size }) => size))} writes acknowledged, ${fetched} pages fetched, ${left.failed} that could not be read in time, ${left.open} still open`,
  )
  console.log(`lost: ${missing.length}   answers of another reader: ${seen.foreign}`)
  console.log(
    `memory of both replicas after each start of one, MB: ${memory.map((mb) => mb.toFixed(0)).join(' ')}`,
  )
  if (missing.length + seen.foreign + left.open > 0) process.exitCode = 1

  async function allItems(n) {
    const urls = []
    let cursor
    do {
      const answer = await call(n, 'list_items', { limit: 100, ...(cursor && { cursor }) })
      if (!answer) break
      urls.push(...answer.items.map((item) => item.url))
      cursor = answer.nextCursor
    } while (cursor)
    return urls
  }

  function postgresAndReplicas() {
    return alive().map(({ pid }) => pid)
  }
}

/** Resident memory of processes, in MB. */
const rssOf = (pids) =>
  sum(
    pids.map((pid) => Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0)),
  ) / 1_000

try {
  if (values.soak) await soak(number('soak') * 60_000)
  else await compare()
} finally {
  // The database's process alone keeps nobody waiting.
  const awake = setInterval(() => {}, 1_000)
  for (const replica of replicas) await replica.kill()
  await web.close()
  await postgres.stop()
  clearInterval(awake)
  rmSync(folder, { recursive: true, force: true })
}
