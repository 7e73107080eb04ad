import { beforeEach, describe, expect, it } from 'vitest'
import { failureOfReading, read } from '../../../../test/support/call.ts'
import { testLibrary } from '../../../../test/support/library.ts'
import { addTestSource } from '../../../../test/support/search.ts'
import { SCOPES } from '../../../core/define-tool.ts'
import type { Library } from '../../../core/library.ts'
import type { FullNote } from '../describe-notes.ts'

const URI = 'becoming://notes'

let library: Library
let sourceId: number
let highlightId: number
beforeEach(async () => {
  library = await testLibrary()
  sourceId = await addTestSource(library, { title: 'Salt', kind: 'book', highlights: ['Salt remembers.'] })
  highlightId = (await library.db.selectFrom('highlight').select('id').executeTakeFirstOrThrow()).id
})

const without = (...scopes: string[]) => ({ scopes: SCOPES.filter((scope) => !scopes.includes(scope)) })
const notesOf = (page: Record<string, unknown>) => page['notes'] as FullNote[]

let minute = 0
const write = (body: string, { on, kind = 'comment' }: { on?: number; kind?: 'comment' | 'book' } = {}) =>
  library.change((change) => {
    const at = new Date(Date.UTC(2026, 0, 1, 0, minute++)).toISOString()
    return change.insert('note', {
      source_id: sourceId,
      highlight_id: on,
      kind,
      body,
      created_at: at,
      updated_at: at,
    })
  })

const trash = (table: 'source' | 'highlight' | 'note', id: number) =>
  library.change((change) => change.update(table, id, { trashed_at: change.at }))

describe('becoming://notes', () => {
  it('gives notes with what they are on, the last written first', async () => {
    const onSource = await write('On the whole')
    const onHighlight = await write('On the words', { on: highlightId })
    const page = await read(library, URI)
    expect(notesOf(page)).toMatchObject([
      {
        id: onHighlight,
        body: 'On the words',
        kind: 'comment',
        source_id: sourceId,
        highlight_id: highlightId,
        source: { title: 'Salt', type: 'Book' },
        highlight_content: 'Salt remembers.',
      },
      { id: onSource, body: 'On the whole', highlight_id: null },
    ])
    expect(notesOf(page)[1]).not.toHaveProperty('highlight_content')
    expect(page).toMatchObject({ total: 2, next: null })
  })

  it('gives private notes of books with library:private alone, and counts no other', async () => {
    const open = await write('Open')
    const secret = await write('SECRET', { kind: 'book' })
    expect(await read(library, URI)).toMatchObject({
      total: 2,
      notes: [{ id: secret, kind: 'book' }, { id: open }],
    })
    const page = await read(library, URI, without('library:private'))
    expect(page).toMatchObject({ total: 1, notes: [{ id: open }] })
    expect(JSON.stringify(page)).not.toContain('SECRET')
    expect(await failureOfReading(library, `${URI}/${secret}`, without('library:private'))).toMatchObject({
      code: 'note-not-found',
    })
    expect(await read(library, `${URI}/${secret}`)).toMatchObject({ body: 'SECRET' })
  })

  it('takes no cursor of what a caller with other rights saw', async () => {
    for (let n = 0; n < 3; n++) await write(`Note ${n}`)
    const { next } = await read(library, `${URI}?limit=1`)
    expect(await read(library, String(next))).toMatchObject({ notes: [{ body: 'Note 1' }] })
    expect(await failureOfReading(library, String(next), without('library:private'))).toMatchObject({
      code: 'invalid-input',
    })
  })

  it('says no more of sources and highlights than the caller may read', async () => {
    await write('On the words', { on: highlightId })
    const [bare] = notesOf(await read(library, URI, without('sources:read', 'highlights:read')))
    expect(bare).not.toHaveProperty('source')
    expect(bare).not.toHaveProperty('highlight_content')
    expect(bare).toMatchObject({ source_id: sourceId, highlight_id: highlightId })
    const [named] = notesOf(await read(library, URI, without('highlights:read')))
    expect(named).toMatchObject({ source: { title: 'Salt' } })
    expect(named).not.toHaveProperty('highlight_content')
  })

  it('leaves out what is in the trash with itself, its highlight or its source', async () => {
    const gone = await write('Gone')
    await trash('note', gone)
    const onGone = await write('On what is gone', { on: highlightId })
    await trash('highlight', highlightId)
    const kept = await write('Kept')
    expect(await read(library, URI)).toMatchObject({ total: 1, notes: [{ id: kept }] })
    await trash('source', sourceId)
    expect(await read(library, URI)).toMatchObject({ total: 0, notes: [] })
    for (const id of [gone, onGone, kept]) {
      expect(await failureOfReading(library, `${URI}/${id}`)).toMatchObject({ code: 'note-not-found' })
    }
  })
})

describe('becoming://notes/{id}', () => {
  it('gives a note whole, where a list cuts it', async () => {
    const body = 'Long 🧂 '.repeat(1_250)
    const id = await write(body)
    const [listed] = notesOf(await read(library, URI))
    expect(listed).toMatchObject({ body_truncated: true })
    expect(body.startsWith(listed!.body)).toBe(true)
    const note = await read(library, `${URI}/${id}`)
    expect(note).toMatchObject({ id, body })
    expect(note).not.toHaveProperty('body_truncated')
  })

  it('finds an id that was given up for another', async () => {
    const id = await write('Here')
    const old = await library.change(async (change) => {
      const given = await change.newId()
      await change.insert('alias', { id: given, target_id: id })
      return given
    })
    expect(await read(library, `${URI}/${old}`)).toMatchObject({ id })
  })
})
