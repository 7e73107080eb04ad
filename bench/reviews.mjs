#!/usr/bin/env node
// get_daily_review, review_highlight and find_related on a made-up library with many highlights and answers, warm.
//   node bench/reviews.mjs [--highlights 100000] [--answers 0,100000,300000] [--rounds 30]
import { parseArgs } from 'node:util'
import { bundle } from '../scripts/bundle.mjs'

const { values } = parseArgs({
  options: {
    highlights: { type: 'string', default: '100000' },
    answers: { type: 'string', default: '0,100000,300000' },
    rounds: { type: 'string', default: '30' },
  },
})
const bench = await bundle('bench/reviews-parts.ts')
const vocabulary = new bench.Vocabulary()
const highlights = Number(values.highlights)
const embedder = {
  id: 'bench',
  dimensions: bench.DIMENSIONS,
  embed: () => Promise.reject(new Error('nothing is to be embedded')),
  close: async () => {},
}
const call = { scopes: bench.allScopes, signal: new AbortController().signal, progress() {} }
const rows = []

for (const answers of values.answers.split(',').map(Number)) {
  const { library, database } = await bench.openCorpus(':memory:', embedder)
  bench.fillReviewed(database, vocabulary, { highlights, answers, model: embedder.id })
  const measure = async (name, tool, input) => {
    const times = []
    for (let round = 0; round < Number(values.rounds) + 3; round++) {
      const bound = tool.bind(input(round))
      const begin = performance.now()
      await bound.run(library, call)
      if (round >= 3) times.push(performance.now() - begin)
    }
    times.sort((a, b) => a - b)
    const at = (share) =>
      Number(times[Math.min(times.length - 1, Math.floor(share * times.length))].toFixed(1))
    rows.push({ highlights, answers, tool: name, 'p50 ms': at(0.5), 'p95 ms': at(0.95) })
  }
  await measure('get_daily_review', bench.getDailyReview, () => ({}))
  await measure('review_highlight', bench.reviewHighlight, (i) => ({
    id: bench.highlightId(i * 31),
    rating: 'good',
  }))
  await measure('find_related (highlight)', bench.findRelated, (i) => ({
    highlight_id: bench.highlightId(i * 97),
  }))
  await measure('find_related (source)', bench.findRelated, (i) => ({ source_id: 1 + i * 7 }))
  database.close()
}
console.table(rows)
