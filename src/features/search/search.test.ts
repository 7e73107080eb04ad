import * as fc from 'fast-check'
import { beforeEach, describe, expect, it } from 'vitest'
import { conceptEmbedder } from '../../../test/support/embedder.ts'
import { testLibrary } from '../../../test/support/library.ts'
import { addTestSource, type TestSource } from '../../../test/support/search.ts'
import { SCOPES, type Scope } from '../../core/define-tool.ts'
import type { Library } from '../../core/library.ts'
import { Failure } from '../../core/failure.ts'
import { embedPassages } from './jobs/embed-passages.ts'
import { describeHits } from './describe-hits.ts'
import { indexSource } from './index-source.ts'
import { searchItems, type SearchRequest } from './search.ts'

const ALL = new Set<Scope>(SCOPES)
let library: Library
beforeEach(async () => {
  library = await testLibrary()
})

const add = (given: TestSource) => addTestSource(library, given)
const run = { id: 1, attempt: 1, signal: new AbortController().signal, progress: async () => {} }
const embedAll = () => embedPassages.run(library, {}, run)

async function titles(query: string, request: Partial<SearchRequest> = {}): Promise<string[]> {
  const { hits, query: parsed } = await searchItems(library, { query, scopes: ALL, ...request })
  return (await describeHits(library, hits, parsed)).map(({ source }) => source.title)
}

describe('scripts without spaces (case 18)', () => {
  beforeEach(async () => {
    await add({ title: 'zh', text: '資料庫遷移前一定要先備份' })
    await add({ title: 'ja', text: '日健クリニック' })
    await add({ title: 'ko', text: '데이터베이스를 옮기기 전에 백업을 하세요' })
    await add({ title: 'th', text: 'สำรองข้อมูลก่อนย้ายฐานข้อมูล' })
    await add({ title: 'fr', text: 'The naïve café' })
    await add({ title: 'de', text: 'Die lange Straße' })
  })

  it.each([
    ['備份', ['zh']],
    ['遷移前', ['zh']],
    ['份', ['zh']],
    ['健', ['ja']],
    ['見', []],
    ['クリニック', ['ja']],
    ['ｸﾘﾆｯｸ', ['ja']],
    ['데이터베이스', ['ko']],
    ['백업', ['ko']],
    ['ฐานข้อมูล', ['th']],
    ['cafe', ['fr']],
    ['NAÏVE', ['fr']],
    ['STRASSE', ['de']],
    ['strasse', ['de']],
    ['Straße', ['de']],
  ])('%s', async (query, found) => {
    expect(await titles(query)).toEqual(found)
  })
})

describe('any characters (case 19)', () => {
  beforeEach(async () => {
    await add({ title: 'one', text: "We don't open multi-agent systems in C++ on node:20.04 and 🎉." })
    await add({ title: 'two', text: 'A quiet text of other matters.' })
  })

  it.each([
    ["don't", ['one']],
    ['multi-agent', ['one']],
    ['"open', ['one']],
    ['C++', ['one']],
    ['AND', ['one']],
    ['a OR', ['two']],
    ['node:20.04', ['one']],
    ['*', []],
    ['(', []],
    ['🎉', ['one']],
    ['x'.repeat(4_096), []],
    ['(((('.repeat(1_024), []],
    ['open '.repeat(819), ['one']],
    ['備'.repeat(4_096), []],
    ['multi-agent-'.repeat(341), ['one']],
    [Array.from({ length: 800 }, (_, i) => `w${i}`).join(' '), []],
    [Array.from({ length: 800 }, (_, i) => `open${i}*`).join(' '), []],
    ['   ', []],
    ['', []],
    ['" OR 1=1; drop table source --', []],
    ['NEAR(open, 2)', ['one']],
    ['{head} : open', ['one']],
  ])('%s', async (query, found) => {
    expect(await titles(query)).toEqual(found)
  })

  it('never fails', async () => {
    const odd = fc.constantFrom(
      '"',
      '-',
      '*',
      ':',
      '(',
      ')',
      '^',
      '{',
      '}',
      '+',
      ' ',
      'open',
      'tag:',
      'NEAR',
      '健',
    )
    await fc.assert(
      fc.asyncProperty(fc.oneof(fc.string({ unit: odd }), fc.string({ unit: 'binary' })), async (query) => {
        await searchItems(library, { query, scopes: ALL })
      }),
    )
  })
})

