import { existsSync, readFileSync, readdirSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { indexTools } from '../../src/mcp/protocol/definitions.ts'
import { describeTool } from '../../src/mcp/describe-tool.ts'
import { TOOLS } from '../../src/tools/registry.ts'
import { failureOfCall } from '../support/call.ts'
import { testLibrary } from '../support/library.ts'

const golden = (name: string): string => fileURLToPath(new URL(`golden/${name}.json`, import.meta.url))

/** Whatever a schema wants, so that only what a test leaves out or adds can be wrong. */
function fitting(schema: Record<string, unknown>): unknown {
  if ('const' in schema) return schema['const']
  if (Array.isArray(schema['enum'])) return schema['enum'][0]
  if (schema['type'] === 'integer' || schema['type'] === 'number') return schema['minimum'] ?? 1
  if (schema['type'] === 'boolean') return true
  if (schema['type'] === 'object') return requiredArguments(schema)
  if (schema['type'] === 'array')
    return Number(schema['minItems'] ?? 0) > 0 ? [fitting(schema['items'] as Record<string, unknown>)] : []
  return '1'
}

function requiredArguments(inputSchema: Record<string, unknown>): Record<string, unknown> {
  const properties = inputSchema['properties'] as Record<string, Record<string, unknown>>
  const required = (inputSchema['required'] ?? []) as string[]
  return Object.fromEntries(required.map((name) => [name, fitting(properties[name] ?? {})]))
}

it('every tool has a golden definition, and no other has', () => {
  const names = readdirSync(fileURLToPath(new URL('golden', import.meta.url)))
    .filter((file) => file.endsWith('.json'))
    .map((file) => file.replace('.json', ''))
  if (!process.env['GOLDEN_WRITE']) expect(names.toSorted()).toEqual(TOOLS.map(({ name }) => name).toSorted())
})

it('the ten tools for highlights and sources are there, with the scopes that they are documented with', () => {
  const own = TOOLS.filter(({ family, name }) => family === 'highlights' || name === 'get_academy_status')
  expect(Object.fromEntries(own.map(({ name, scopes }) => [name, scopes]))).toEqual({
    search_highlights: ['highlights:read'],
    list_sources: ['sources:read'],
    get_source: ['sources:read'],
    get_highlight: ['highlights:read'],
    export_highlights: ['highlights:read'],
    get_source_markdown: ['highlights:read'],
    get_import: ['sources:read'],
    get_academy_status: [],
    add_highlights: ['highlights:write'],
    add_source: ['sources:write'],
  })
})

it('the protocol core takes all of them', () => {
  expect(indexTools(TOOLS.map(describeTool)).size).toBe(TOOLS.length)
})

describe.each(TOOLS.map((tool) => [tool.name, tool] as const))('%s', (name, tool) => {
  const definition = describeTool(tool)
  const { inputSchema, outputSchema } = definition

  // `GOLDEN_WRITE=1 npx vitest run test/contract` writes what is here now: look at the difference before it is committed.
  it('is defined as its golden file says', () => {
    const written = `${JSON.stringify(definition, null, 2)}\n`
    if (process.env['GOLDEN_WRITE']) writeFileSync(golden(name), written)
    expect(existsSync(golden(name))).toBe(true)
    expect(JSON.parse(readFileSync(golden(name), 'utf8'))).toEqual(JSON.parse(written))
  })

  it('has schemas that every client takes', () => {
    for (const schema of [inputSchema, outputSchema ?? {}]) {
      expect(schema['type']).toBe('object')
      expect(schema['properties']).toBeTypeOf('object')
      for (const keyword of ['anyOf', 'oneOf', 'allOf', 'if', 'not', '$ref'])
        expect(schema).not.toHaveProperty(keyword)
      expect(JSON.stringify(schema)).not.toContain('"$ref"')
      // Read as draft 7, `items: false` beside it refuses every entry.
      expect(JSON.stringify(schema)).not.toContain('"prefixItems"')
    }
    expect(inputSchema['additionalProperties']).toBe(false)
    expect(outputSchema).not.toHaveProperty('required')
    expect(outputSchema).not.toHaveProperty('additionalProperties')
    expect(outputSchema?.['properties']).toMatchObject({ code: {}, hint: {}, error: {} })
  })

  it('is described for someone who has never seen us', () => {
    expect(definition.title).toMatch(/^[A-Z]/)
    expect(definition.description?.length).toBeGreaterThan(60)
    expect(definition.description?.length).toBeLessThan(700)
    for (const property of Object.values(
      inputSchema['properties'] as Record<string, { description?: string }>,
    )) {
      expect(property.description?.length).toBeGreaterThan(5)
    }
  })

  it('refuses an unknown argument', async () => {
    const failure = await failureOfCall(tool, await testLibrary(), {
      ...requiredArguments(inputSchema),
      unheardOf: 1,
    })
    expect(failure.error.code).toBe('invalid_input')
    expect(failure.error.message).toContain('unheardOf')
  })

  it('refuses to go without what it requires', async () => {
    for (const missing of (inputSchema['required'] ?? []) as string[]) {
      const { [missing]: _left, ...args } = requiredArguments(inputSchema)
      const failure = await failureOfCall(tool, await testLibrary(), args)
      expect(failure.error).toMatchObject({
        code: 'invalid_input',
        message: expect.stringContaining(missing),
      })
    }
  })

  if (tool.scopes.length > 0)
    it('refuses to go without its scopes', async () => {
      for (const missing of tool.scopes) {
        const scopes = tool.scopes.filter((scope) => scope !== missing)
        const failure = await failureOfCall(tool, await testLibrary(), requiredArguments(inputSchema), {
          scopes,
        })
        expect(failure.error).toMatchObject({ code: 'insufficient_scope', details: { missing: [missing] } })
      }
    })

  if ('confirm' in (inputSchema['properties'] as object)) {
    const args = requiredArguments(inputSchema)
    it.each([
      ['confirm is a string', { ...args, confirm: 'true' }, 'confirm'],
      ['confirm is false', { ...args, confirm: false }, 'confirm'],
      ['confirm is 1', { ...args, confirm: 1 }, 'confirm'],
      ['user_intent is blank', { ...args, user_intent: ' \n' }, 'user_intent'],
    ])('writes nothing where %s', async (_what, given, field) => {
      const library = await testLibrary()
      const { error } = await failureOfCall(tool, library, given)
      expect(error).toMatchObject({
        code: 'invalid_input',
        number: -32011,
        message: expect.stringContaining(field),
      })
      for (const table of ['change_log', 'audit', 'job', 'import', 'request'] as const)
        expect(await library.db.selectFrom(table).selectAll().execute()).toEqual([])
    })
  }

  for (const field of Object.keys(inputSchema['properties'] as object).filter((one) => /(^|_)id$/.test(one)))
    it(`reads ${field} as digits and as a number`, async () => {
      for (const id of [77, '77']) {
        const failure = await failureOfCall(tool, await testLibrary(), {
          ...requiredArguments(inputSchema),
          ...('source' in (inputSchema['properties'] as object) && { highlights: [{ content: 'words' }] }),
          [field]: id,
        })
        expect(failure.error.number).toBe(-32003)
      }
    })

  if (tool.effect !== 'read')
    it('takes a requestId', () => {
      expect(inputSchema['properties']).toHaveProperty('requestId')
    })
})

it('the whole list stays small', () => {
  expect(JSON.stringify(TOOLS.map(describeTool)).length).toBeLessThan(60_000)
})
