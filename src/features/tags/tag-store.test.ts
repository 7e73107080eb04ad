import { describe, expect, it } from 'vitest'
import { testLibrary } from '../../../test/support/library.ts'
import { addSource } from '../../../test/support/sources.ts'
import { addTags, listTags, removeTags } from './tag-store.ts'

describe('tags', () => {
  it('of one name in any spelling are one, shown as first typed', async () => {
    const library = await testLibrary()
    const id = await addSource(library)
    const names = ['Sci-Fi', ' sci-fi ', 'Ｓｃｉ-Ｆｉ', 'Café', 'Cafe\u0301']
    await library.change((change) => addTags(change, id, names))
    expect(await listTags(library.db)).toEqual([
      { name: 'Café', count: 1 },
      { name: 'Sci-Fi', count: 1 },
    ])
  })

  it('that nothing bears any more are gone', async () => {
    const library = await testLibrary()
    const [one, two] = [await addSource(library), await addSource(library)]
    await library.change((change) => addTags(change, one, ['both', 'one']))
    await library.change((change) => addTags(change, two, ['both']))
    await library.change((change) => removeTags(change, one, ['BOTH', 'One', 'never there']))
    expect(await listTags(library.db)).toEqual([{ name: 'both', count: 1 }])
  })

  it.each(['', '   ', '\u200b', 'x'.repeat(101)])('cannot be called %j', async (name) => {
    const library = await testLibrary()
    const id = await addSource(library)
    await expect(library.change((change) => addTags(change, id, [name]))).rejects.toMatchObject({
      code: 'invalid_input',
    })
  })
})
