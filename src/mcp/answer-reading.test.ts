import { beforeEach, describe, expect, it } from 'vitest'
import { engineOn } from '../../test/support/engine.ts'
import { testLibrary } from '../../test/support/library.ts'
import { addTestSource } from '../../test/support/search.ts'
import { SCOPES, type Scope } from '../core/define-tool.ts'
import { Failure } from '../core/failure.ts'
import type { Library } from '../core/library.ts'
import { createApp } from './app.ts'
import { DEFINITIONS, PROMPTABLE, READABLE } from './definitions.ts'
import type { App, CompletionRequest, PromptResult, ResourceResult } from './protocol/app.ts'
import { Context } from './protocol/context.ts'
import { ResourceNotFound, RpcError } from './protocol/errors.ts'

let library: Library
let logged: unknown[]
beforeEach(async () => {
  library = await testLibrary()
  logged = []
})

const context = () =>
  new Context({ id: 1, method: 'resources/read', params: {} } as Context['request'], {
    revision: '2025-06-18',
    capabilities: {},
  })

interface Offering {
  scopes?: readonly Scope[]
  tools?: readonly string[]
  resources?: typeof READABLE
}

function appOf({ scopes = SCOPES, tools, resources = READABLE }: Offering = {}): App {
  return createApp({
    version: '0',
    definitions: tools
      ? DEFINITIONS.filter(({ definition }) => tools.includes(definition.name))
      : DEFINITIONS,
    resources,
    prompts: PROMPTABLE,
    engine: () => engineOn(library, scopes),
    onError: (error) => void logged.push(error),
  })
}

const readAt = async (uri: string, offering?: Offering) =>
  (await appOf(offering).readResource!(uri, context())) as ResourceResult

async function errorOf(attempt: Promise<unknown> | unknown): Promise<RpcError> {
  try {
    await attempt
  } catch (error) {
    if (error instanceof RpcError) return error
    throw error
  }
  throw new Error('it did not fail')
}

const completed = async (ref: CompletionRequest['ref'], name: string, value: string, offering?: Offering) =>
  (await appOf(offering).complete!({ ref, argument: { name, value }, chosen: {} }, context())).values

describe('a resource', () => {
  it('is JSON under the address that was asked for', async () => {
    await addTestSource(library, { title: 'Salt', highlights: ['One'] })
    for (const uri of ['becoming://highlights', 'commonplace://highlights?limit=1']) {
      const { contents } = await readAt(uri)
      expect(contents).toEqual([{ uri, mimeType: 'application/json', text: expect.any(String) }])
      expect(JSON.parse((contents[0] as { text: string }).text)).toMatchObject({
        highlights: [{ content: 'One', source: { title: 'Salt' } }],
      })
    }
  })

  it('that is not there is an error of its own, with our failure as its data', async () => {
    for (const [uri, code] of [
      ['becoming://highlights/12', 'highlight-not-found'],
      ['commonplace://sources/12', 'source-not-found'],
      ['becoming://notes/12', 'note-not-found'],
      ['becoming://shelves', 'address-not-found'],
      ['https://example.org/', 'address-not-found'],
    ]) {
      const error = await errorOf(readAt(uri!))
      expect(error).toBeInstanceOf(ResourceNotFound)
      expect(error).toMatchObject({ code: -32602, data: { uri, code, hint: expect.any(String) } })
    }
  })

  it('that may not be read, or not so, is an internal error with our failure as its data', async () => {
    expect(await errorOf(readAt('becoming://notes', { scopes: ['highlights:read'] }))).toMatchObject({
      code: -32603,
      data: { code: 'insufficient-scope', missing: ['notes:read'], error: { number: -32002 } },
    })
    expect(await errorOf(readAt('becoming://notes?limit=900'))).toMatchObject({
      code: -32603,
      data: { code: 'invalid-input', error: { number: -32011 } },
    })
    expect(logged).toEqual([])
  })

  it('is offered with its family alone', async () => {
    const app = appOf({ resources: [] })
    expect([app.readResource, app.resources]).toEqual([undefined, undefined])
    const some = { resources: READABLE.filter(({ definition }) => definition.name !== 'notes') }
    expect(await errorOf(readAt('becoming://notes', some))).toMatchObject({
      data: { code: 'address-not-found' },
    })
    expect(
      await errorOf(completed({ type: 'ref/resource', uri: 'becoming://notes' }, 'id', '', some)),
    ).toMatchObject({
      code: -32602,
    })
  })

  it('of a library that cannot be opened is an error that says so', async () => {
    const app = createApp({
      version: '0',
      definitions: DEFINITIONS,
      resources: READABLE,
      engine: async () => {
        throw new Failure('library_locked', 'Busy.', { hint: 'Try again in a moment.' })
      },
      onError: (error) => void logged.push(error),
    })
    const error = await errorOf(app.readResource!('becoming://notes', context()))
    expect(error).toMatchObject({
      code: -32603,
      data: { code: 'library-locked', hint: 'Try again in a moment.' },
    })
  })

  it('that fails by a fault of ours is logged, and nothing of it is told', async () => {
    const app = createApp({
      version: '0',
      definitions: DEFINITIONS,
      resources: READABLE,
      engine: async () => {
        throw new Error('SECRET-PATH')
      },
      onError: (error) => void logged.push(error),
    })
    const error = await errorOf(app.readResource!('becoming://notes', context()))
    expect(error).toMatchObject({ code: -32603, data: { code: 'internal-error' } })
    expect(JSON.stringify([error.message, error.data])).not.toContain('SECRET')
    expect(logged).toHaveLength(1)
  })
})

