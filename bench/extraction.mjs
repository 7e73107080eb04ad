#!/usr/bin/env node
// Article extraction on a corpus of pages with their true text: F1 as scrapinghub/article-extraction-benchmark scores it
// (runs of four words, precision and recall a page, then their means), pages that failed, and processor time a page.
//
//   node bench/extraction.mjs --corpus DIR [--out predictions.json] [--json]
//
// DIR holds ground-truth.json, `{ KEY: { url, articleBody } }`, and html/KEY.html.gz. The truth of such corpora leaves out
// pictures' captions: the first figure is of the text without figures, the second of all that is stored.
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { gunzipSync } from 'node:zlib'
import { bundle } from '../scripts/bundle.mjs'

const { values: options } = parseArgs({
  options: {
    corpus: { type: 'string' },
    out: { type: 'string' },
    json: { type: 'boolean', default: false },
  },
})
if (!options.corpus) {
  console.error('Usage: node bench/extraction.mjs --corpus DIR [--out predictions.json] [--json]')
  process.exit(2)
}

const parts = await bundle('bench/extraction-parts.ts')
const truth = JSON.parse(readFileSync(join(options.corpus, 'ground-truth.json'), 'utf8'))
const print = console.log
// Extractors talk to the console.
for (const name of ['log', 'warn', 'error', 'debug']) console[name] = () => {}

const times = { whole: [], readability: [] }
const predictions = {}
const stored = {}
for (const [key, { url }] of Object.entries(truth)) {
  const bytes = gunzipSync(readFileSync(join(options.corpus, 'html', `${key}.html.gz`)))
  const { text: html } = parts.decodeText(bytes)
  const article = measured(times.whole, () => parts.readArticle({ html, url }))
  measured(times.readability, () => parts.readWithReadabilityAlone(html))
  predictions[key] = { articleBody: parts.plainTextOf(withoutFigures(article.markdown)) }
  stored[key] = { articleBody: article.plain }
}

const report = {
  pages: Object.keys(truth).length,
  f1: score(predictions),
  f1WithFigures: score(stored),
  cpuMsPerPage: { whole: summary(times.whole), readabilityAlone: summary(times.readability) },
}
if (options.out) writeFileSync(options.out, JSON.stringify(predictions))
if (options.json) print(JSON.stringify(report, null, 2))
else {
  const line = ({ f1, precision, recall, under }) =>
    `F1 ${f1.toFixed(3)}  precision ${precision.toFixed(3)}  recall ${recall.toFixed(3)}  pages under 0.5: ${under.length}`
  print(`text without figures  ${line(report.f1)}`)
  print(`all that is stored    ${line(report.f1WithFigures)}`)
  for (const [name, { mean, median, max }] of Object.entries(report.cpuMsPerPage))
    print(`CPU ms a page, ${name}: mean ${mean}, median ${median}, most ${max}`)
  for (const { key, f1 } of report.f1.worst) print(`  ${f1.toFixed(2)} ${truth[key].url}`)
}
process.exitCode = report.f1.under.length > 0 ? 1 : 0

function measured(list, work) {
  const from = process.cpuUsage()
  const result = work()
  const { user, system } = process.cpuUsage(from)
  list.push((user + system) / 1000)
  return result
}

function summary(list) {
  const sorted = list.toSorted((a, b) => a - b)
  const mean = list.reduce((sum, ms) => sum + ms, 0) / list.length
  return {
    mean: Math.round(mean),
    median: Math.round(sorted[list.length >> 1]),
    max: Math.round(sorted.at(-1)),
  }
}

/** Figures are paragraphs of pictures alone, or of pictures and their caption in emphasis on a line of its own. */
function withoutFigures(markdown) {
  const figure = /^(?:!\[(?:\\.|[^\]\\])*\]\((?:\\.|[^)\\])*\)\s*)+(?:\\\n\*[^]*\*)?$/
  return markdown
    .split(/\n{2,}/)
    .filter((block) => !figure.test(block.trim()))
    .join('\n\n')
}

function shingles(text) {
  const words = text.match(/[\p{L}\p{N}_\p{M}]+/gu) ?? []
  const counts = new Map()
  for (let at = 0; at < Math.max(1, words.length - 3); at++) {
    const run = words.slice(at, at + 4).join(' ')
    if (run) counts.set(run, (counts.get(run) ?? 0) + 1)
  }
  return counts
}

function score(found) {
  const precision = []
  const recall = []
  const pages = []
  for (const [key, { articleBody }] of Object.entries(truth)) {
    const real = shingles(articleBody)
    const read = shingles(found[key].articleBody)
    let both = 0
    for (const [run, count] of read) both += Math.min(count, real.get(run) ?? 0)
    const readTotal = [...read.values()].reduce((sum, count) => sum + count, 0)
    const realTotal = [...real.values()].reduce((sum, count) => sum + count, 0)
    if (readTotal > 0) precision.push(both / readTotal)
    if (realTotal > 0) recall.push(both / realTotal)
    pages.push({ key, f1: (2 * both) / (readTotal + realTotal || 1) })
  }
  const mean = (list) => list.reduce((sum, value) => sum + value, 0) / (list.length || 1)
  const [p, r] = [mean(precision), mean(recall)]
  pages.sort((a, b) => a.f1 - b.f1)
  return {
    f1: (2 * p * r) / (p + r),
    precision: p,
    recall: r,
    under: pages.filter(({ f1 }) => f1 < 0.5),
    worst: pages.slice(0, 5),
  }
}
