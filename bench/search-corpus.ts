import type { DatabaseSyncInstance } from '@photostructure/sqlite'
import { createLibrary, type Library } from '../src/core/library.ts'
import type { Embedder } from '../src/core/outside.ts'
import { migrate, queriesOn } from '../src/db/open.ts'
import { ensureReplica } from '../src/db/replica.ts'
import { connect } from '../src/db/sqlite/connect.ts'
import { fullText } from '../src/features/search/indexes.ts'
import { addPassages, type NewPassage } from '../src/features/search/passage-store.ts'
import { quantise } from '../src/features/search/quantise.ts'
import { testOutside } from '../test/support/library.ts'
import { seeded } from './search-parts.ts'

export { searchLibrary } from '../src/features/search/tools/search-library.ts'
export { createBuiltInEmbedder } from '../src/outside/embeddings.ts'
export { allScopes } from './search-parts.ts'

const PASSAGES_A_SOURCE = 50
const VOCABULARY = 60_000
const CLUSTERS = 1_000
export const DIMENSIONS = 512

/** Made-up words whose frequencies follow Zipf and Mandelbrot's law, as those of real texts do. */
export class Vocabulary {
  readonly words = Array.from({ length: VOCABULARY }, (_, i) => spell(i))
  readonly #sums = new Float64Array(VOCABULARY)
  #total = 0

  constructor() {
    for (let i = 0; i < VOCABULARY; i++) this.#sums[i] = this.#total += (i + 2.7) ** -1.05
  }

  pick(random: () => number): string {
    const wanted = random() * this.#total
    let low = 0
    let high = VOCABULARY - 1
    while (low < high) {
      const middle = (low + high) >> 1
      if (this.#sums[middle]! < wanted) low = middle + 1
      else high = middle
    }
    return this.words[low]!
  }
}

function spell(number: number): string {
  let word = ''
  for (let rest = number * 7_919 + 13; rest > 0; rest = Math.floor(rest / 80)) {
    word += 'bcdfghklmnprstvz'[rest % 16]! + 'aeiou'[Math.floor(rest / 16) % 5]!
  }
  return word
}

/** Passage number `i` of a corpus: the same every time. */
export function passageText(vocabulary: Vocabulary, i: number): string {
  const random = seeded(i * 2_654_435_761 + 1)
  for (let warm = 0; warm < 3; warm++) random()
  const count = i % PASSAGES_A_SOURCE === 0 ? 6 : 40 + Math.floor(random() * 45)
  const words = Array.from({ length: count }, () => vocabulary.pick(random))
  return `${words[0]![0]!.toUpperCase()}${words.join(' ').slice(1)}.`
}

/** Unit vectors around a thousand centres, as texts lie around subjects. */
export class VectorSource {
  readonly #centres: Float32Array[]

  constructor() {
    const random = seeded(5)
    this.#centres = Array.from({ length: CLUSTERS }, () => gaussian(random))
  }

