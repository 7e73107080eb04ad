/** Every resource and prompt, by their declarations: what is promised of them, and what nobody sees without its scope. */
import { readFileSync, readdirSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { beforeAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { SCOPES, type AnyTool, type Scope } from '../../src/core/define-tool.ts'
import { Failure } from '../../src/core/failure.ts'
import type { Library } from '../../src/core/library.ts'
import { describePrompt, describeResource } from '../../src/mcp/describe-reading.ts'
import { complete } from '../../src/tools/complete.ts'
import { composePrompt } from '../../src/tools/compose-prompt.ts'
import { PROMPTS } from '../../src/tools/prompts.ts'
import { callTool } from '../../src/tools/call-tool.ts'
import { TOOLS } from '../../src/tools/registry.ts'
import { RESOURCES } from '../../src/tools/resources.ts'
import { failureOfReading, read } from '../support/call.ts'
import { testLibrary } from '../support/library.ts'
import { addTestSource } from '../support/search.ts'

const folder = (kind: string): URL => new URL(`golden/${kind}/`, import.meta.url)

/** With the fields that it gives, which clients come to rely on. */
const resourceFile = (resource: (typeof RESOURCES)[number]) => ({
  definition: describeResource(resource),
  scopes: resource.scopes,
  output: z.toJSONSchema(resource.output, { reused: 'inline' }),
})

const GOLDEN = [
  ...RESOURCES.map((one) => ['resources', one.name, resourceFile(one)] as const),
  ...PROMPTS.map((one) => ['prompts', one.name, describePrompt(one)] as const),
]

// `GOLDEN_WRITE=1 npx vitest run test/contract` writes what is here now: look at the difference before it is committed.
it.each(GOLDEN)('%s: %s is defined as its golden file says', (kind, name, made) => {
  const file = fileURLToPath(new URL(`${name}.json`, folder(kind)))
  const written = `${JSON.stringify(made, null, 2)}\n`
  if (process.env['GOLDEN_WRITE']) writeFileSync(file, written)
  expect(JSON.parse(readFileSync(file, 'utf8'))).toEqual(JSON.parse(written))
})

it('and there is no golden file of anything else', () => {
  const files = ['resources', 'prompts'].flatMap((kind) =>
    readdirSync(folder(kind)).map((file) => `${kind}/${file}`),
  )
  expect(files.toSorted()).toEqual(GOLDEN.map(([kind, name]) => `${kind}/${name}.json`).toSorted())
})

it('the resources are three lists and three templates, with the scopes that they are documented with', () => {
  expect(Object.fromEntries(RESOURCES.map(({ uri, scopes }) => [uri, scopes]))).toEqual({
    'becoming://highlights': ['highlights:read'],
    'becoming://highlights/{id}': ['highlights:read'],
    'becoming://sources': ['sources:read'],
    'becoming://sources/{id}': ['sources:read'],
    'becoming://notes': ['notes:read'],
    'becoming://notes/{id}': ['notes:read'],
  })
})

it.each([...RESOURCES, ...PROMPTS].map((one) => [one.name, one] as const))(
  '%s is described for someone who has never seen us',
  (_name, { title, description, input }) => {
    expect(title).toMatch(/^[A-Z]/)
    expect(description.length).toBeGreaterThan(40)
    expect(description.length).toBeLessThan(400)
    expect(z.toJSONSchema(input)).toMatchObject({ additionalProperties: false })
  },
)

it.each(PROMPTS.map((one) => [one.name, one] as const))('%s describes its arguments', (_name, prompt) => {
  for (const argument of describePrompt(prompt).arguments ?? []) {
    expect(argument.description?.length).toBeGreaterThan(10)
  }
})

/** Where a reader writes what is private, and the scope that it takes to see it. */
const PRIVATE: Record<string, Scope> = { 'BOOK-NOTE': 'library:private', REVIEW: 'library:private' }

/** What is shown with a scope of its own. */
const SHOWN: Record<string, Scope> = { QUOTE: 'highlights:read', COMMENT: 'notes:read' }

describe('what has a scope of its own', () => {
  let library: Library
  const ids: Record<string, number[]> = {}
  beforeAll(async () => {
    library = await testLibrary()
    const source = await addTestSource(library, {
      title: 'Salt',
      kind: 'book',
      text: 'Some text.',
      highlights: ['QUOTE'],
      comments: ['COMMENT'],
      bookNotes: ['BOOK-NOTE'],
      status: 'want_to_read',
    })
    await library.change(async (change) => {
      const reads = await change.db.selectFrom('read').select('id').where('source_id', '=', source).execute()
      for (const { id } of reads) await change.update('read', id, { review: 'REVIEW', rating: 18 })
    })
    for (const table of ['source', 'highlight', 'note', 'read', 'text'] as const) {
      const rows = await library.db
        .selectFrom(table as 'source')
        .select('id')
        .execute()
      ids[table] = rows.map(({ id }) => id)
    }
  })

  /** What a caller who pries would give: every id, and the private words themselves. */
  function* argumentsOf({ input }: AnyTool): Generator<Record<string, unknown>> {
    const { shape } = input
    const choices = 'id' in shape ? Object.values(ids).flat() : [undefined]
    const words = ['Salt', ...Object.keys(PRIVATE), ...Object.keys(SHOWN)]
    const field = ['query', 'q'].find((name) => name in shape)
    const formats = 'format' in shape ? ['markdown', 'summary'] : [undefined]
    for (const id of choices)
      for (const word of field === undefined ? [undefined] : words)
        for (const format of formats)
          yield {
            ...(id !== undefined && { id: String(id) }),
            ...(field !== undefined && { [field]: word }),
            ...(format !== undefined && { format }),
          }
  }

  /** Everything that tools that read, resources, completions and prompts give with these scopes. */
  async function everything(scopes: readonly Scope[]): Promise<string> {
    const told: unknown[] = []
    const call = { scopes: new Set(scopes), signal: new AbortController().signal, progress: () => {} }
    const attempt = async (work: () => Promise<unknown>) => {
      try {
        told.push(await work())
      } catch (error) {
        if (!(error instanceof Failure)) throw error
        told.push(error.toJSON())
      }
    }
    for (const tool of TOOLS.filter(({ effect }) => effect === 'read'))
      for (const args of argumentsOf(tool))
        await attempt(
          async () => (await callTool(tool, library, args, { ...call, connection: 'test' })).output,
        )
    for (const resource of RESOURCES) {
      for (const id of resource.uri.includes('{id}') ? Object.values(ids).flat() : [0])
        await attempt(() => read(library, resource.uri.replace('{id}', String(id)), { scopes }))
      await attempt(() => complete({ resource }, { name: 'id', value: '' }, library, call))
    }
    for (const prompt of PROMPTS) {
      const needed = describePrompt(prompt).arguments?.filter(({ required }) => required) ?? []
      const args = Object.fromEntries(needed.map(({ name }) => [name, 'Salt']))
      await attempt(() => composePrompt(prompt, args, library, call))
      for (const { name } of describePrompt(prompt).arguments ?? [])
        for (const value of ['', 'S', 'REVIEW', 'BOOK', 'QUOTE'])
          await attempt(() => complete({ prompt }, { name, value }, library, call))
    }
    return JSON.stringify(told)
  }

  it.each(Object.entries(PRIVATE))('%s appears nowhere with every scope but %s', async (marker, scope) => {
    expect(await everything(SCOPES.filter((one) => one !== scope))).not.toContain(marker)
  })

  it.each(Object.entries(SHOWN))(
    '%s appears with %s, and nowhere with every scope but that',
    async (marker, scope) => {
      expect(await everything([scope])).toContain(marker)
      expect(await everything(SCOPES.filter((one) => one !== scope))).not.toContain(marker)
    },
  )

  it('is given where all may be read, but for what no resource is about', async () => {
    const told = await everything(SCOPES)
    for (const marker of ['QUOTE', 'COMMENT', 'BOOK-NOTE']) expect(told).toContain(marker)
    expect(told).not.toContain('REVIEW')
  })

  it('of a private note not even the number is told', async () => {
    const told = await everything(SCOPES.filter((scope) => scope !== 'library:private'))
    const notes = await library.db.selectFrom('note').select(['id', 'kind']).execute()
    for (const { id, kind } of notes) expect(told.includes(`"id":${id}`)).toBe(kind === 'comment')
  })
})

describe.each(RESOURCES.map((resource) => [resource.uri, resource] as const))('%s', (uri, resource) => {
  const address = uri.replace('{id}', '1')

  it('refuses to be read without its scopes', async () => {
    for (const missing of resource.scopes) {
      const scopes = SCOPES.filter((scope) => scope !== missing)
      expect((await failureOfReading(await testLibrary(), address, { scopes })).error).toMatchObject({
        code: 'insufficient_scope',
        details: { missing: [missing] },
      })
    }
  })

  it('refuses what it does not take', async () => {
    const failure = await failureOfReading(await testLibrary(), `${address}?unheardOf=1`)
    expect(failure.error).toMatchObject({
      code: 'invalid_input',
      message: expect.stringContaining('unheardOf'),
    })
  })
})
