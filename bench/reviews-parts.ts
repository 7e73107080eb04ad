import type { DatabaseSyncInstance } from '@photostructure/sqlite'
import { quantise } from '../src/features/search/quantise.ts'
import { passageText, VectorSource, type Vocabulary } from './search-corpus.ts'

export { getDailyReview } from '../src/features/reviews/tools/get-daily-review.ts'
export { reviewHighlight } from '../src/features/reviews/tools/review-highlight.ts'
export { findRelated } from '../src/features/search/tools/find-related.ts'
export { allScopes, DIMENSIONS, openCorpus, Vocabulary } from './search-corpus.ts'

const SOURCES = 2_000
const FIRST = 10_000_000

/** Highlights with passages and vectors, and answers to them that a reader gave over two years. */
export function fillReviewed(
  database: DatabaseSyncInstance,
  vocabulary: Vocabulary,
  { highlights, answers, model }: { highlights: number; answers: number; model: string },
): void {
  const vectors = new VectorSource()
  const at = '2024-01-01T00:00:00.000Z'
  database.exec('begin')
  const source = database.prepare(
    `insert into source (id, clock, clocks, kind, title, authors, match_key, isbns, created_at, updated_at)
     values (?, '', '{}', 'article', ?, '[]', ?, '[]', '${at}', '${at}')`,
  )
  for (let i = 0; i < SOURCES; i++) source.run(i + 1, `Source ${i}`, `source ${i}`)
  const highlight = database.prepare(
    `insert into highlight (id, clock, clocks, source_id, quote, state, origin, created_at, updated_at)
     values (?, '', '{}', ?, ?, 'unanchored', 'reader', '${at}', '${at}')`,
  )
  const passage = database.prepare(
    `insert into passage (id, source_id, kind, owner_id, start_offset, body, embedded)
     values (?, ?, 'highlight', ?, 0, ?, 1)`,
  )
  const code = database.prepare('insert into code (passage_id, model, code) values (?, ?, ?)')
  const vector = database.prepare('insert into vector (passage_id, quantised) values (?, ?)')
  for (let i = 0; i < highlights; i++) {
    const words = passageText(vocabulary, i)
    const sourceId = 1 + (i % SOURCES)
    highlight.run(FIRST + i, sourceId, words)
    passage.run(i + 1, sourceId, FIRST + i, words)
    const { code: bits, blob } = quantise(vectors.vector(i))
    code.run(i + 1, model, bits)
    vector.run(i + 1, blob)
  }
  const review = database.prepare(
    `insert into review (id, clock, clocks, source_id, highlight_id, rating, reviewed_at, due_at, stability,
       difficulty, state, learning_steps, scheduled_days, reps, lapses)
     values (?, '', '{}', ?, ?, 3, ?, ?, 9.5, 5, 'review', 0, 10, 1, 0)`,
  )
  const day = 86_400_000
  const begin = Date.now() - 730 * day
  for (let i = 0; i < answers; i++) {
    const which = (i * 7_919) % highlights
    const asked = begin + (i / answers) * 729 * day
    const due = asked + day * (1 + (i % 900))
    const times = [new Date(asked).toISOString(), new Date(due).toISOString()] as const
    review.run(2 * FIRST + i, 1 + (which % SOURCES), FIRST + which, ...times)
  }
  database.exec('commit; analyze')
}

export const highlightId = (i: number): number => FIRST + i
