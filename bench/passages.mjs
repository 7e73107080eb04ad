#!/usr/bin/env node
// Passages that the reading aid picks: how many of them hold a sentence that a careful reader marked in five articles
// (passages-marks.json, by where it begins), beside as many from the beginning and any; how many that are picked from captured pages are none of the article; and the
// time a long text takes.
//
//   node bench/passages.mjs [--corpus DIR] [--show]
//
// DIR is that of bench/extraction.mjs. Without it only times are taken.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { gunzipSync } from 'node:zlib'
import { bundle } from '../scripts/bundle.mjs'

const { values: options } = parseArgs({
  options: { corpus: { type: 'string' }, show: { type: 'boolean', default: false } },
})
const { pickPassages, sentencesOfText, createBuiltInEmbedder, readArticle, decodeText } =
  await bundle('bench/passages-parts.ts')
const embedder = createBuiltInEmbedder()

const pick = (plain, outside = {}) => pickPassages(outside, { title: '', plain, language: 'en' })

if (options.corpus) {
  const truth = JSON.parse(readFileSync(join(options.corpus, 'ground-truth.json'), 'utf8'))
  const marked = JSON.parse(readFileSync(new URL('passages-marks.json', import.meta.url), 'utf8'))
  const sum = { words: [0, 0], meaning: [0, 0], lead: [0, 0], any: [0, 0] }
  for (const [prefix, marks] of Object.entries(marked)) {
    const [, { articleBody: plain }] = Object.entries(truth).find(([key]) => key.startsWith(prefix))
    const sentences = [...sentencesOfText({ text: plain, before: 0, whole: plain.length })].filter(
      ({ text }) => text.length >= 45,
    )
    const isMarked = ({ start, end }) => marks.some((mark) => mark >= start && mark < end)
    const add = (name, spans) => {
      sum[name][0] += spans.filter(isMarked).length
      sum[name][1] += spans.length
    }
    const asSpans = (list) => list.map(({ start, text }) => ({ start, end: start + text.length }))
    for (const [name, outside] of [
      ['words', {}],
      ['meaning', { embedder }],
    ]) {
      const { passages } = await pick(plain, outside)
      // The corpus counts UTF-16 units.
      const spans = passages.map(({ quote }) => ({
        start: plain.indexOf(quote),
        end: plain.indexOf(quote) + quote.length,
      }))
      add(name, spans)
      if (options.show)
        for (const span of spans)
          console.log(name.padEnd(8), isMarked(span) ? '+' : '-', plain.slice(span.start, span.end))
      if (name === 'words') add('lead', asSpans(sentences.slice(0, spans.length)))
    }
    add('any', asSpans(sentences))
  }
  for (const [name, [hits, all]] of Object.entries(sum))
    console.log(`${name.padEnd(8)} ${hits} of ${all}  ${((100 * hits) / all).toFixed(0)} %`)

  const bare = (text) => text.replace(/[^\p{L}\p{N}]+/gu, '')
  let outside = 0
  let all = 0
  // Extractors talk to the console.
  const { log: print, warn, error } = console
  for (const [key, { url, articleBody }] of Object.entries(truth)) {
    const bytes = gunzipSync(readFileSync(join(options.corpus, 'html', `${key}.html.gz`)))
    Object.assign(console, { log() {}, warn() {}, error() {} })
    const { plain } = readArticle({ html: decodeText(bytes).text, url })
    Object.assign(console, { log: print, warn, error })
    const { passages } = await pick(plain)
    all += passages.length
    outside += passages.filter(({ quote }) => !bare(articleBody).includes(bare(quote))).length
  }
  console.log(`from captured pages: ${outside} of ${all} passages are none of the article`)
}

const varied = Array.from(
  { length: 18_000 },
  (_, n) =>
    `In year ${n} the merchants of town${n % 977} sold salt${n % 331} because word${n % 1237} was never word${(n * 13) % 4001}. `,
).join('')
for (const [name, plain] of [
  ['an article of 2,000 words', varied.slice(0, 12_000)],
  ['a book of 100,000 words', varied.slice(0, 600_000)],
  ['one paragraph of 1.7 MB', varied],
  ['2 MB without a space', 'x'.repeat(2e6)],
]) {
  for (const [how, outside] of [
    ['by words', {}],
    ['and meaning', { embedder }],
  ]) {
    let last = performance.now()
    let held = 0
    const watch = setInterval(() => {
      held = Math.max(held, performance.now() - last - 1)
      last = performance.now()
    }, 1)
    const begun = performance.now()
    const { passages } = await pick(plain, outside)
    const took = performance.now() - begun
    clearInterval(watch)
    console.log(
      `${name}, ${how}: ${passages.length} passages, ${took.toFixed(0)} ms, others waited ${held.toFixed(0)} ms at most`,
    )
  }
}
await embedder.close()
