import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Library } from '../../src/core/library.ts'
import { engineOf } from '../../src/db/engine.ts'
import { WORD_COLUMNS, type WordColumn, type WordQuery } from '../../src/db/full-text.ts'
import { bothLibraries } from './both.ts'

interface Row {
  column: WordColumn
  words: string
}

/** Few words, so that most queries meet some; with the other scripts, signs and quotes that a text may hold. */
const word = fc.constantFrom(
  'a',
  'b',
  'ab',
  'abc',
  'B',
  'x1',
  'é',
  '漢字',
  '字',
  'ﬁ',
  "a'b",
  'a-b',
  '\\',
  '😀',
  'a:b',
  '&',
)
const row: fc.Arbitrary<Row> = fc.record({
  column: fc.constantFrom(...WORD_COLUMNS),
  words: fc.array(word, { maxLength: 12 }).map((words) => words.join(' ')),
})
/** Of words that are one each: a phrase inside of a longer one is no neighbour to PostgreSQL. */
const phrase = fc.array(fc.constantFrom('a', 'b', 'ab', 'é', '字'), { minLength: 1, maxLength: 2 })
const { query } = fc.letrec<{ query: WordQuery }>((tie) => ({
  query: fc.oneof(
    { maxDepth: 3, withCrossShrink: true },
    fc.record({ phrase: fc.array(word, { minLength: 1, maxLength: 3 }), prefix: fc.boolean() }),
    fc.record({ near: fc.array(phrase, { minLength: 1, maxLength: 3 }), words: fc.nat(3) }),
    fc.record({ all: fc.array(tie('query'), { minLength: 1, maxLength: 3 }) }),
    fc.record({ any: fc.array(tie('query'), { minLength: 1, maxLength: 3 }) }),
    fc.record({ match: tie('query'), without: tie('query') }),
    fc.record({ match: tie('query'), in: fc.subarray([...WORD_COLUMNS]) }),
  ),
}))

/** Writes passages of these words; they are numbered from 1 in both databases. */
async function index(library: Library, rows: readonly Row[]): Promise<void> {
  await library.change(async (change) => {
    const times = { created_at: change.at, updated_at: change.at }
    const source_id = await change.insert('source', {
      kind: 'book',
      title: '',
      match_key: '',
      authors: '[]',
      ...times,
    })
    const added = rows.map(({ column }) => ({
      source_id,
      kind: column,
      owner_id: source_id,
      start_offset: 0,
      body: '',
    }))
    if (added.length > 0) await change.db.insertInto('passage').values(added).execute()
    const words = rows.map(({ column, words }, i) => ({ id: i + 1, column, words }))
    await engineOf(change.db).fullText.add(change.db, words)
  })
}

test('every query finds the same passages in both databases', async () => {
  const corpus = fc.array(row, { minLength: 1, maxLength: 12 })
  await fc.assert(
    fc.asyncProperty(corpus, fc.array(query, { minLength: 5, maxLength: 12 }), async (rows, queries) => {
      const answers = []
      for (const library of await bothLibraries()) {
        await index(library, rows)
        const { fullText } = engineOf(library.db)
        const found = []
        for (const asked of queries) {
          const newest = await fullText.match(library.db, asked, { order: 'newest', limit: 100 })
          const ranked = await fullText.match(library.db, asked, { order: 'rank', limit: 100 })
          const between = await fullText.match(library.db, asked, {
            order: 'newest',
            limit: 2,
            between: [2, 9],
          })
          expect(ranked.toSorted((a, b) => b - a)).toEqual(newest)
          found.push({ asked, newest, between, counted: await fullText.count(library.db, asked, 100) })
        }
        answers.push(found)
      }
      expect(answers[1]).toEqual(answers[0])
    }),
    { numRuns: 30 },
  )
})

test('the best match comes first: the rarer word, then more of it in less', async () => {
  const [, library] = await bothLibraries()
  const common = Array.from({ length: 20 }, () => ({
    column: 'text' as const,
    words: 'common words of all kinds',
  }))
  await index(library, [
    ...common,
    { column: 'text', words: 'rare common' },
    { column: 'text', words: 'rare rare' },
    { column: 'text', words: `rare ${'filling '.repeat(200)}` },
  ])
  const ranked = await engineOf(library.db).fullText.match(
    library.db,
    { any: [{ phrase: ['common'] }, { phrase: ['rare'] }] },
    { order: 'rank', limit: 4 },
  )
  expect(ranked.slice(0, 3).toSorted((a, b) => a - b)).toEqual([21, 22, 23])
  expect(ranked.indexOf(22)).toBeLessThan(ranked.indexOf(23))
})

test('what is longer than the index has room for is taken as far as it goes', async () => {
  const [, library] = await bothLibraries()
  const endless = 'w'.repeat(5_000)
  const many = Array.from({ length: 120_000 }, (_, i) => `n${i}`).join(' ')
  await index(library, [
    { column: 'text', words: endless },
    { column: 'head', words: `first ${many}` },
    { column: 'text', words: `${'again '.repeat(40_000)}end` },
  ])
  const find = (query: WordQuery) =>
    engineOf(library.db).fullText.match(library.db, query, { order: 'newest', limit: 9 })
  expect(await find({ phrase: [endless] })).toEqual([1])
  expect(await find({ phrase: ['www'], prefix: true })).toEqual([1])
  expect(await find({ phrase: ['first', 'n0'] })).toEqual([2])
  expect(await find({ all: [{ phrase: ['again'] }, { phrase: ['end'] }] })).toEqual([3])
})

test('thousands of words in one query are no matter', async () => {
  const [, library] = await bothLibraries()
  await index(library, [{ column: 'text', words: 'one two' }])
  const any = Array.from({ length: 5_000 }, (_, i) => ({ phrase: [`x${i}`] }))
  const options = { order: 'newest' as const, limit: 9 }
  const { fullText } = engineOf(library.db)
  expect(await fullText.match(library.db, { any: [...any, { phrase: ['two'] }] }, options)).toEqual([1])
})
