#!/usr/bin/env node
// search_library on made-up libraries: time of words, meaning and hybrid in a warm process, memory, and how fast the word
// index is built beside plain FTS5.
//   node bench/search.mjs [--passages 1000,100000,1000000] [--queries 180] [--keep DIR] [--kinds]
import { existsSync, mkdirSync, mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { bundle } from '../scripts/bundle.mjs'

const { values } = parseArgs({
  options: {
    passages: { type: 'string', default: '1000,100000' },
    queries: { type: 'string', default: '180' },
    keep: { type: 'string' },
    kinds: { type: 'boolean', default: false },
  },
})
const bench = await bundle('bench/search-corpus.ts')
const folder = values.keep ?? mkdtempSync(join(tmpdir(), 'search-bench-'))
mkdirSync(folder, { recursive: true })
const vocabulary = new bench.Vocabulary()
const vectors = new bench.VectorSource()
const builtIn = bench.createBuiltInEmbedder()

/** Takes the time of the real model, and gives a vector near the passage that the question is about. */
let about = 0
const embedder = {
  id: 'bench',
  dimensions: bench.DIMENSIONS,
  async embed(texts, options) {
    await builtIn.embed(texts, options)
    const vector = vectors.vector(about)
    return [vector]
  },
  close: () => builtIn.close(),
}

const quantile = (sorted, q) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * q))]
const ms = (value) => Number(value.toFixed(1))
const cpuMs = ({ user, system }, count) => ms((user + system) / 1_000 / count)
const timings = []
const builds = []

async function fill(corpus, count) {
  const rawFile = join(folder, 'raw.db')
  const rates = await bench.fillPassages(corpus, rawFile, vocabulary, count)
  for (const end of ['', '-wal', '-shm']) rmSync(rawFile + end, { force: true })
  return rates
}

// Once for nothing: the code of the load is compiled.
const trial = await bench.openCorpus(':memory:')
await fill(trial, 5_000)
trial.database.close()

for (const count of values.passages.split(',').map(Number)) {
  const file = join(folder, `library-${count}.db`)
  if (!existsSync(file)) {
    const corpus = await bench.openCorpus(file)
    const { own, raw } = await fill(corpus, count)
    builds.push({
      passages: count,
      'raw FTS5 rows/s': Math.round(raw.rows / raw.seconds),
      'index build rows/s': Math.round(own.rows / own.seconds),
      'share by time': Number((raw.seconds / own.seconds).toFixed(2)),
      'share by CPU': Number((raw.cpuSeconds / own.cpuSeconds).toFixed(2)),
    })
    await bench.fillVectors(corpus, vectors, count, embedder.id)
    corpus.database.exec('pragma wal_checkpoint(truncate)')
    corpus.database.close()
  }
  const { library, database } = await bench.openCorpus(file, embedder)
  const ask = async (mode, query, limit = 10) => {
    const start = performance.now()
    const call = { scopes: bench.allScopes, signal: new AbortController().signal, progress() {} }
    const output = await bench.searchLibrary.bind({ query, mode, limit }).run(library, call)
    return { took: performance.now() - start, output }
  }
  const cold = await ask('hybrid', 'first question')
  // A warm process: the code is compiled, the pages of the file are in memory.
  for (const { query, about: near } of bench.questions(vocabulary, 90, count)) {
    about = near
    await ask('hybrid', query)
  }
  for (const mode of ['words', 'meaning', 'hybrid']) {
    const asked = [...bench.questions(vocabulary, Number(values.queries), count)]
    const took = []
    const cpu = process.cpuUsage()
    const byKind = new Map()
    for (const question of asked) {
      about = question.about
      const { took: time, output } = await ask(mode, question.query)
      if (output.meta.mode !== mode) throw new Error(`${question.query}: ${output.meta.note}`)
      took.push(time)
      byKind.set(question.kind, [...(byKind.get(question.kind) ?? []), time])
    }
    const sorted = took.toSorted((a, b) => a - b)
    timings.push({
      passages: count,
      mode,
      'p50 ms': ms(quantile(sorted, 0.5)),
      'p95 ms': ms(quantile(sorted, 0.95)),
      'max ms': ms(sorted.at(-1)),
      'CPU ms a question': cpuMs(process.cpuUsage(cpu), took.length),
      'first ms': mode === 'words' ? ms(cold.took) : undefined,
      'RSS MB': Math.round(process.memoryUsage().rss / 1e6),
      'file MB': Math.round(statSync(file).size / 1e6),
    })
    if (values.kinds) {
      console.log(count, mode)
      console.table(
        [...byKind].map(([kind, times]) => {
          const ordered = times.toSorted((a, b) => a - b)
          return { kind, 'p50 ms': ms(quantile(ordered, 0.5)), 'max ms': ms(ordered.at(-1)) }
        }),
      )
    }
  }
  database.close()
}
if (builds.length > 0) console.table(builds)
console.table(timings)
await builtIn.close()
if (!values.keep) rmSync(folder, { recursive: true })
