import { expect, it } from 'vitest'
import { engineOn } from '../../test/support/engine.ts'
import { addSource } from '../../test/support/sources.ts'
import { testLibrary } from '../../test/support/library.ts'
import { Failure } from '../core/failure.ts'
import { writeResult } from './protocol/messages.ts'
import { createApp } from './app.ts'
import { DEFINITIONS } from './definitions.ts'
import type { Engine } from './engine.ts'
import { Context } from './protocol/context.ts'

const context = () =>
  new Context({ id: 1, method: 'tools/call', params: {} } as Context['request'], {
    revision: '2025-06-18',
    capabilities: {},
  })

const appOn = (engine: () => Promise<Engine>, logged: unknown[] = []) =>
  createApp({ version: '0', definitions: DEFINITIONS, engine, onError: (error) => void logged.push(error) })

it('a library that cannot be opened is a failure of the call, and the next call tries again', async () => {
  const library = await testLibrary()
  let locked = true
  const app = appOn(async () => {
    if (locked) throw new Failure('library_locked', 'Busy.', { hint: 'Try again in a moment.' })
    return engineOn(library)
  })
  expect(await app.callTool('list_items', {}, context())).toMatchObject({
    isError: true,
    structuredContent: { code: 'library-locked', hint: 'Try again in a moment.' },
  })
  locked = false
  const opened = await app.callTool('list_items', {}, context())
  expect(JSON.parse(writeResult(opened))).toMatchObject({ structuredContent: { total: 0 } })
})

it('gives the data once as a text and once as it is, and both are the same', async () => {
  const library = await testLibrary()
  await addSource(library, { title: 'Héron "gris" \u2028', text: 'Some words.' })
  const app = appOn(async () => engineOn(library))
  const answer = JSON.parse(writeResult(await app.callTool('list_items', {}, context())))
  expect(answer.structuredContent.items).toMatchObject([{ title: 'Héron "gris" \u2028' }])
  expect(JSON.parse(answer.content[0].text)).toEqual(answer.structuredContent)
})

it('what is no failure of ours is logged, and none of it is shown', async () => {
  const logged: unknown[] = []
  const broken = new Error('SECRET-PATH')
  const app = appOn(async () => Promise.reject(broken), logged)
  const result = await app.callTool('list_items', {}, context())
  expect(result).toMatchObject({ isError: true, structuredContent: { error: { code: 'internal_error' } } })
  expect(JSON.stringify(result)).not.toContain('SECRET')
  expect(logged).toEqual([broken])
})