describe('ranking by words', () => {
  it('puts a title first, then the words as they were written, then words together, then apart', async () => {
    const filler = 'there is much to say of this and that, as ever when people talk, '.repeat(3)
    await add({ title: 'apart', text: `A hive ${filler} and winter.` })
    await add({ title: 'near', text: `In winter the old hive sleeps. ${filler}` })
    await add({ title: 'exact', text: `The winter hive sleeps. ${filler}` })
    await add({ title: 'The winter hive', text: 'About something.' })
    expect(await titles('winter hive')).toEqual(['The winter hive', 'exact', 'near', 'apart'])
  })

  it('takes what holds every word before what holds some', async () => {
    await add({ title: 'some', text: 'Honey, honey, honey and more honey.' })
    await add({ title: 'all', text: 'Bees make honey and wax in spring.' })
    expect(await titles('honey wax')).toEqual(['all', 'some'])
  })

  it('finds a source whose words stand in several places', async () => {
    const paragraph = (words: string) => `${words} ${'and so it went on for a long while '.repeat(8)}.`
    await add({ title: 'spread', text: `${paragraph('zebra')}\n\n${paragraph('quagga')}` })
    await add({ title: 'half', text: 'zebra zebra zebra' })
    expect(await titles('zebra quagga')).toEqual(['spread', 'half'])
  })

  it('leaves common words of a question out of account', async () => {
    await add({ title: 'bees', text: 'Bees dance.' })
    await add({ title: 'grammar', text: 'How do the words what and why work?' })
    expect((await titles('how do the bees dance'))[0]).toBe('bees')
  })

  it('demands what is quoted', async () => {
    await add({ title: 'apart', text: 'Old bees and new hives.' })
    await add({ title: 'together', text: 'New bees.' })
    expect(await titles('"new bees" hives')).toEqual(['together'])
  })

  it('leaves out sources that hold an unwanted word anywhere', async () => {
    await add({ title: 'wasps', text: 'Bees and wasps.' })
    await add({ title: 'bees', text: 'Bees alone.', highlights: ['Bees'] })
    await add({ title: 'marked', text: 'Bees again.', highlights: ['wasps'] })
    expect(await titles('bees -wasps')).toEqual(['bees'])
    expect(await titles('bees -"and wasps"')).not.toContain('wasps')
  })

  it('finds beginnings of words', async () => {
    await add({ title: 'dance', text: 'Dancing bees.' })
    expect(await titles('danc*')).toEqual(['dance'])
    expect(await titles('danc')).toEqual([])
  })
})

describe('filters', () => {
  beforeEach(async () => {
    await add({
      title: 'Bees in May',
      kind: 'pdf',
      authors: ['Ada Roe'],
      tags: ['Nature'],
      text: 'They dance.',
      saved: '2025-05-03T10:00:00.000Z',
      status: 'finished',
    })
    await add({
      title: 'Ants in June',
      authors: ['Sam Roewood'],
      text: 'They dance too.',
      highlights: ['dance too'],
      saved: '2025-06-01T10:00:00.000Z',
    })
    await add({
      title: 'A film',
      kind: 'video',
      text: 'Dance, dance!',
      comments: ['fine'],
      saved: '2026-01-01T10:00:00.000Z',
      status: 'paused',
    })
  })

  it.each([
    ['dance type:pdf', ['Bees in May']],
    ['dance type:media', ['A film']],
    ['dance -type:media -type:pdf', ['Ants in June']],
    ['dance tag:nature', ['Bees in May']],
    ['tag:NATURE', ['Bees in May']],
    ['author:roe', ['Ants in June', 'Bees in May']],
    ['author:"ada roe"', ['Bees in May']],
    ['-author:ada dance', ['A film', 'Ants in June']],
    ['in:title bees', ['Bees in May']],
    ['in:text bees', []],
    ['in:highlights dance', ['Ants in June']],
    ['in:notes fine', ['A film']],
    ['before:2025-06', ['Bees in May']],
    ['after:2025-05 before:2026', ['Ants in June']],
    ['after:2025', ['A film']],
    ['is:unread', ['Ants in June']],
    ['is:reading', ['A film']],
    ['is:read dance', ['Bees in May']],
    ['is:highlighted', ['Ants in June']],
    ['-is:highlighted', ['A film', 'Bees in May']],
    ['is:noted', ['A film']],
    ['type:book', []],
  ])('%s', async (query, found) => {
    expect((await titles(query)).toSorted()).toEqual(found.toSorted())
  })

  it('finds in one source by its id', async () => {
    const { id } = await library.db
      .selectFrom('source')
      .select('id')
      .where('title', '=', 'A film')
      .executeTakeFirstOrThrow()
    expect(await titles(`dance in:${id}`)).toEqual(['A film'])
    expect(await titles(`-in:${id} type:media`)).toEqual([])
  })
})

