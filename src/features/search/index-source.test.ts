import * as fc from 'fast-check'
import { sql } from 'kysely'
import { beforeEach, describe, expect, it } from 'vitest'
import { testLibrary } from '../../../test/support/library.ts'
import { addTestSource } from '../../../test/support/search.ts'
import type { Library } from '../../core/library.ts'
import { foldWords } from './fold-words.ts'
import { fullText, vectors } from './indexes.ts'
import { indexHighlight, indexNote, indexSource, rebuildIndex } from './index-source.ts'
import { quantise } from './quantise.ts'

let library: Library
beforeEach(async () => {
  library = await testLibrary()
})

const bodies = async () =>
  (await library.db.selectFrom('passage').select(['kind', 'body']).orderBy('id').execute()).map(
    ({ kind, body }) => `${kind}: ${body}`,
  )
const words = (word: string) =>
  fullText(library.db).match(library.db, { phrase: [word] }, { order: 'newest', limit: 100 })

describe('indexSource', () => {
  it('takes up title, authors, site, address, text, highlights and comments, but no private note of a book', async () => {
    await addTestSource(library, {
      title: 'On bees',
      authors: ['Ada Roe', 'Sam Poe'],
      site: 'Hive',
      url: 'https://hive.test/bees',
      text: 'Bees dance to tell where flowers are.',
      highlights: ['Bees dance'],
      comments: ['So do I'],
      bookNotes: ['secret'],
    })
    expect(await bodies()).toEqual([
      'head: On bees\nAda Roe, Sam Poe\nHive\nhttps://hive.test/bees',
      'text: Bees dance to tell where flowers are.',
      'highlight: Bees dance',
      'note: So do I',
    ])
    expect(await words('secret')).toEqual([])
    expect(await words('dance')).toHaveLength(2)
  })

  it('searches the description where there is no text', async () => {
    await addTestSource(library, { title: 'A talk', description: 'About the weather on Mars.' })
    expect(await words('weather')).toHaveLength(1)
  })

  it('keeps the passages, their ids and their vectors that a new text has too', async () => {
    const paragraph = (n: number) =>
      `${`Paragraph number ${n} speaks of its own matter at length. `.repeat(9)}`
    const id = await addTestSource(library, { title: 'Long', text: `${paragraph(1)}\n\n${paragraph(2)}` })
    const before = await library.db.selectFrom('passage').selectAll().orderBy('id').execute()
    const { code, blob } = quantise(new Float32Array(512).fill(0.1))
    await library.change(async ({ db }) => {
      await vectors(db).put(
        db,
        before.map((passage) => ({ passageId: passage.id, model: 'm', code, quantised: blob })),
      )
      await db.updateTable('passage').set({ embedded: 1 }).execute()
    })
    await library.change(async (change) => {
      const plain = `${paragraph(0)}\n\n${paragraph(2)}`
      const textId = await change.insert('text', {
        source_id: id,
        markdown: plain,
        plain,
        method: 'given',
        hash: 'x',
        words: 1,
        captured_at: change.at,
        state: 'good',
      })
      await change.update('source', id, { text_id: textId })
      await indexSource(change, id)
    })
    const after = await library.db.selectFrom('passage').selectAll().orderBy('id').execute()
    const kept = after.filter(({ embedded }) => embedded === 1)
    expect(after.length).toBe(before.length)
    expect(kept.map(({ body }) => body)).toEqual(
      before.filter(({ kind, body }) => kind === 'head' || body.includes('number 2')).map(({ body }) => body),
    )
    const codes = await vectors(library.db).codesOf(library.db, { id: 'm', dimensions: 512 })
    const coded = await codes.nearest(new Uint8Array(64), 100)
    expect(coded.toSorted()).toEqual(kept.map(({ id }) => id).toSorted())
    expect(await words('1')).toEqual([])
    expect(await words('0')).not.toEqual([])
  })

  it('removes everything of a source in the trash, and brings it back', async () => {
    const id = await addTestSource(library, { title: 'Gone', text: 'Some words.', highlights: ['words'] })
    const trash = (at: string | null) =>
      library.change(async (change) => {
        await change.update('source', id, { trashed_at: at })
        await indexSource(change, id)
      })
    await trash('2026-01-01T00:00:00.000Z')
    expect([await bodies(), await words('words')]).toEqual([[], []])
    await trash(null)
    expect(await words('words')).toHaveLength(2)
  })

  it('leaves no words of a source that was erased', async () => {
    const id = await addTestSource(library, { title: 'Gone', text: 'Some words.' })
    await library.change((change) => change.erase('source', id))
    expect(await words('words')).toEqual([])
  })

  it('queues one embedding job for any number of sources, and none where nothing is new', async () => {
    const id = await addTestSource(library, { title: 'One' })
    await addTestSource(library, { title: 'Two' })
    const jobs = () => library.db.selectFrom('job').select(['kind', 'state']).execute()
    expect(await jobs()).toEqual([{ kind: 'embed', state: 'pending' }])
    await library.change(async ({ db }) => void (await db.deleteFrom('job').execute()))
    await library.change((change) => indexSource(change, id))
    expect(await jobs()).toEqual([])
  })
})

