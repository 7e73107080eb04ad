import { beforeEach, describe, expect, it } from 'vitest'
import { testLibrary } from '../../../test/support/library.ts'
import { addSource } from '../../../test/support/sources.ts'
import type { Change, Library } from '../../core/library.ts'
import { sliceCodePoints } from '../../core/text.ts'
import { addHighlight, reanchorHighlights, reanchorInCurrent } from './highlights.ts'

const SENTENCES = [
  'The harbour froze in the first week of January, and no ship came in for forty days.',
  'Merchants who had lent money on cargo beyond the ice began to ask for it back.',
  'In the taverns along the quay people spoke of nothing but the price of salt.',
  'A notary named Ewald wrote down what each of them owed, in a hand of his own.',
]
const TEXT = SENTENCES.join('\n\n')

let library: Library
let sourceId: number
beforeEach(async () => {
  library = await testLibrary({ now: () => clock })
  sourceId = await library.change((change) =>
    change.insert('source', {
      kind: 'article',
      title: 'Ice',
      match_key: 'ice',
      authors: '[]',
      created_at: change.at,
      updated_at: change.at,
    }),
  )
})

let clock = new Date('2026-03-01T10:00:00Z')
beforeEach(() => {
  clock = new Date('2026-03-01T10:00:00Z')
})

const textRow = (change: Change, plain = TEXT) => ({
  source_id: sourceId,
  markdown: plain,
  plain,
  method: 'given',
  hash: plain,
  words: 1,
  captured_at: change.at,
  state: 'good' as const,
})

/** Gives the source a new current text, as a capture does, and anchors its highlights in it. */
const setText = (plain: string) =>
  library.change(async (change) => {
    const id = await change.insert('text', textRow(change, plain))
    await change.update('source', sourceId, { text_id: id })
    return { id, ...(await reanchorHighlights(change, sourceId, { id, plain })) }
  })

const mark = (quote: string) => addHighlight(library, { id: String(sourceId), quote })
const rows = () => library.db.selectFrom('highlight').selectAll().orderBy('id').execute()
const first = async () => (await rows())[0]!

describe('reanchorHighlights', () => {
  it('moves a highlight to where its words are now, with the version they are in', async () => {
    await setText(TEXT)
    await mark(SENTENCES[2]!)
    clock = new Date('2026-03-02T10:00:00Z')
    const next = await setText(`New opening.\n\n${TEXT}`)
    expect(next).toMatchObject({ anchored: 1, lost: 0 })
    const row = await first()
    expect(row).toMatchObject({ text_id: next.id, state: 'anchored', matched: 'exact' })
    expect(row.updated_at).toBe('2026-03-02T10:00:00.000Z')
    expect(sliceCodePoints(`New opening.\n\n${TEXT}`, row.start_offset!, row.end_offset!)).toBe(SENTENCES[2])
  })

  it('keeps the words of the text where they were edited, and says how they were found', async () => {
    await setText(TEXT)
    await mark(SENTENCES[3]!)
    await setText(TEXT.replace('a notary named', 'a notary called').replace('wrote down', 'noted down'))
    expect(await first()).toMatchObject({
      quote: SENTENCES[3]!.replace('wrote down', 'noted down'),
      matched: 'approximate',
      state: 'anchored',
    })
  })

  it('orphans words that are gone, keeps them with the version they stood in, and takes them back', async () => {
    const { id: old } = await setText(TEXT)
    await mark(SENTENCES[1]!)
    const before = await first()
    const gone = [SENTENCES[0], SENTENCES[2], SENTENCES[3]].join('\n\n')
    expect(await setText(gone)).toMatchObject({ anchored: 0, lost: 1 })
    expect(await first()).toMatchObject({
      state: 'orphaned',
      quote: SENTENCES[1],
      text_id: old,
      start_offset: before.start_offset,
    })
    await setText(`${gone}\n\nOne more line.`)
    expect(await first()).toMatchObject({ state: 'orphaned', text_id: old })
    const { id: back } = await setText(`Again.\n\n${TEXT}`)
    expect(await first()).toMatchObject({ state: 'anchored', text_id: back, quote: SENTENCES[1] })
  })

  it('anchors what came before there was a text, and leaves the rest unanchored', async () => {
    await library.change((change) =>
      change.insertMany(
        'highlight',
        [SENTENCES[0]!.toUpperCase(), 'Not in it at all'].map((quote) => ({
          source_id: sourceId,
          quote,
          state: 'unanchored' as const,
          origin: 'import' as const,
          created_at: change.at,
          updated_at: change.at,
        })),
      ),
    )
    expect(await setText(TEXT)).toMatchObject({ anchored: 1, lost: 1 })
    expect(await rows()).toMatchObject([
      { state: 'anchored', matched: 'folded', quote: SENTENCES[0], start_offset: 0, origin: 'import' },
      { state: 'unanchored', matched: null, quote: 'Not in it at all', text_id: null },
    ])
  })

  it('treats those in the trash alike, so that they can be restored', async () => {
    await setText(TEXT)
    const { highlight } = await mark(SENTENCES[2]!)
    await library.change((change) =>
      change.update('highlight', Number(highlight.id), { trashed_at: change.at }),
    )
    const { id } = await setText(`New opening.\n\n${TEXT}`)
    expect(await first()).toMatchObject({ text_id: id, state: 'anchored', trashed_at: clock.toISOString() })
  })

  it('anchors in the current text what came from a joined source', async () => {
    await setText(TEXT)
    const { highlight } = await mark(SENTENCES[2]!)
    const { id } = await setText(`Another page.\n\n${TEXT}`)
    const elsewhere = await library.db.selectFrom('text').select('id').orderBy('id').executeTakeFirstOrThrow()
    await library.change(async (change) => {
      await change.update('highlight', Number(highlight.id), { text_id: elsewhere.id, start_offset: 165 })
      await reanchorInCurrent(change, sourceId)
    })
    expect(await first()).toMatchObject({ text_id: id, start_offset: 15 + TEXT.indexOf(SENTENCES[2]!) })
  })

  it('writes nothing when it is told the same text again', async () => {
    const { id } = await setText(TEXT)
    await mark(SENTENCES[2]!)
    const changes = async () => (await library.db.selectFrom('change_log').selectAll().execute()).length
    const before = await changes()
    await library.change((change) => reanchorHighlights(change, sourceId, { id, plain: TEXT }))
    expect(await changes()).toBe(before)
  })
})

