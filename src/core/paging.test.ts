import { assert, asyncProperty, base64String, jsonValue, oneof, string } from 'fast-check'
import { describe, expect, it } from 'vitest'
import { libraryOn, testLibrary } from '../../test/support/library.ts'
import { openCursor, sealCursor } from './paging.ts'

describe('cursors', () => {
  it('give back the position that they were made for', async () => {
    const library = await testLibrary()
    await assert(
      asyncProperty(jsonValue(), string(), async (position, filter) => {
        const cursor = await sealCursor(library, filter, position)
        const opened = await openCursor(library, filter, cursor)
        expect(JSON.stringify(opened)).toBe(JSON.stringify(position))
      }),
    )
  })

  it('are refused with another filter', async () => {
    const library = await testLibrary()
    const cursor = await sealCursor(library, 'list_items pdf', { id: 7 })
    await expect(openCursor(library, 'list_items article', cursor)).rejects.toMatchObject({
      code: 'invalid_input',
    })
  })

  it('are refused when one character differs', async () => {
    const library = await testLibrary()
    const cursor = await sealCursor(library, 'list', { id: 7 })
    for (let i = 0; i < cursor.length; i++) {
      const other = `${cursor.slice(0, i)}${cursor[i] === 'A' ? 'B' : 'A'}${cursor.slice(i + 1)}`
      await expect(openCursor(library, 'list', other)).rejects.toMatchObject({ code: 'invalid_input' })
    }
  })

  it('are refused whatever else is given', async () => {
    const library = await testLibrary()
    await assert(
      asyncProperty(oneof(string(), base64String()), async (given) => {
        await expect(openCursor(library, 'list', given)).rejects.toMatchObject({ code: 'invalid_input' })
      }),
    )
  })

  it('are refused by another library', async () => {
    const cursor = await sealCursor(await testLibrary(), 'list', { id: 7 })
    await expect(openCursor(await testLibrary(), 'list', cursor)).rejects.toMatchObject({
      code: 'invalid_input',
    })
  })

  it('go on while the library cannot be written, and are those of another process once that has written', async () => {
    const library = await testLibrary()
    const full = { ...library, change: () => Promise.reject(new Error('no room')) }
    const own = await sealCursor(full, 'list', 1)
    expect(await openCursor(full, 'list', own)).toBe(1)
    const other = libraryOn(library.db.withTables<Record<never, never>>())
    const theirs = await sealCursor(other, 'list', 2)
    expect(await openCursor(full, 'list', theirs)).toBe(2)
  })
})
