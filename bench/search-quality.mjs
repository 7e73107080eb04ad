#!/usr/bin/env node
// Hybrid search on paraphrases (no content word in common) and on exact words of the same passages.
//   node bench/search-quality.mjs PAIRS.json    { pairs: [[passage, query]…], distractors: [passage…] }
import { readFileSync } from 'node:fs'
import { bundle } from '../scripts/bundle.mjs'

const file = process.argv[2]
if (!file) {
  console.error('Usage: node bench/search-quality.mjs PAIRS.json')
  process.exit(2)
}
const { pairs, distractors } = JSON.parse(readFileSync(file, 'utf8'))
const bench = await bundle('bench/search-parts.ts')
const embedder = bench.createBuiltInEmbedder()
const library = await bench.memoryLibrary(embedder)
const passages = [...pairs.map(([passage]) => passage), ...distractors]
const sources = await bench.addTexts(library, passages)
await bench.embedAll(library)

const rankOf = async (query, source, mode) => {
  const { hits } = await bench.searchItems(library, {
    query,
    mode,
    scopes: bench.allScopes,
    meaningWithinMs: 60_000,
  })
  return hits.findIndex(({ sourceId }) => sourceId === source) + 1
}

const exact = bench.exactQueries(passages, 200)
const table = []
for (const mode of ['words', 'meaning', 'hybrid']) {
  for (const [name, queries] of [
    ['paraphrases', pairs.map(([, query], i) => [query, i])],
    ['exact words', exact],
  ]) {
    const ranks = []
    for (const [query, i] of queries) ranks.push(await rankOf(query, sources[i], mode))
    const within = (k) => ranks.filter((rank) => rank >= 1 && rank <= k).length
    table.push({ mode, queries: name, of: ranks.length, 'recall@1': within(1), 'recall@10': within(10) })
    if (process.argv.includes('--misses'))
      for (const [i, rank] of ranks.entries())
        if (rank !== 1)
          console.log(mode, rank, JSON.stringify(queries[i][0]), '|', passages[queries[i][1]].slice(0, 160))
  }
}
console.table(table)
await embedder.close()
const hybrid = table.filter(({ mode }) => mode === 'hybrid')
const good =
  hybrid[0]['recall@1'] >= 0.87 * hybrid[0].of - 0.5 &&
  hybrid[0]['recall@10'] >= 0.966 * hybrid[0].of &&
  hybrid[1]['recall@1'] >= 0.99 * hybrid[1].of
process.exitCode = good ? 0 : 1
