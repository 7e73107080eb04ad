#!/usr/bin/env node
// Speed of the built-in embedder, and with --corpus FILE what its stored vectors find.
//
//   node bench/embedding.mjs [--runtime native|web|both] [--threads N] [--corpus paraphrases.json] [--json]
//
// The corpus is `{ pairs: [[passage, query], …], distractors: [text, …] }`: a query should find its own passage.
import { parseArgs } from 'node:util'
import { bundle } from '../scripts/bundle.mjs'

const { values: options } = parseArgs({
  options: {
    runtime: { type: 'string', default: 'both' },
    threads: { type: 'string', default: '2' },
    corpus: { type: 'string' },
    json: { type: 'boolean', default: false },
  },
})

const WORDS =
  'the old harbour was described by travellers who had never met each other and wrote long letters about winter storms ' +
  'trade wine salt songs dogs markets ships captains children schools bridges rivers mountains libraries readers books ' +
  'thermodynamics constitutional lighthouse'
const words = WORDS.split(' ')

/** Repeatable texts of so many words. */
function textsOf(count, length) {
  let state = 1
  const next = () => {
    state = (Math.imul(state, 1103515245) + 12345) & 0x7fffffff
    return words[(state >>> 8) % words.length]
  }
  return Array.from({ length: count }, () => Array.from({ length }, next).join(' '))
}

async function timed(work) {
  const cpu = process.cpuUsage()
  const from = performance.now()
  await work()
  const used = process.cpuUsage(cpu)
  return { ms: performance.now() - from, cpuMs: (used.user + used.system) / 1000 }
}

const median = (numbers) => numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)]

/** Texts a second, the median of three rounds, and the same on the processor time that it took. */
async function rate(embedder, texts) {
  const rounds = []
  for (let round = 0; round < 3; round++) rounds.push(await timed(() => embedder.embed(texts)))
  return {
    perSecond: Math.round(texts.length / (median(rounds.map(({ ms }) => ms)) / 1000)),
    perCpuSecond: Math.round(texts.length / (median(rounds.map(({ cpuMs }) => cpuMs)) / 1000)),
  }
}

async function measure(createBuiltInEmbedder, runtime) {
  const embedder = createBuiltInEmbedder({ runtime, threads: Number(options.threads) })
  const cold = await timed(() => embedder.embed(['first text']))
  const size = runtime === 'web' ? 64 : 512
  const short = await rate(embedder, textsOf(size, 12))
  const long = await rate(embedder, textsOf(size, 47)) // about 70 tokens, at 1.5 a word
  const single = []
  for (const text of textsOf(50, 8)) {
    single.push((await timed(() => embedder.embed([text], { priority: 'query' }))).ms)
  }
  const rssMb = Math.round(process.memoryUsage().rss / 1e6)
  await embedder.close()
  return {
    runtime,
    threads: Number(options.threads),
    coldMs: Math.round(cold.ms),
    queryMs: Number(median(single).toFixed(1)),
    'texts of 12 words': short,
    'documents of 70 tokens': long,
    rssMb,
  }
}

/** Share of the queries whose passage is among the first ones: by sign bits, then 400 of those by int8. */
async function recall(createBuiltInEmbedder, file) {
  const { readFileSync } = await import('node:fs')
  const { CodeIndex } = await bundle('src/db/sqlite/hamming-scan.ts')
  const { quantise, signCode, dotQuantised } = await bundle('src/features/search/quantise.ts')
  const { pairs, distractors } = JSON.parse(readFileSync(file, 'utf8'))
  const embedder = createBuiltInEmbedder()
  const passages = await embedder.embed([...pairs.map(([passage]) => passage), ...distractors])
  const queries = await embedder.embed(pairs.map(([, query]) => query))
  await embedder.close()
  const stored = passages.map((vector) => quantise(vector))
  const index = new CodeIndex()
  for (const [id, { code }] of stored.entries()) index.add(id, code)

  const rankOf = (scored, own) =>
    scored.toSorted((a, b) => b.score - a.score).findIndex(({ id }) => id === own)
  const ranks = { exact: [], signBits: [], rescored: [] }
  for (const [own, query] of queries.entries()) {
    const exact = passages.map((vector, id) => ({
      id,
      score: vector.reduce((s, v, i) => s + v * query[i], 0),
    }))
    ranks.exact.push(rankOf(exact, own))
    const found = index.search(signCode(query), 400)
    ranks.signBits.push(found.findIndex(({ id }) => id === own))
    const rescored = found.map(({ id }) => ({ id, score: dotQuantised(query, stored[id].blob) }))
    ranks.rescored.push(rankOf(rescored, own))
  }
  const share = (list, most) => `${list.filter((rank) => rank >= 0 && rank < most).length}/${list.length}`
  return Object.fromEntries(
    Object.entries(ranks).map(([name, list]) => [
      name,
      { 'recall@1': share(list, 1), 'recall@10': share(list, 10) },
    ]),
  )
}

const { createBuiltInEmbedder } = await bundle('src/outside/embeddings.ts')
const runtimes = options.runtime === 'both' ? ['native', 'web'] : [options.runtime]
const results = { speed: [] }
for (const runtime of runtimes) results.speed.push(await measure(createBuiltInEmbedder, runtime))
if (options.corpus) results.recall = await recall(createBuiltInEmbedder, options.corpus)
console.log(options.json ? JSON.stringify(results) : JSON.stringify(results, undefined, 2))
