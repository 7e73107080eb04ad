#!/usr/bin/env node
// search_highlights on made-up libraries, warm: by words, by meaning and by both, the embedding of the question and the freezing
// of the list included.
//   node bench/highlights.mjs [--highlights 100000] [--queries 180] [--database sqlite|postgres] [--keep DIR] [--kinds]
// DATABASE_URL names a PostgreSQL to measure; else one is started that keeps nothing (no fsync).
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { bundle } from '../scripts/bundle.mjs'

const { values } = parseArgs({
  options: {
    highlights: { type: 'string', default: '100000' },
    queries: { type: 'string', default: '180' },
    database: { type: 'string', default: 'sqlite' },
    keep: { type: 'string' },
    kinds: { type: 'boolean', default: false },
  },
})
const bench = await bundle('bench/highlights-corpus.ts')
const folder = values.keep ?? mkdtempSync(join(tmpdir(), 'highlights-bench-'))
mkdirSync(folder, { recursive: true })
const vocabulary = new bench.Vocabulary()
const vectors = new bench.VectorSource()
const builtIn = bench.createBuiltInEmbedder()

/** Takes the time of the real model, and gives a vector near the highlight that the question is about. */
let about = 0
const embedder = {
  id: 'bench',
  dimensions: bench.DIMENSIONS,
  async embed(texts, options) {
    await builtIn.embed(texts, options)
    return [vectors.vector(about)]
  },
  close: () => builtIn.close(),
}
const quantile = (took, q) => {
  const sorted = took.toSorted((a, b) => a - b)
  return Number(sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * q))].toFixed(1))
}
const call = { scopes: bench.allScopes, signal: new AbortController().signal, progress() {} }
const rows = []
const server = values.database === 'postgres' ? await bench.startPostgres() : undefined
const postgres = server && (await bench.openPostgres({ url: server.url, connections: 4 }))

for (const count of values.highlights.split(',').map(Number)) {
  const db = postgres
    ? postgres.ofLibrary(await postgres.makeLibrary(`highlights ${count}`))
    : await bench.sqliteDb(join(folder, `highlights-${count}.db`))
  const library = bench.libraryOn(db, embedder)
  if ((await bench.countOf(db)) !== count) {
    const began = performance.now()
    await bench.fillHighlights(library, vocabulary, vectors, count, embedder.id)
    console.log(`${count} highlights in ${Math.round((performance.now() - began) / 1_000)} s`)
    if (server) await analyse()
  }
  const ask = async (mode, query) => {
    const start = performance.now()
    const output = await bench.searchHighlights.bind({ query, mode }).run(library, call)
    if (output.meta.mode !== mode) throw new Error(`${query}: ${output.meta.note}`)
    return performance.now() - start
  }
  // The first search by meaning reads the codes, and on a busy machine does not wait for all of them.
  for (let tries = 0; tries < 10; tries++)
    await bench.searchHighlights.bind({ query: 'first question' }).run(library, call)
  for (const { query, about: near } of bench.questions(vocabulary, 90, count)) {
    about = near
    await ask('hybrid', query)
  }
  for (const mode of ['fulltext', 'semantic', 'hybrid']) {
    const took = []
    const cpu = process.cpuUsage()
    const byKind = new Map()
    for (const question of bench.questions(vocabulary, Number(values.queries), count)) {
      about = question.about
      const time = await ask(mode, question.query)
      took.push(time)
      byKind.set(question.kind, [...(byKind.get(question.kind) ?? []), time])
    }
    const { user, system } = process.cpuUsage(cpu)
    rows.push({
      database: values.database,
      highlights: count,
      mode,
      'p50 ms': quantile(took, 0.5),
      'p95 ms': quantile(took, 0.95),
      'max ms': quantile(took, 1),
      'CPU ms a question': Number(((user + system) / 1_000 / took.length).toFixed(1)),
      'RSS MB': Math.round(process.memoryUsage().rss / 1e6),
    })
    if (values.kinds)
      console.table(
        [...byKind].map(([kind, times]) => ({
          mode,
          kind,
          'p50 ms': quantile(times, 0.5),
          'max ms': quantile(times, 1),
        })),
      )
  }
  if (!postgres) await db.destroy()
}
console.table(rows)
await postgres?.close()
await server?.stop()
await builtIn.close()
if (!values.keep) rmSync(folder, { recursive: true })

/** As PostgreSQL does by itself after a while. */
async function analyse() {
  const { default: pg } = await import('pg')
  const client = new pg.Client({ connectionString: server.url })
  await client.connect()
  await client.query('vacuum analyze')
  await client.end()
}
