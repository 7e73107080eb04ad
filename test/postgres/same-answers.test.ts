import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { SCOPES } from '../../src/core/define-tool.ts'
import type { Library } from '../../src/core/library.ts'
import { engineOf } from '../../src/db/engine.ts'
import { addHighlight } from '../../src/features/highlights/tools/add-highlight.ts'
import { addComment } from '../../src/features/notes/tools/add-comment.ts'
import { embedPassages } from '../../src/features/search/jobs/embed-passages.ts'
import { SEARCH_MODES, searchItems } from '../../src/features/search/search.ts'
import { searchLibrary } from '../../src/features/search/tools/search-library.ts'
import { listItems } from '../../src/features/sources/tools/list-items.ts'
import { listTags } from '../../src/features/tags/tag-store.ts'
import { readItem } from '../../src/features/texts/tools/read-item.ts'
import { callTool } from '../../src/tools/call-tool.ts'
import { conceptEmbedder } from '../support/embedder.ts'
import { addTestSource, type TestSource } from '../support/search.ts'
import { bothLibraries } from './both.ts'

const MIDNIGHT = Date.UTC(2026, 0, 1)
const embedder = conceptEmbedder([
  ['bees', 'hive'],
  ['sea', 'ship', 'storm'],
])

/** A world in which it is never later than when it was made: what happens in one library happens in the other. */
const world = { now: () => new Date(MIDNIGHT), embedder }

async function embed(library: Library): Promise<void> {
  const run = { id: 1, attempt: 1, signal: new AbortController().signal, progress: async () => {} }
  await embedPassages.run(library, {}, run)
}

/** What holds in every text: scripts, signs of SQL, of full text and of JSON, combining marks, case. */
const words = fc.constantFrom(
  'bees',
  'Bees',
  'hive',
  'sea',
  'ship',
  'storm',
  'the',
  'of',
  'été',
  'e\u0301te',
  'Straße',
  '漢字',
  '日本語',
  'ไทย',
  "o'clock",
  'a-b',
  '100%',
  '_',
  '\\',
  '"',
  '{"a":1}',
  '😀',
  '\u202e',
  'İ',
  '\ufffd',
)
const line = fc.array(words, { minLength: 1, maxLength: 12 }).map((parts) => parts.join(' '))
const source: fc.Arbitrary<TestSource> = fc.record({
  title: line,
  kind: fc.constantFrom('article', 'book', 'pdf', 'video'),
  authors: fc.array(words, { maxLength: 2 }),
  text: fc.array(line, { minLength: 1, maxLength: 4 }).map((lines) => lines.join('.\n\n')),
  highlights: fc.array(line, { maxLength: 2 }),
  comments: fc.array(line, { maxLength: 2 }),
  tags: fc.uniqueArray(fc.constantFrom('z', 'a', 'b', 'Ä', 'é', '字', '😀'), {
    maxLength: 3,
    selector: (tag) => tag.toLowerCase(),
  }),
  status: fc.constantFrom('want_to_read', 'reading', 'finished'),
  saved: fc.integer({ min: 0, max: 3 }).map((day) => new Date(MIDNIGHT - day * 86_400_000).toISOString()),
})
const query = fc.oneof(
  line,
  words,
  fc.tuple(words, words).map(([a, b]) => `"${a} ${b}"`),
  fc.tuple(words, words).map(([a, b]) => `${a} -${b}`),
  fc.constantFrom(
    'be*',
    'tag:a bees',
    'type:pdf sea',
    'is:highlighted',
    'before:2026',
    'author:bees ship',
    'in:title hive',
  ),
)

/** The output of a tool, or the failure; what is drawn at random is not compared. */
async function answer(library: Library, tool: Parameters<typeof callTool>[0], args: Record<string, unknown>) {
  const scopes = new Set(SCOPES)
  const call = { scopes, signal: new AbortController().signal, connection: 'test', progress: () => {} }
  try {
    const { output } = await callTool(tool, library, args, call)
    return JSON.parse(
      JSON.stringify(output, (key, value: unknown) =>
        /cursor$/i.test(key) && value !== null ? 'more' : value,
      ),
    ) as unknown
  } catch (error) {
    return String(error)
  }
}

