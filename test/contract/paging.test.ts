/** Every tool that pages: what is there throughout appears exactly once, whatever comes and goes between the pages. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { AnyTool } from '../../src/core/define-tool.ts'
import type { Library } from '../../src/core/library.ts'
import { restoreHighlight, trashHighlight } from '../../src/features/highlights/change-highlight.ts'
import { csvRecords } from '../../src/features/imports/csv-records.ts'
import { indexSource } from '../../src/features/search/index-source.ts'
import { restoreSource, trashSource } from '../../src/features/sources/trash.ts'
import { addTags } from '../../src/features/tags/tag-store.ts'
import { describeTool } from '../../src/mcp/describe-tool.ts'
import { TOOLS } from '../../src/tools/registry.ts'
import { call, failureOfCall } from '../support/call.ts'
import { onPostgres, testLibrary } from '../support/library.ts'
import { addTestSource } from '../support/search.ts'

type Output = Record<string, unknown>

interface Paged {
  /** What a page holds, and what of the library that is. */
  rows: 'sources' | 'highlights' | 'tags'
  ids(output: Output): number[]
  args?(world: World): Record<string, unknown>
  /** Which of the rows the list is about; all unless said. */
  among?(world: World): readonly number[]
}

const idsIn = (field: string) => (output: Output) =>
  (output[field] as { id: number | string }[]).map(({ id }) => Number(id))

const PAGED: Record<string, Paged> = {
  search_highlights: { rows: 'highlights', ids: idsIn('highlights'), args: () => ({ query: 'bees' }) },
  list_sources: { rows: 'sources', ids: idsIn('sources'), args: () => ({ q: 'hive' }) },
  get_source: {
    rows: 'highlights',
    ids: idsIn('highlights'),
    args: ({ sources }) => ({ id: sources[0] }),
    among: ({ highlights }) => highlights.slice(0, MARKS),
  },
  search_library: { rows: 'sources', ids: idsIn('results'), args: () => ({ query: 'bees' }) },
  list_items: { rows: 'sources', ids: idsIn('items') },
  list_tags: { rows: 'tags', ids: idsIn('tags') },
  export_highlights: { rows: 'highlights', ids: idsOfCsv },
}

/** The ids stand in a column of the rows; the header on the first page alone. */
function idsOfCsv(output: Output): number[] {
  return [...csvRecords(String(output['csv']), ',')]
    .map(({ cells }) => Number(cells.at(-1)))
    .filter((id) => Number.isInteger(id))
}

const SOURCES = 9
const MARKS = 4

interface World {
  library: Library
  sources: number[]
  /** Those of the first source come first. */
  highlights: number[]
  tags: number[]
}

/** Sources with a text, highlights and a tag of their own each, which all lists hold. */
async function makeWorld(): Promise<World> {
  let at = Date.parse('2026-01-01T00:00:00Z')
  const library = await testLibrary({ now: () => new Date((at += 1_000)) })
  const sources: number[] = []
  for (let n = 0; n < SOURCES; n++) sources.push(await addHive(library, n, n === 0 ? MARKS : 2))
  const ids = async (table: 'highlight' | 'tag') =>
    (await library.db.selectFrom(table).select('id').orderBy('id').execute()).map(({ id }) => id)
  return { library, sources, highlights: await ids('highlight'), tags: await ids('tag') }
}

const addHive = (library: Library, n: number, marks: number): Promise<number> =>
  addTestSource(library, {
    title: `Hive ${n}`,
    text: 'Bees hum.',
    highlights: Array.from({ length: marks }, (_, i) => `Bees ${'hum '.repeat(i)}in hive ${n}`),
    tags: [`tag ${n}`],
  })

/** What somebody else may do between two pages; gives what the list did not hold throughout. */
type Step = (world: World, n: number) => Promise<{ [K in Paged['rows']]?: number[] }>

const addOne: Step = async ({ library }, n) => {
  await addHive(library, 100 + n, 2)
  return {}
}

const markOne: Step = async ({ library, sources }, n) => {
  const source = sources[n % sources.length]!
  await library.change(async (change) => {
    await change.insert('highlight', {
      source_id: source,
      quote: 'Bees come late',
      state: 'unanchored',
      origin: 'reader',
      created_at: change.at,
      updated_at: change.at,
    })
    await addTags(change, source, [`late ${n}`])
    await indexSource(change, source)
  })
  return {}
}

