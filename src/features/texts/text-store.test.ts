import { expect, it } from 'vitest'
import { testLibrary } from '../../../test/support/library.ts'
import { addSource } from '../../../test/support/sources.ts'
import { findSource } from '../sources/source-store.ts'
import { addTextVersion, currentText } from './text-store.ts'

const version = (plain: string) => ({
  markdown: plain,
  plain,
  words: plain.split(/\s+/).length,
  html: null,
  renderer: null,
  method: 'given',
  places: null,
  raw: null,
})

async function captured(text: string) {
  const library = await testLibrary()
  const id = await addSource(library, { text })
  const add = (plain: string) =>
    library.change(async (change) =>
      addTextVersion(change, (await findSource(change.db, id))!, version(plain)),
    )
  const current = async () => (await currentText(library.db, (await findSource(library.db, id))!)).plain
  const count = async () => (await library.db.selectFrom('text').select('id').execute()).length
  return { add, current, count }
}

it('a new text becomes the current one, the same words are no new version', async () => {
  const { add, current, count } = await captured('One two three.')
  expect(await add('One two three.')).toMatchObject({ verdict: 'unchanged' })
  expect(await add('One two three four.')).toMatchObject({ verdict: 'current' })
  expect(await current()).toBe('One two three four.')
  expect(await count()).toBe(2)
})

it('a wall is put aside once, however often it comes, and never read in place of the text', async () => {
  const good = 'A long text. '.repeat(40).trim()
  const { add, current, count } = await captured(good)
  const first = await add('Please log in.')
  expect(first.verdict).toBe('kept')
  expect(await add('Please log in.')).toEqual(first)
  expect((await add('Please subscribe.')).textId).not.toBe(first.textId)
  expect(await current()).toBe(good)
  expect(await count()).toBe(3)
})
