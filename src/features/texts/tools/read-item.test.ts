import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { call, failureOfCall } from '../../../../test/support/call.ts'
import { testLibrary } from '../../../../test/support/library.ts'
import { addSource } from '../../../../test/support/sources.ts'
import { addHighlight } from '../../highlights/tools/add-highlight.ts'
import { addComment } from '../../notes/tools/add-comment.ts'
import { readItem } from './read-item.ts'

const TEXT = Array.from(
  { length: 30 },
  (_, n) =>
    `Paragraph ${n} says something about gardens, patience and the ${n}th year of both. It says it twice.`,
).join('\n\n')

describe('read_item', () => {
  it('gives pages that joined are the Markdown, code point for code point', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.string({ unit: 'binary', minLength: 1, maxLength: 200 }),
        fc.integer({ min: 1, max: 60 }),
        async (wild, maxChars) => {
          const text = `x${wild}`.toWellFormed().replaceAll('\0', '')
          const library = await testLibrary()
          const id = String(await addSource(library, { text }))
          let joined = ''
          let offset: unknown = 0
          while (offset !== null) {
            const page: Record<string, unknown> = await call(readItem, library, { id, offset, maxChars })
            expect([...String(page['markdown'])].length).toBeLessThanOrEqual(maxChars)
            joined += String(page['markdown'])
            offset = page['nextOffset']
          }
          expect(joined).toBe(text)
        },
      ),
      { numRuns: 40 },
    )
  })

  it('is Markdown of 40,000 characters unless said otherwise', async () => {
    const library = await testLibrary()
    const id = String(await addSource(library, { text: 'é👍'.repeat(25_000) }))
    const page = await call(readItem, library, { id })
    expect(page).toMatchObject({ format: 'markdown', offset: 0, nextOffset: 40_000, totalChars: 50_000 })
    expect(await call(readItem, library, { id, offset: 40_000 })).toMatchObject({ nextOffset: null })
    expect(await call(readItem, library, { id, offset: 99_999 })).toMatchObject({
      markdown: '',
      nextOffset: null,
    })
  })

  it('sums up with sentences of the text, its opening and the annotations', async () => {
    const library = await testLibrary()
    const id = String(await addSource(library, { title: 'Gardens', text: TEXT }))
    await call(addHighlight, library, { id, quote: 'the 7th year of both', comment: 'mine too' })
    await call(addComment, library, { id, body: 'Read again in spring.' })
    const summary = await call(readItem, library, { id, format: 'summary' })
    const digest = summary['digest'] as string[]
    expect(digest.length).toBeGreaterThanOrEqual(3)
    for (const sentence of digest) expect(TEXT).toContain(sentence)
    expect(TEXT.startsWith(String(summary['excerpt']).slice(0, 40))).toBe(true)
    expect(summary).toMatchObject({
      annotationsTotal: 2,
      annotations: [
        { kind: 'highlight', quote: 'the 7th year of both', state: 'anchored', comments: ['mine too'] },
        { kind: 'note', comments: ['Read again in spring.'] },
      ],
    })
    expect(summary).not.toHaveProperty('markdown')
  })

  it('leaves out of the summary what the caller may not see', async () => {
    const library = await testLibrary()
    const id = String(await addSource(library, { text: TEXT }))
    await call(addHighlight, library, { id, quote: 'the 7th year of both', comment: 'SECRET-COMMENT' })
    await call(addComment, library, { id, body: 'SECRET-NOTE' })
    const summaryFor = async (scopes: Parameters<typeof call>[3]) =>
      JSON.stringify(await call(readItem, library, { id, format: 'summary' }, scopes))
    const bare = await summaryFor({ scopes: ['sources:read'] })
    expect(bare).not.toContain('SECRET')
    expect(bare).toContain('"annotationsTotal":0')
    const highlights = await summaryFor({ scopes: ['sources:read', 'highlights:read'] })
    expect(highlights).toContain('7th year of both')
    expect(highlights).not.toContain('SECRET')
    const notes = await summaryFor({ scopes: ['sources:read', 'notes:read'] })
    expect(notes).toContain('SECRET-NOTE')
    expect(notes).not.toContain('"kind":"highlight"')
  })

  it('stays small however much is marked', async () => {
    const library = await testLibrary()
    const id = String(await addSource(library, { text: TEXT }))
    for (let n = 0; n < 80; n++)
      await call(addComment, library, { id, body: `${n} ${'long '.repeat(1_000)}` })
    const summary = await call(readItem, library, { id, format: 'summary' })
    expect(summary['annotationsTotal']).toBe(80)
    // Four characters a token, ten thousand tokens.
    expect(JSON.stringify(summary).length).toBeLessThan(40_000)
  })

  it('says what is wrong with an id, and takes it as a number too', async () => {
    const library = await testLibrary()
    const id = await addSource(library, { text: 'Some words.' })
    expect(await call(readItem, library, { id })).toMatchObject({ markdown: 'Some words.' })
    for (const wrong of ['0', 'abc', '-1', `${id}0`, ' ', '1e3', '9'.repeat(40)]) {
      expect((await failureOfCall(readItem, library, { id: wrong })).error.code).toBe('item_not_found')
    }
  })

  it('names the page, chapter or moment of what it shows', async () => {
    const library = await testLibrary()
    const text = 'One. 😀\n\nTwo is said.\n\nThree.'
    const places = [
      { start: 0, at: 0, seconds: 0, title: 'Opening' },
      { start: 8, at: 8, seconds: 75 },
      { start: 12, at: 12, seconds: 76 },
      { start: 22, at: 22, seconds: 3725 },
      { start: 28, at: 28, seconds: 3800 },
    ]
    const id = String(await addSource(library, { kind: 'video', text, places }))
    expect((await call(readItem, library, { id }))['places']).toEqual([
      { offset: 0, name: '0:00 Opening', seconds: 0 },
      { offset: 8, name: '1:15', seconds: 75 },
      { offset: 22, name: '1:02:05', seconds: 3725 },
    ])
    expect((await call(readItem, library, { id, offset: 14 }))['places']).toEqual([
      { offset: 14, name: '1:16', seconds: 76 },
      { offset: 22, name: '1:02:05', seconds: 3725 },
    ])
    const paged = Array.from({ length: 900 }, (_, n) => ({ start: n, at: n, page: n + 1 }))
    const book = String(await addSource(library, { kind: 'pdf', text: 'x'.repeat(900), places: paged }))
    const shown = (await call(readItem, library, { id: book, offset: 10 }))['places'] as { name: string }[]
    expect(shown).toHaveLength(40)
    expect(shown[0]).toEqual({ offset: 10, name: 'page 11' })
  })

  it('of an item without a text says why', async () => {
    const library = await testLibrary()
    const id = String(await addSource(library, { title: 'Heard of' }))
    const failure = await failureOfCall(readItem, library, { id })
    expect(failure.code).toBe('not-captured')
    expect(failure.hint).toContain('save_url')
  })
})
