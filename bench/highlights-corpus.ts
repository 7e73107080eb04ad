import type { Library } from '../src/core/library.ts'
import type { Db } from '../src/db/schema.ts'
import { engineOf } from '../src/db/engine.ts'
import { addPassages } from '../src/features/search/passage-store.ts'
import { quantise } from '../src/features/search/quantise.ts'
import { passageText, type VectorSource, type Vocabulary } from './search-corpus.ts'

export { searchHighlights } from '../src/features/search/tools/search-highlights.ts'
export {
  questions,
  createBuiltInEmbedder,
  DIMENSIONS,
  VectorSource,
  Vocabulary,
  allScopes,
} from './search-corpus.ts'
export { libraryOn, openPostgres, sqliteDb, startPostgres } from './postgres-parts.ts'

const MARKS_A_SOURCE = 50
const SLICE = 10_000
const ROWS_A_STATEMENT = 300

/** So many highlights of made-up words, fifty a source, on whatever database, with their passages, words and vectors. */
export async function fillHighlights(
  library: Library,
  vocabulary: Vocabulary,
  vectors: VectorSource,
  count: number,
  model: string,
): Promise<void> {
  for (let from = 0; from < count; from += SLICE)
    await library.change(async ({ db, at }) => {
      const numbers = Array.from({ length: Math.min(SLICE, count - from) }, (_, i) => from + i)
      const bodies = numbers.map((i) => passageText(vocabulary, i))
      const times = { created_at: at, updated_at: at, clock: '' }
      const sources = [...new Set(numbers.map(sourceOf))].map((id) => ({
        id,
        kind: 'book' as const,
        title: `Book ${id}`,
        match_key: '',
        authors: '["Ada Roe"]',
        ...times,
      }))
      const highlights = numbers.map((i, n) => ({
        id: highlightOf(i),
        source_id: sourceOf(i),
        quote: bodies[n]!,
        state: 'unanchored' as const,
        origin: 'import' as const,
        ...times,
      }))
      await inParts(sources, (rows) => db.insertInto('source').values(rows).execute())
      await inParts(highlights, (rows) => db.insertInto('highlight').values(rows).execute())
      const passages = numbers.map((i, n) => ({
        source_id: sourceOf(i),
        kind: 'highlight' as const,
        owner_id: highlightOf(i),
        start_offset: 0,
        body: bodies[n]!,
      }))
      const { fullText, vectors: store } = engineOf(db)
      await fullText.bulk(db, async () => fullText.add(db, await addPassages(db, passages)))
      await inParts(numbers, (some) =>
        store.put(
          db,
          some.map((i) => {
            const { code, blob } = quantise(vectors.vector(i))
            return { passageId: i + 1, model, code, quantised: blob }
          }),
        ),
      )
      await db.updateTable('passage').set({ embedded: 1 }).where('embedded', 'is', null).execute()
    })
}

/** Ids as far apart as those of rows of one library are. */
const highlightOf = (i: number): number => 10_000_000 + i
const sourceOf = (i: number): number => 1 + Math.floor(i / MARKS_A_SOURCE)

async function inParts<T>(rows: readonly T[], write: (some: T[]) => Promise<unknown>): Promise<void> {
  for (let from = 0; from < rows.length; from += ROWS_A_STATEMENT)
    await write(rows.slice(from, from + ROWS_A_STATEMENT))
}

/** The library holds what it was to hold. */
export async function countOf(db: Db): Promise<number> {
  const row = await db
    .selectFrom('highlight')
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow()
  return Number(row.count)
}