describe('the same library on either database', () => {
  it('answers the same to every list, search and reading, in the same order', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(source, { minLength: 1, maxLength: 6 }),
        fc.array(query, { minLength: 2, maxLength: 4 }),
        async (sources, queries) => {
          const answers = []
          for (const library of await bothLibraries(world)) {
            const ids: number[] = []
            for (const given of sources) ids.push(await addTestSource(library, given))
            await embed(library)
            const given = []
            given.push(await answer(library, listItems, {}))
            given.push(await answer(library, listItems, { reading: 'read', limit: 2 }))
            given.push(await answer(library, listItems, { kind: 'pdf', offset: 1 }))
            given.push(await listTags(library.db))
            for (const mode of SEARCH_MODES)
              for (const asked of queries)
                given.push(await answer(library, searchLibrary, { query: asked, mode, limit: 3 }))
            const [id, quote] = [String(ids[0]), sources[0]!.text!.slice(0, 12)]
            given.push(await answer(library, addHighlight, { itemId: id, text: quote }))
            given.push(await answer(library, addComment, { itemId: id, text: quote }))
            given.push(await answer(library, readItem, { id }))
            for (const table of ['source', 'highlight', 'note', 'tagging', 'passage'] as const)
              given.push(await library.db.selectFrom(table).selectAll().orderBy('id').execute())
            answers.push(
              given.map(
                (one) =>
                  JSON.parse(
                    JSON.stringify(one, (key, value: unknown) => (key === 'library_id' ? undefined : value)),
                  ) as unknown,
              ),
            )
          }
          expect(answers[1]).toEqual(answers[0])
        },
      ),
      { numRuns: 8 },
    )
  })

  it('finds the same nearest codes, with and without a bound on where to look', async () => {
    const codes = Array.from({ length: 300 }, (_, i) =>
      Uint8Array.from({ length: 64 }, (_, b) => Math.imul(i * 64 + b + 1, 0x9e3779b1) >>> 24),
    )
    const found = []
    for (const library of await bothLibraries()) {
      await library.change(async ({ db }) => {
        await db
          .insertInto('source')
          .values({
            id: 1,
            kind: 'book',
            title: '',
            match_key: '',
            authors: '[]',
            clock: '',
            created_at: '',
            updated_at: '',
          } as never)
          .execute()
        const rows = codes.map(() => ({
          source_id: 1,
          kind: 'text' as const,
          owner_id: 1,
          start_offset: 0,
          body: '',
        }))
        await db.insertInto('passage').values(rows).execute()
        await engineOf(db).vectors.put(
          db,
          codes.map((code, i) => ({ passageId: i + 1, model: 'm', code, quantised: code })),
        )
        // One that the model could make nothing of, one of another model, one that is gone.
        const nothing = new Uint8Array()
        await engineOf(db).vectors.put(db, [
          { passageId: 7, model: 'm', code: nothing, quantised: nothing },
          { passageId: 8, model: 'n', code: codes[8]!, quantised: codes[8]! },
          { passageId: 9_999, model: 'm', code: codes[9]!, quantised: codes[9]! },
        ])
      })
      const index = await engineOf(library.db).vectors.codesOf(library.db, { id: 'm', dimensions: 512 })
      found.push({
        empty: index.empty,
        all: await index.nearest(codes[3]!, 20),
        few: await index.nearest(codes[3]!, 20, new Set([5, 6, 7, 8, 3])),
        others: await engineOf(library.db).vectors.ofOtherModels(library.db, 'm', 5),
      })
    }
    expect(found[0]).toMatchObject({ empty: false, others: [8] })
    expect(found[1]).toEqual(found[0])
    expect(found[0]!.all[0]).toBe(4)
  })

  it('keeps every text as it is, but for what no text can hold', async () => {
    const texts = [
      'nul\0inside',
      'lone\ud800half',
      '\u{10ffff}',
      '',
      ' \n\t',
      'é'.repeat(10),
      '漢字'.repeat(1_500_000),
      "'; drop table source; --",
    ]
    const kept = []
    for (const library of await bothLibraries()) {
      const ids = await library.change((change) =>
        change.insertMany(
          'setting',
          texts.map((value, i) => ({ key: `k${i}`, value })),
        ),
      )
      expect(Math.min(...ids)).toBeGreaterThan(2 ** 40)
      const rows = await library.db.selectFrom('setting').select(['id', 'value']).orderBy('id').execute()
      expect(rows.map(({ id }) => id)).toEqual(ids)
      kept.push(rows.map(({ value }) => value))
      await library.change((change) => change.update('setting', ids[0]!, { value: 'x\0y' }))
      kept.push(await library.db.selectFrom('setting').select('value').where('id', '=', ids[0]!).execute())
    }
    expect(kept.slice(2)).toEqual(kept.slice(0, 2))
    expect((kept[0] as string[]).slice(2)).toEqual(texts.slice(2))
    expect((kept[0] as string[]).slice(0, 2)).toEqual(['nul\ufffdinside', 'lone\ufffdhalf'])
  })

  it('ranks a longer list the same way by words', async () => {
    const found = []
    for (const library of await bothLibraries(world)) {
      for (let i = 0; i < 60; i++)
        await addTestSource(library, {
          title: `Voyage ${i}`,
          text: `${'ship '.repeat(i % 7)} and the storm ${i % 3 ? 'at sea' : ''} ${i}`,
        })
      const hits = []
      for (const asked of ['ship storm', 'storm at sea', '"the storm"', 'voyage 7 ship', 'sto* -ship'])
        hits.push((await searchItems(library, { query: asked, mode: 'words', scopes: new Set(SCOPES) })).hits)
      found.push(hits)
    }
    expect(found[1]).toEqual(found[0])
    expect(found[0]!.every((hits) => hits.length > 0)).toBe(true)
  })
})