describe('the trash', () => {
  it('is not searched', async () => {
    const id = await add({ title: 'Gone', text: 'Bees dance.' })
    await library.change(async (change) => {
      await change.update('source', id, { trashed_at: change.at })
      await indexSource(change, id)
    })
    expect([await titles('bees'), await titles('type:article')]).toEqual([[], []])
  })
})

describe('private text', () => {
  const only = (...scopes: Scope[]) => ({ scopes: new Set(scopes) })

  it('of highlights and notes is found only by those who may read it', async () => {
    library = await testLibrary({ embedder: conceptEmbedder([['marker', 'sign']]) })
    await add({ title: 'Plain', text: 'Nothing here.', highlights: ['a marker'], comments: ['beacon'] })
    await embedAll()
    expect(await titles('marker', only('sources:read'))).toEqual([])
    expect(await titles('sign', only('sources:read'))).toEqual([])
    expect(await titles('beacon', only('sources:read', 'highlights:read'))).toEqual([])
    expect(await titles('is:noted', only('sources:read', 'highlights:read'))).toEqual([])
    expect(await titles('nothing -beacon', only('sources:read'))).toEqual(['Plain'])
    expect(await titles('marker', only('sources:read', 'highlights:read'))).toEqual(['Plain'])
    expect(await titles('sign', only('sources:read', 'highlights:read'))).toEqual(['Plain'])
    expect(await titles('beacon', only('sources:read', 'notes:read'))).toEqual(['Plain'])
  })
})

describe('what the caller may not see', () => {
  it('does not weigh in the order of what they may', async () => {
    const ask = async (comments: string[]) => {
      library = await testLibrary()
      await add({ title: 'one', text: 'Rare bees.', comments })
      await add({ title: 'two', text: 'Common wasps.' })
      return titles('bees wasps', { scopes: new Set(['sources:read']) })
    }
    expect(await ask(Array.from({ length: 30 }, (_, i) => `wasps ${i}`))).toEqual(await ask([]))
  })
})

describe('search by meaning', () => {
  const concepts = [
    ['physician', 'doctor', 'medicine', 'antibiotics'],
    ['germs', 'infection', 'bacterial'],
    ['bees', 'hive', 'honey'],
  ]

  beforeEach(async () => {
    library = await testLibrary({ embedder: conceptEmbedder(concepts) })
    await add({
      title: 'infection',
      text: 'The physician prescribed antibiotics for the bacterial infection.',
    })
    await add({ title: 'hive', text: 'A hive in winter keeps its honey for what is to come.' })
    await add({ title: 'chance', text: 'He gave what he had for the play.' })
    await embedAll()
  })

  it('finds what shares no word, and words of chance do not get before it', async () => {
    expect((await titles('doctor gave medicine for germs'))[0]).toBe('infection')
    expect((await searchItems(library, { query: 'doctor gave medicine', scopes: ALL })).mode).toBe('hybrid')
  })

  it('finds by words what means nothing to the model', async () => {
    expect((await titles('winter'))[0]).toBe('hive')
  })

  it('demands what is quoted', async () => {
    expect(await titles('medicine "winter keeps"')).toEqual(['hive'])
    expect(await titles('medicine "winter keeps"', { mode: 'meaning' })).toEqual([])
  })

  it('keeps within filters', async () => {
    expect(await titles('medicine type:pdf')).toEqual([])
    expect(await titles('medicine -winter type:article')).toEqual(['infection'])
  })

  it('forgets passages that are gone', async () => {
    await titles('medicine')
    const { id } = await library.db
      .selectFrom('source')
      .select('id')
      .where('title', '=', 'infection')
      .executeTakeFirstOrThrow()
    await library.change(async (change) => {
      await change.update('source', id, { trashed_at: change.at })
      await indexSource(change, id)
    })
    expect(await titles('medicine', { mode: 'meaning' })).toEqual([])
  })

  it('takes up passages that were embedded since', async () => {
    await titles('medicine')
    await add({ title: 'new', text: 'Doctor and medicine.' })
    await embedAll()
    expect(await titles('antibiotics', { mode: 'meaning' })).toContain('new')
  })
})

