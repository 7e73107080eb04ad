#!/usr/bin/env node
// A list and searches on PostgreSQL beside SQLite, the same library on both; and the nearest codes of one library among ten.
//   node bench/postgres.mjs [--passages 10000,100000] [--queries 90] [--codes 100000]
// DATABASE_URL names a PostgreSQL to measure; else one is started that keeps nothing (no fsync).
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { bundle } from '../scripts/bundle.mjs'

const { values } = parseArgs({
  options: {
    passages: { type: 'string', default: '10000,100000' },
    queries: { type: 'string', default: '90' },
    codes: { type: 'string', default: '100000' },
  },
})
const bench = await bundle('bench/postgres-parts.ts')
const folder = mkdtempSync(join(tmpdir(), 'postgres-bench-'))
const server = await bench.startPostgres()
const postgres = await bench.openPostgres({ url: server.url, connections: 4 })
const vocabulary = new bench.Vocabulary()
const vectors = new bench.VectorSource()
let about = 0
const embedder = {
  id: 'bench',
  dimensions: bench.DIMENSIONS,
  embed: async () => [vectors.vector(about)],
  close: async () => {},
}
const call = { scopes: bench.allScopes, signal: new AbortController().signal, progress() {} }
const ms = (value) => Number(value.toFixed(1))

async function timed(work, times) {
  const took = []
  for (let i = 0; i < times; i++) {
    const start = performance.now()
    await work(i)
    took.push(performance.now() - start)
  }
  const sorted = took.toSorted((a, b) => a - b)
  const at = (share) => ms(sorted[Math.floor(share * (sorted.length - 1))])
  return { 'p50 ms': at(0.5), 'p95 ms': at(0.95), 'max ms': at(1) }
}

const rows = []
try {
  for (const count of values.passages.split(',').map(Number)) {
    const dbs = {
      SQLite: await bench.sqliteDb(join(folder, `${count}.db`)),
      PostgreSQL: postgres.ofLibrary(await postgres.makeLibrary(`bench ${count}`)),
    }
    for (const [name, db] of Object.entries(dbs)) {
      const library = bench.libraryOn(db, embedder)
      const began = performance.now()
      await bench.fill(library, vocabulary, vectors, count, embedder.id)
      console.log(`${name}: ${count} passages in ${Math.round(performance.now() - began)} ms`)
      if (name === 'PostgreSQL') await analyse()
      const asked = [...bench.questions(vocabulary, Number(values.queries), count)]
      const ask = (mode) => async (i) => {
        about = asked[i].about
        await bench.searchLibrary.bind({ query: asked[i].query, mode }).run(library, call)
      }
      const measures = [
        ['list of 50', () => bench.listItems.bind({}).run(library, call), 200],
        ['search by words', ask('words'), asked.length],
        ['search by meaning', ask('meaning'), asked.length],
        ['search by both', ask('hybrid'), asked.length],
      ]
      for (const [what, work, times] of measures) {
        await timed(work, Math.min(times, 30))
        rows.push({ passages: count, what, database: name, ...(await timed(work, times)) })
      }
      if (name === 'SQLite') await db.destroy()
    }
  }
  console.table(rows)
  console.table([{ codes: Number(values.codes), ...(await nearest(Number(values.codes))) }])
} finally {
  await postgres.close()
  await server.stop()
  rmSync(folder, { recursive: true })
}

/** The 400 nearest of a library's codes, whose rows lie among those of nine others. */
async function nearest(count) {
  const libraries = []
  for (let i = 0; i < 10; i++) libraries.push(await postgres.makeLibrary(`codes ${i}`))
  await asOwner(
    'set session_replication_role = replica',
    `insert into code (library_id, passage_id, model, code)
     select (array[${libraries}])[1 + i % 10], 1 + i / 10, 'bench',
       ('x' || md5(i::text) || md5((i * 7)::text) || md5((i * 13)::text) || md5((i * 17)::text))::bit(512)
     from generate_series(0, ${count * 10 - 1}) i`,
    'vacuum analyze code',
    // Once more: what somebody else may have been reading until now.
    'select pg_sleep(1)',
    'vacuum analyze code',
  )
  const db = postgres.ofLibrary(libraries[3])
  const codes = await bench.engineOf(db).vectors.codesOf(db, { id: 'bench', dimensions: 512 })
  const asked = (i) => Uint8Array.from({ length: 64 }, (_, byte) => (byte + 1) * (i + 37))
  await timed((i) => codes.nearest(asked(i), 400), 5)
  return timed((i) => codes.nearest(asked(i), 400), 40)
}

/** As PostgreSQL does by itself after a while. */
function analyse() {
  return asOwner('vacuum analyze')
}

async function asOwner(...statements) {
  const { default: pg } = await import('pg')
  const client = new pg.Client({ connectionString: server.url })
  await client.connect()
  for (const statement of statements) await client.query(statement)
  await client.end()
}
