#!/usr/bin/env node
// Many libraries in use at once on one server: each reader in turn lists, searches and reads, over and over; how many calls a
// second that gives, how late the slowest are and how much memory the process takes. Two cores: the server's and the readers'.
//   node bench/libraries.mjs [--readers 1000] [--sources 1000] [--rounds 3] [--connections 16] [--open 256]
import { mkdtempSync, rmSync } from 'node:fs'
import { Agent } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { bundle } from '../scripts/bundle.mjs'
import { callOf, checkAnswer, cpuOf, memoryOf, percentile, post, startServer } from './served.mjs'

const { values } = parseArgs({
  options: {
    readers: { type: 'string', default: '1000' },
    sources: { type: 'string', default: '1000' },
    rounds: { type: 'string', default: '3' },
    connections: { type: 'string', default: '16' },
    open: { type: 'string' },
  },
})
const [readers, sources, rounds, connections] = [
  values.readers,
  values.sources,
  values.rounds,
  values.connections,
].map(Number)

const folder = mkdtempSync(join(tmpdir(), 'commonplace-libraries-bench-'))
const { fillServer, addCopies } = await bundle('bench/serve-parts.ts')
const [first] = await fillServer(folder, 1, sources)
const tokens = [first, ...(await addCopies(folder, readers - 1))]
const server = await startServer(folder, values.open && { COMMONPLACE_OPEN_LIBRARIES: values.open })
const agent = new Agent({ keepAlive: true, maxSockets: connections })

async function call(token, name, args) {
  const answer = await post(agent, server.port, '/mcp', token, callOf(name, args))
  checkAnswer(answer)
  return JSON.parse(answer.text).result.structuredContent
}

/** What an assistant does for one question of a reader's. */
async function useLibrary(token) {
  const latencies = []
  const timed = async (...args) => {
    const begun = performance.now()
    const output = await call(token, ...args)
    latencies.push(performance.now() - begun)
    return output
  }
  const { items } = await timed('list_items', { limit: 10 })
  await timed('search_library', { query: 'minnow7', limit: 5 })
  await timed('read_item', { id: items[0].id, maxChars: 2000 })
  return latencies
}

console.log(`${readers} libraries of ${sources} sources, ${connections} at once`)
for (let round = 1; round <= rounds; round++) {
  const before = cpuOf(server)
  const begun = performance.now()
  const left = [...tokens]
  const latencies = []
  await Promise.all(
    Array.from({ length: connections }, async () => {
      for (let token = left.pop(); token !== undefined; token = left.pop())
        latencies.push(...(await useLibrary(token)))
    }),
  )
  const seconds = (performance.now() - begun) / 1000
  const memory = memoryOf(server)
  console.log(
    `round ${round}: ${(latencies.length / seconds).toFixed(0)} calls/s, ${(((cpuOf(server) - before) / latencies.length) * 1e3).toFixed(2)} ms CPU a call, p50 ${percentile(latencies, 0.5).toFixed(1)} ms, p99 ${percentile(latencies, 0.99).toFixed(1)} ms, memory ${memory.now.toFixed(0)} MiB, at its most ${memory.most.toFixed(0)} MiB`,
  )
}
agent.destroy()
await server.stop()
rmSync(folder, { recursive: true, force: true })