describe('without vectors', () => {
  const ask = (request: Partial<SearchRequest> = {}) =>
    searchItems(library, { query: 'bees', scopes: ALL, ...request })

  it('says that there is no model', async () => {
    await add({ title: 'Bees' })
    expect(await ask()).toMatchObject({ mode: 'words', note: expect.stringContaining('no embedding model') })
    expect(await ask({ mode: 'meaning' })).toMatchObject({ mode: 'words', hits: [{ matched: 'words' }] })
    expect(await ask({ mode: 'words' })).not.toHaveProperty('note')
  })

  it('says that nothing is embedded yet, or some is not', async () => {
    library = await testLibrary({ embedder: conceptEmbedder([['bees']]) })
    await add({ title: 'Bees' })
    expect(await ask()).toMatchObject({
      mode: 'words',
      note: expect.stringContaining('nothing has been embedded'),
    })
    await embedAll()
    expect(await ask()).not.toHaveProperty('note')
    await add({ title: 'More bees' })
    expect(await ask()).toMatchObject({
      mode: 'hybrid',
      note: expect.stringContaining('wait to be embedded'),
    })
  })

  it('goes by words in a script that the built-in model cannot read', async () => {
    library = await testLibrary({ embedder: conceptEmbedder([['健']], 'use-lite-1') })
    await add({ title: '日健クリニック' })
    await add({ title: 'A quiet place' })
    await embedAll()
    expect(await ask({ query: '健' })).toMatchObject({ mode: 'words', hits: [{ matched: 'words' }] })
    expect((await ask({ query: '見' })).hits).toEqual([])
    expect(await ask({ query: 'clinic' })).toMatchObject({ mode: 'hybrid' })
  })

  it('goes by words when the model fails or does not answer', async () => {
    const embedder = conceptEmbedder([['bees']])
    library = await testLibrary({ embedder })
    await add({ title: 'Bees' })
    await embedAll()
    embedder.embed = async () => {
      throw new Failure('unavailable', 'The model is not there.', { hint: 'x' })
    }
    expect(await ask()).toMatchObject({ mode: 'words', note: 'Searched by words: The model is not there.' })
    embedder.embed = () => Promise.reject(new Error('secret detail'))
    expect((await ask()).note).not.toContain('secret')
    embedder.embed = () => new Promise(() => {})
    expect(await ask({ meaningWithinMs: 20 })).toMatchObject({
      mode: 'words',
      note: expect.stringContaining('in time'),
      hits: [{ matched: 'words' }],
    })
  })
})

it('goes by meaning at once where a remote model tells its dimensions only with its first answer', async () => {
  const groups = [['heron', 'bird']]
  library = await testLibrary({ embedder: conceptEmbedder(groups) })
  await add({ title: 'Birds', text: 'A heron in the shallows.' })
  await embedAll()
  // Another process on the same library, as it starts.
  const whole = conceptEmbedder(groups)
  let dimensions = 0
  const remote = {
    ...whole,
    get dimensions() {
      return dimensions
    },
    embed: async (texts: string[]) => {
      const vectors = await whole.embed(texts)
      dimensions = whole.dimensions
      return vectors
    },
  }
  const { mode, hits } = await searchItems(
    { ...library, outside: { ...library.outside, embedder: remote } },
    { query: 'bird', scopes: ALL },
  )
  expect(mode).toBe('hybrid')
  expect(hits).toMatchObject([{ matched: 'meaning' }])
})