const throwAway =
  (comesBack: boolean): Step =>
  async ({ library, sources, highlights, tags }, n) => {
    // The first source stays: one list is about it.
    const at = 1 + (n % (sources.length - 1))
    const owned = await library.db
      .selectFrom('highlight')
      .select('id')
      .where('source_id', '=', sources[at]!)
      .execute()
    const source = await library.db
      .selectFrom('source')
      .selectAll()
      .where('id', '=', sources[at]!)
      .executeTakeFirstOrThrow()
    await library.change((change) => trashSource(change, source))
    if (comesBack)
      await library.change((change) =>
        restoreSource(change, { ...source, trashed_at: new Date(0).toISOString() }),
      )
    return comesBack
      ? {}
      : {
          sources: [source.id],
          highlights: highlights.filter((id) => owned.some((row) => row.id === id)),
          tags: [tags[at]!],
        }
  }

const dropHighlight =
  (comesBack: boolean): Step =>
  async ({ library, highlights }, n) => {
    const id = highlights[n % highlights.length]!
    await library.change((change) => trashHighlight(change, { id }))
    if (comesBack) await library.change((change) => restoreHighlight(change, { id }))
    return comesBack ? {} : { highlights: [id] }
  }

const STEPS: Record<string, Step> = {
  'adds a source': addOne,
  'marks and tags': markOne,
  'throws a source away': throwAway(false),
  'throws one away and restores it': throwAway(true),
  'deletes a highlight': dropHighlight(false),
  'deletes a highlight and restores it': dropHighlight(true),
}

it('every tool that takes a cursor is one of these', () => {
  const paged = TOOLS.filter(({ input }) => 'cursor' in input.shape).map(({ name }) => name)
  expect(Object.keys(PAGED).toSorted()).toEqual(paged.toSorted())
})

const toolOf = (name: string): AnyTool => TOOLS.find((tool) => tool.name === name)!

describe.each(Object.entries(PAGED))('%s', (name, { rows, ids, args = () => ({}), among }) => {
  const tool = toolOf(name)

  it('gives what stays exactly once, and nothing twice', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 5 }),
        fc.array(fc.tuple(fc.constantFrom(...Object.keys(STEPS)), fc.nat(40)), { maxLength: 7 }),
        async (limit, between) => {
          const world = await makeWorld()
          const gone = new Set<number>()
          const seen: number[] = []
          let cursor: unknown
          for (let page = 0; page === 0 || cursor; page++) {
            const given = { ...args(world), limit, ...(cursor ? { cursor } : {}) }
            const output = await call(tool, world.library, given)
            const shown = ids(output)
            expect(shown.length).toBeLessThanOrEqual(limit)
            seen.push(...shown)
            cursor = output['nextCursor']
            expect(output['meta']).toMatchObject({ next_cursor: cursor })
            const [step, n] = between[page] ?? []
            if (!step) continue
            const left = await STEPS[step]!(world, n!)
            for (const id of left[rows] ?? []) gone.add(id)
          }
          expect(new Set(seen).size).toBe(seen.length)
          const stayed = (among?.(world) ?? world[rows]).filter((id) => !gone.has(id))
          expect(stayed.filter((id) => !seen.includes(id))).toEqual([])
        },
      ),
      { numRuns: onPostgres ? 3 : 12 },
    )
  })

  it('refuses a cursor that was changed, or is of another list', async () => {
    const world = await makeWorld()
    const { nextCursor } = await call(tool, world.library, { ...args(world), limit: 1 })
    const [other] = Object.entries(PAGED).find(([listed]) => listed !== name)!
    const foreign = await call(toolOf(other), world.library, { ...PAGED[other]!.args?.(world), limit: 1 })
    expect(nextCursor).toBeTypeOf('string')
    for (const cursor of ['nonsense', `${String(nextCursor).slice(0, -2)}xx`, foreign['nextCursor']])
      expect((await failureOfCall(tool, world.library, { ...args(world), cursor })).error).toMatchObject({
        code: 'invalid_input',
        number: -32011,
      })
  })

  it('says in its definition where a page goes on', () => {
    const { properties } = describeTool(tool).outputSchema as { properties: Record<string, unknown> }
    expect(properties).toMatchObject({ nextCursor: {}, meta: {} })
  })
})
