import { describe, expect, it } from 'vitest'
import { testLibrary } from '../../../test/support/library.ts'
import { addSource } from '../../../test/support/sources.ts'
import { findMatch } from './match.ts'

describe('the matcher', () => {
  it('knows a book by any spelling of its ISBN', async () => {
    const library = await testLibrary()
    const id = await addSource(library, { title: 'One', kind: 'book', isbn13: '9780999999011' })
    for (const isbn of ['0-9999-9901-x', '099999901X ', '9780999999011', '="099999901X"']) {
      expect(await findMatch(library.db, { isbns: [isbn] })).toMatchObject({ id })
    }
    expect(await findMatch(library.db, { isbns: ['9780999999028'] })).toBeUndefined()
    expect(await findMatch(library.db, { isbns: ['9780999999012'] })).toBeUndefined()
  })

  it('knows a book by the ISBN of another of its editions', async () => {
    const library = await testLibrary()
    const id = await addSource(library, { title: 'One', kind: 'book', isbn13: '9780999999011' })
    await library.change((change) => change.update('source', id, { isbns: '["9780999999028"]' }))
    expect(await findMatch(library.db, { isbns: ['978-0-9999-9902-8'] })).toMatchObject({ id })
  })

  it('knows a page by any of its addresses', async () => {
    const library = await testLibrary()
    const id = await addSource(library, { url: 'http://www.example.test/a/?utm_source=x&b=2#top' })
    expect(await findMatch(library.db, { urls: ['https://example.test/a?b=2'] })).toMatchObject({ id })
    expect(await findMatch(library.db, { urls: ['https://example.test/A?b=2'] })).toBeUndefined()
  })

  it('knows a work by title and first author, however they are spelt', async () => {
    const library = await testLibrary()
    const id = await addSource(library, {
      title: 'The  Left Hand of Darkness',
      authors: ['Ursula K. Le Guin'],
      kind: 'book',
    })
    expect(
      await findMatch(library.db, {
        title: 'the left hand of darkness',
        authors: ['URSULA K. LE GUIN', 'Somebody'],
      }),
    ).toMatchObject({ id })
    expect(await findMatch(library.db, { title: 'The Left Hand of Darkness' })).toBeUndefined()
    expect(
      await findMatch(library.db, { title: 'The Left Hand of Darkness', authors: ['Another'] }),
    ).toBeUndefined()
  })

  it('does not join two pages of one title that have addresses of their own', async () => {
    const library = await testLibrary()
    await addSource(library, { title: 'Weekly notes', authors: ['Ann'], url: 'https://ann.test/1' })
    expect(
      await findMatch(library.db, { title: 'Weekly notes', authors: ['Ann'], urls: ['https://ann.test/2'] }),
    ).toBeUndefined()
  })
})
