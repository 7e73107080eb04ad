/** Every tool on a library that is as full and as long-winded as one can be: no answer takes more than a model has room for. */
import { beforeAll, describe, expect, it } from 'vitest'
import type { AnyTool } from '../../src/core/define-tool.ts'
import { Failure } from '../../src/core/failure.ts'
import type { Library } from '../../src/core/library.ts'
import { jsonBytes, ROOM } from '../../src/core/room.ts'
import { indexSource } from '../../src/features/search/index-source.ts'
import { addTags } from '../../src/features/tags/tag-store.ts'
import { TOOLS } from '../../src/tools/registry.ts'
import { callTool } from '../../src/tools/call-tool.ts'
import { SCOPES } from '../../src/core/define-tool.ts'
import { testLibrary } from '../support/library.ts'

/** Whose size the references fix: pages of 500 rows and of 40,000 characters, and a file that is given whole. */
const FIXED = ['export_highlights', 'read_item markdown', 'get_source_markdown']

const LONG = '蜂'.repeat(1_300)
const NOTE = '蜜'.repeat(9_000)
const SOURCES = 55
const MARKS = 60

let library: Library
const ids = { source: 0, highlight: 0, note: 0 }

beforeAll(async () => {
  library = await testLibrary()
  await library.change(async (change) => {
    for (let n = 0; n < SOURCES; n++) {
      const times = { created_at: change.at, updated_at: change.at }
      const source = await change.insert('source', {
        kind: 'article',
        title: `bees "${n}" ${'\u0001題'.repeat(2_000)}`,
        match_key: '',
        authors: JSON.stringify(Array.from({ length: 300 }, (_, i) => `作者 ${i} ${'名'.repeat(200)}`)),
        site: '站'.repeat(3_000),
        language: 'x'.repeat(3_000),
        published: '2026',
        description: LONG,
        url: `https://hive.test/${'a'.repeat(4_000)}/${n}`,
        ...times,
      })
      const text = await change.insert('text', {
        source_id: source,
        markdown: `bees ${'hum '.repeat(12_000)}`,
        plain: `bees ${'hum '.repeat(12_000)}`,
        method: 'given',
        hash: '',
        words: 12_000,
        captured_at: change.at,
        state: 'good',
      })
      await change.update('source', source, { text_id: text })
      const names = Array.from({ length: n === 0 ? 250 : 20 }, (_, i) => `${'標'.repeat(90)} ${n} ${i}`)
      await addTags(change, source, names)
      for (let i = 0; i < (n === 0 ? MARKS : 1); i++) {
        const highlight = await change.insert('highlight', {
          source_id: source,
          quote: `bees ${LONG}`,
          locator: JSON.stringify({ label: '處'.repeat(2_000), seconds: 12 }),
          color: '色'.repeat(2_000),
          state: 'unanchored',
          origin: 'reader',
          ...times,
        })
        await addTags(change, highlight, names.slice(0, 20))
        const note = await change.insert('note', {
          source_id: source,
          highlight_id: highlight,
          kind: 'comment',
          body: `bees ${NOTE}`,
          ...times,
        })
        if (n === 0) Object.assign(ids, { source, highlight, note })
      }
      await indexSource(change, source)
    }
  })
}, 120_000)

/** Calls at default sizes: with whatever each argument that must be given may be. */
function* callsOf({ input, effect }: AnyTool): Generator<Record<string, unknown>> {
  const given: Record<string, unknown> = {
    query: 'bees',
    body: '蜜'.repeat(9_900),
    quote: 'bees',
    ids: [ids.source, ids.highlight],
    add: ['new'],
    highlights: Array.from({ length: 20 }, (_, n) => ({
      content: `${n} ${LONG}`,
      location: '處'.repeat(200),
      timestamp_seconds: n,
    })),
    url: 'https://example.test/a',
    confirm: true,
    user_intent: 'as asked',
    rating: 'good',
  }
  const named = Object.fromEntries(
    Object.entries(given).filter(
      ([name]) => name in input.shape && !('source_id' in input.shape && name === 'url'),
    ),
  )
  if (effect === 'read' || 'add' in input.shape || 'rating' in input.shape || !('id' in input.shape))
    for (const id of 'id' in input.shape ? Object.values(ids) : [undefined])
      for (const format of 'format' in input.shape ? ['markdown', 'summary'] : [undefined])
        yield {
          ...named,
          ...(id !== undefined && { id }),
          ...(format !== undefined && { format }),
          ...('source_id' in input.shape && { source_id: ids.source }),
        }
  else for (const id of Object.values(ids)) yield { ...named, id }
}

describe.each(TOOLS.map((tool) => [tool.name, tool] as const))('%s', (name, tool) => {
  it('answers in as much as a model has room for', async () => {
    let answered = 0
    for (const args of callsOf(tool)) {
      const call = {
        scopes: new Set(SCOPES),
        signal: AbortSignal.timeout(1_000),
        connection: 'test',
        progress: () => {},
      }
      try {
        const { output, summary } = await callTool(tool, library, args, call)
        answered++
        const text = tool.verbatim === undefined ? undefined : output[tool.verbatim]
        if (typeof text === 'string' && FIXED.some((one) => one.split(' ')[0] === name)) {
          const { [tool.verbatim!]: _verbatim, ...rest } = output
          expect(jsonBytes(rest)).toBeLessThan(ROOM)
        } else expect(jsonBytes(output)).toBeLessThanOrEqual(ROOM)
        expect(jsonBytes(summary)).toBeLessThan(4_000)
      } catch (error) {
        // What cannot be done says so in few words.
        if (error instanceof Failure) expect(jsonBytes(error.toJSON())).toBeLessThan(ROOM)
        // Nobody captures here: what waits for it is ended.
        else if (!call.signal.aborted) throw error
      }
    }
    if (tool.effect === 'read' && name !== 'get_import') expect(answered).toBeGreaterThan(0)
  })
})
