import { beforeEach, describe, expect, it } from 'vitest'
import { call, failureOfCall } from '../../../../test/support/call.ts'
import { testLibrary } from '../../../../test/support/library.ts'
import { addTestSource } from '../../../../test/support/search.ts'
import type { Library } from '../../../core/library.ts'
import { addNoteOnce } from '../note-store.ts'
import { addComment } from './add-comment.ts'

let library: Library
let sourceId: number
beforeEach(async () => {
  library = await testLibrary()
  sourceId = await addTestSource(library, { title: 'Salt' })
})

const bodies = async () =>
  (await library.db.selectFrom('note').select('body').orderBy('id').execute()).map(({ body }) => body)

describe('add_comment', () => {
  it('writes a comment on an item, with a text or without, and makes it searchable', async () => {
    const body = ' Two lines,\n“as typed” 😀 '
    const { comment } = await call(addComment, library, { id: String(sourceId), body })
    expect(comment).toMatchObject({ itemId: String(sourceId), highlightId: null, body })
    const passage = library.db.selectFrom('passage').select('body').where('kind', '=', 'note')
    expect((await passage.executeTakeFirst())?.body).toContain('“as typed” 😀')
  })

  it('adds one a call, but one only for a requestId', async () => {
    const args = { id: String(sourceId), body: 'Again' }
    for (let time = 0; time < 2; time++) await call(addComment, library, args)
    for (let time = 0; time < 2; time++) await call(addComment, library, { ...args, requestId: 'r1' })
    expect(await bodies()).toEqual(['Again', 'Again', 'Again'])
  })

  it('counts code points and refuses blanks', async () => {
    const id = String(sourceId)
    await call(addComment, library, { id, body: '😀'.repeat(10_000) })
    for (const body of ['', ' \n ', '\u200b', '😀'.repeat(10_001)]) {
      const failure = await failureOfCall(addComment, library, { id, body })
      expect(failure).toMatchObject({ code: 'invalid-input' })
      expect(failure.error.message).toContain('body')
    }
    expect(await bodies()).toHaveLength(1)
  })

  it('refuses an item that is not there', async () => {
    expect(await failureOfCall(addComment, library, { id: 'x1', body: 'x' })).toMatchObject({
      code: 'item-not-found',
    })
  })
})

describe('addNoteOnce', () => {
  const once = (body: string, highlightId?: number) =>
    library.change((change) => addNoteOnce(change, { sourceId, highlightId, body }))

  it('adds the same words to the same thing once', async () => {
    const { note, created } = await once('Mind this')
    expect(created).toBe(true)
    expect(await once('Mind this')).toEqual({ note, created: false })
    expect((await once('Mind that')).created).toBe(true)
  })

  it('does not count what is in the trash, nor the note of a highlight for one of the item', async () => {
    const { note } = await once('Mind this')
    await library.change((change) => change.update('note', note.id, { trashed_at: change.at }))
    expect((await once('Mind this')).created).toBe(true)
    const highlight = await library.change((change) =>
      change.insert('highlight', {
        source_id: sourceId,
        quote: 'x',
        state: 'unanchored',
        origin: 'reader',
        created_at: change.at,
        updated_at: change.at,
      }),
    )
    expect((await once('Mind this', highlight)).created).toBe(true)
    expect((await once('Mind this', highlight)).created).toBe(false)
  })
})