describe('completion', () => {
  const template = (what: string) => ({ type: 'ref/resource' as const, uri: `becoming://${what}/{id}` })
  const prompt = (name: string) => ({ type: 'ref/prompt' as const, name })

  it('gives the latest ids that begin with what was typed', async () => {
    const ids: string[] = []
    for (let n = 0; n < 12; n++) ids.unshift(String(await addTestSource(library, { title: `Source ${n}` })))
    await library.change((change) => change.update('source', Number(ids[3]), { trashed_at: change.at }))
    const there = ids.filter((_id, index) => index !== 3)
    expect(await completed(template('sources'), 'id', '')).toEqual(there)
    expect(await completed({ type: 'ref/resource', uri: 'commonplace://sources/{id}' }, 'id', '')).toEqual(
      there,
    )
    expect(await completed(template('sources'), 'id', there[0]!)).toEqual([there[0]])
    const stem = there[0]!.slice(0, -1)
    expect(await completed(template('sources'), 'id', stem)).toEqual(
      there.filter((id) => id.startsWith(stem)),
    )
    for (const typed of ['%', '_', '-1', 'x', '0'.repeat(30)]) {
      expect(await completed(template('sources'), 'id', typed)).toEqual([])
    }
    expect(await completed(template('sources'), 'limit', '')).toEqual([])
  })

  it('gives one more than a hundred, so that it is seen that there are more', async () => {
    await addTestSource(library, {
      title: 'Salt',
      highlights: Array.from({ length: 120 }, (_, n) => `Words ${n}`),
    })
    expect(await completed(template('highlights'), 'id', '')).toHaveLength(101)
  })

  it('gives nothing to whoever may not read it, and private notes to nobody without their scope', async () => {
    await addTestSource(library, {
      title: 'Salt',
      highlights: ['One'],
      comments: ['Open'],
      bookNotes: ['Private'],
    })
    expect(await completed(template('highlights'), 'id', '', { scopes: ['notes:read'] })).toEqual([])
    expect(await completed(template('notes'), 'id', '')).toHaveLength(2)
    expect(await completed(template('notes'), 'id', '', { scopes: ['notes:read'] })).toHaveLength(1)
    expect(await completed(prompt('quiz_source'), 'source', '', { scopes: ['notes:read'] })).toEqual([])
  })

  it('finds titles by their words, begun or whole, and authors', async () => {
    const first = await addTestSource(library, { title: 'The Book of Salt', authors: ['Monique Truong'] })
    await addTestSource(library, { title: 'Salt: A World History' })
    await addTestSource(library, { title: '鹽的世界史' })
    const second = await addTestSource(library, { title: 'The Book of Salt' })
    const source = (typed: string) => completed(prompt('recap_book'), 'source', typed)
    expect(await source('')).toEqual([
      'The Book of Salt',
      '鹽的世界史',
      'Salt: A World History',
      String(first),
    ])
    expect(await source('world hist')).toEqual(['Salt: A World History'])
    expect(await source('truong')).toEqual(['The Book of Salt'])
    expect(await source('鹽的')).toContain('鹽的世界史')
    expect((await source('book of')).toSorted()).toEqual(
      ['The Book of Salt', expect.stringMatching(new RegExp(`^(${first}|${second})$`))].toSorted(),
    )
    // Nothing that is typed is an operator of a search.
    expect(await source('-salt "')).toHaveLength(3)
    expect(await source('sált wörld')).toEqual(['Salt: A World History'])
    expect(await source('salt pepper')).toEqual([])
  })

  it('knows no other name', async () => {
    for (const ref of [prompt('nothing'), template('shelves'), prompt('__proto__')])
      expect(await errorOf(completed(ref, 'id', ''))).toMatchObject({ code: -32602 })
    expect(await completed(prompt('quiz_source'), 'constructor', '')).toEqual([])
  })
})

describe('a prompt', () => {
  const getPrompt = async (name: string, args: Record<string, string> = {}, offering?: Offering) =>
    (await appOf(offering).getPrompt!(name, args, context())) as PromptResult

  it('is offered where the tools are that it tells of', () => {
    expect(appOf().prompts?.map(({ name }) => name)).toEqual([
      'review_highlights',
      'recap_book',
      'triage_unread',
      'quiz_source',
    ])
    expect(appOf({ tools: ['read_item'] }).prompts?.map(({ name }) => name)).toEqual(['recap_book'])
    expect(appOf({ tools: [] }).getPrompt).toBeUndefined()
  })

  it('holds our words first, then the resource', async () => {
    const id = await addTestSource(library, { title: 'Salt', highlights: ['One'] })
    const { messages, description } = await getPrompt('quiz_source', { source: 'salt', limit: '3' })
    expect(description).toMatch(/^Asks you/)
    expect(messages).toMatchObject([
      { role: 'user', content: { type: 'text', text: expect.stringContaining('Quiz me on "Salt"') } },
      { role: 'user', content: { type: 'resource', resource: { uri: `becoming://sources/${id}` } } },
    ])
  })

  it('that cannot be filled in says what to mend, as the error for wrong parameters', async () => {
    expect(await errorOf(getPrompt('quiz_source', { source: 'Pepper' }))).toMatchObject({
      code: -32602,
      data: { code: 'source-not-found' },
    })
    for (const args of [{ limit: 'many' }, { limit: '0' }, { pages: '1' }] as Record<string, string>[]) {
      expect(await errorOf(getPrompt('review_highlights', args))).toMatchObject({
        code: -32602,
        data: { code: 'invalid-input' },
      })
    }
  })
})