describe('addHighlight', () => {
  it('lets a highlight in the trash lie and makes a new one', async () => {
    await setText(TEXT)
    const { highlight } = await mark('froze in')
    await library.change((change) =>
      change.update('highlight', Number(highlight.id), { trashed_at: change.at }),
    )
    const { highlight: second, created } = await mark('froze in')
    expect(created).toBe(true)
    expect(second.id).not.toBe(highlight.id)
  })

  it('gives the one that stands, wherever its text has moved since', async () => {
    await setText(TEXT)
    const { highlight } = await mark('price of salt')
    await setText(`New opening.\n\n${TEXT}`)
    expect(await mark('PRICE OF  SALT')).toMatchObject({ created: false, highlight: { id: highlight.id } })
    expect(await mark('the price of salt')).toMatchObject({ created: true })
  })

  it('anchors in the text that is current when it is stored, though another was when it was found', async () => {
    await setText(TEXT)
    const racing: Library = {
      ...library,
      answer: async (work) => {
        await setText(`New opening.\n\n${TEXT}`)
        return library.answer(work)
      },
    }
    const { highlight } = await addHighlight(racing, { id: String(sourceId), quote: 'price of salt' })
    expect(highlight.start).toBe(`New opening.\n\n${TEXT}`.indexOf('price of salt'))
  })
})

describe('the place of a highlight', () => {
  it('is the page, chapter or moment that its words stand in', async () => {
    const places = [
      { start: 0, seconds: 0, title: 'Opening' },
      { start: TEXT.indexOf(SENTENCES[2]!), seconds: 83 },
    ]
    const id = await addSource(library, { kind: 'video', text: TEXT, places })
    const { highlight } = await addHighlight(library, { id: String(id), quote: SENTENCES[3]! })
    const row = (await rows()).find((one) => String(one.id) === highlight.id)
    expect(JSON.parse(row?.locator ?? 'null')).toEqual({ seconds: 83, label: 'Opening' })
  })

  it('is filled in where the text came later, and stays as it was given', async () => {
    const without = { state: 'unanchored', origin: 'import', source_id: sourceId } as const
    await library.change(async (change) => {
      const when = { created_at: change.at, updated_at: change.at }
      await change.insert('highlight', { ...without, ...when, quote: SENTENCES[1]! })
      await change.insert('highlight', { ...without, ...when, quote: SENTENCES[2]!, locator: '{"page":7}' })
      await reanchorHighlights(change, sourceId, {
        id: await change.insert('text', textRow(change)),
        plain: TEXT,
        places: '[{"page":1,"start":0}]',
      })
    })
    expect((await rows()).map(({ locator }) => locator)).toEqual(['{"page":1}', '{"page":7}'])
  })
})