  vector(i: number): Float32Array {
    const random = seeded(i * 40_503 + 11)
    const centre = this.#centres[Math.floor(random() * CLUSTERS)]!
    const noise = gaussian(random)
    const vector = centre.map((value, d) => value + 0.9 * noise[d]!)
    const length = Math.hypot(...vector)
    return vector.map((value) => value / length)
  }
}

/** Sums of three uniform numbers are near enough to normal. */
const gaussian = (random: () => number): Float32Array =>
  Float32Array.from({ length: DIMENSIONS }, () => random() + random() + random() - 1.5)

export interface Corpus {
  library: Library
  database: DatabaseSyncInstance
}

export async function openCorpus(file: string, embedder?: Embedder): Promise<Corpus> {
  const database = connect(file)
  const db = queriesOn(database)
  await migrate(database, db, () => {})
  await ensureReplica(db, { inode: 'bench' })
  const library = createLibrary({ db, outside: testOutside(embedder ? { embedder } : {}) })
  return { library, database }
}

export interface Rate {
  rows: number
  cpuSeconds: number
  seconds: number
}

export interface Rates {
  own: Rate
  raw: Rate
}

const SLICE = 25_000

/**
 * Fills an empty library (sources of fifty passages, a bulk load a slice), and by turns with it a plain FTS5 table that
 * keeps its texts (one prepared statement, one transaction a slice), so that both meet the same machine.
 */
export async function fillPassages(
  { library, database }: Corpus,
  rawFile: string,
  vocabulary: Vocabulary,
  count: number,
): Promise<Rates> {
  const raw = connect(rawFile)
  raw.exec(`create virtual table raw using fts5(body, tokenize = 'unicode61 remove_diacritics 2')`)
  const insert = raw.prepare('insert into raw (rowid, body) values (?, ?)')
  const source = database.prepare(
    `insert into source (id, clock, kind, title, match_key, authors, created_at, updated_at)
     values (?, '', 'article', ?, '', '[]', ?, ?)`,
  )
  const at = new Date(0).toISOString()
  const rates: Rates = { own: noRate(), raw: noRate() }
  for (let from = 0; from < count; from += SLICE) {
    const rows: NewPassage[] = []
    for (let i = from; i < Math.min(count, from + SLICE); i++) {
      const sourceId = Math.floor(i / PASSAGES_A_SOURCE) + 1
      const head = i % PASSAGES_A_SOURCE === 0
      const body = passageText(vocabulary, i)
      if (head) source.run(sourceId, body, at, at)
      rows.push({
        source_id: sourceId,
        kind: head ? 'head' : 'text',
        owner_id: sourceId,
        start_offset: i,
        body,
      })
    }
    await addTime(rates.raw, rows.length, () => {
      raw.exec('begin')
      for (const [i, { body }] of rows.entries()) insert.run(from + i + 1, body)
      raw.exec('commit')
    })
    await addTime(rates.own, rows.length, () =>
      library.change(({ db }) =>
        fullText(db).bulk(db, async () => fullText(db).add(db, await addPassages(db, rows))),
      ),
    )
  }
  raw.close()
  return rates
}

const noRate = (): Rate => ({ rows: 0, cpuSeconds: 0, seconds: 0 })

async function addTime(rate: Rate, rows: number, work: () => Promise<void> | void): Promise<void> {
  const cpu = process.cpuUsage()
  const start = performance.now()
  await work()
  const { user, system } = process.cpuUsage(cpu)
  rate.rows += rows
  rate.cpuSeconds += (user + system) / 1e6
  rate.seconds += (performance.now() - start) / 1_000
}

export async function fillVectors(
  { database }: Corpus,
  vectors: VectorSource,
  count: number,
  model: string,
): Promise<void> {
  const code = database.prepare('insert into code (passage_id, model, code) values (?, ?, ?)')
  const vector = database.prepare('insert into vector (passage_id, quantised) values (?, ?)')
  for (let from = 0; from < count; from += 50_000) {
    database.exec('begin')
    for (let i = from; i < Math.min(count, from + 50_000); i++) {
      const quantised = quantise(vectors.vector(i))
      code.run(i + 1, model, quantised.code)
      vector.run(i + 1, quantised.blob)
    }
    database.exec('commit')
  }
  database.exec('update passage set embedded = 1')
}

/** Questions of the kinds that people ask, by turns, with the passage that each is about. */
export function* questions(
  vocabulary: Vocabulary,
  count: number,
  passages: number,
): Generator<{ kind: string; query: string; about: number }> {
  const random = seeded(99)
  const common = (n: number) => Array.from({ length: n }, () => vocabulary.words[Math.floor(random() * 60)]!)
  const between = (low: number, high: number) => vocabulary.words[Math.floor(low + random() * (high - low))]!
  for (let n = 0; n < count; n++) {
    const about = Math.floor(random() * passages)
    const words = passageText(vocabulary, about).toLowerCase().replace('.', '').split(' ')
    const at = Math.floor(random() * Math.max(1, words.length - 4))
    const kinds: [string, string][] = [
      ['one rare word', between(3_000, 40_000)],
      ['one common word', between(5, 100)],
      ['three words', [between(100, 1_000), between(100, 1_000), between(300, 3_000)].join(' ')],
      [
        'words of a passage',
        words
          .toSorted(() => random() - 0.5)
          .slice(0, 4)
          .join(' '),
      ],
      ['phrase', `"${words.slice(at, at + 3).join(' ')}"`],
      ['sentence', words.slice(at, at + 8).join(' ')],
      [
        'six words, two common',
        [...common(2), between(60, 600), between(60, 600), between(600, 6_000), between(600, 6_000)].join(
          ' ',
        ),
      ],
      ['beginning of a word', `${between(100, 5_000).slice(0, 3)}*`],
      ['only common words', common(3).join(' ')],
    ]
    const [kind, query] = kinds[n % kinds.length]!
    yield { kind, query, about }
  }
}