describe('indexHighlight and indexNote', () => {
  it('follow one row as it changes and is thrown away', async () => {
    const id = await addTestSource(library, {
      title: 'Bees',
      highlights: ['old words'],
      comments: ['old note'],
    })
    const highlight = await library.db.selectFrom('highlight').select('id').executeTakeFirstOrThrow()
    const note = await library.db.selectFrom('note').select('id').executeTakeFirstOrThrow()
    await library.change(async (change) => {
      await change.update('highlight', highlight.id, { quote: 'new words' })
      await change.update('note', note.id, { body: 'new note' })
      await indexHighlight(change, highlight.id)
      await indexNote(change, note.id)
    })
    expect((await bodies()).toSorted()).toEqual(['head: Bees', 'highlight: new words', 'note: new note'])
    await library.change(async (change) => {
      await change.update('highlight', highlight.id, { trashed_at: change.at })
      await change.erase('note', note.id)
      await indexHighlight(change, highlight.id)
      await indexNote(change, note.id)
    })
    expect(await bodies()).toEqual(['head: Bees'])
    expect(id).toBeGreaterThan(0)
  })
})

describe('the word index', () => {
  it('holds exactly the words of foldWords, in whatever spelling they come', async () => {
    const text = fc.string({ unit: fc.constantFrom(...'aB1 .-_\n"é健康ß*'), minLength: 1 })
    await fc.assert(
      fc.asyncProperty(text, async (body) => {
        const library = await testLibrary()
        await addTestSource(library, { title: 'x', text: `q ${body}` })
        for (const word of new Set(foldWords(body).split(' '))) {
          if (word === '') continue
          const query = { match: { phrase: [word] }, in: ['text'] as const }
          expect(
            await fullText(library.db).match(library.db, query, { order: 'rank', limit: 9 }),
          ).toHaveLength(1)
        }
      }),
      { numRuns: 60 },
    )
  })
})

describe('rebuildIndex', () => {
  it('mends passages and words that were lost', async () => {
    await addTestSource(library, { title: 'Bees', text: 'They dance.' })
    await addTestSource(library, { title: 'Ants', text: 'They march.' })
    const before = await bodies()
    await sql`delete from passage where body = 'They dance.'`.execute(library.db)
    await fullText(library.db).clear(library.db)
    await rebuildIndex(library)
    expect((await bodies()).toSorted()).toEqual(before.toSorted())
    expect(await words('dance')).toHaveLength(1)
    expect(await words('march')).toHaveLength(1)
    expect(await fullText(library.db).check(library.db)).toBe(true)
  })
})
