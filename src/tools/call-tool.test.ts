import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { call, failureOfCall } from '../../test/support/call.ts'
import { testLibrary } from '../../test/support/library.ts'
import { defineTool } from '../core/define-tool.ts'
import { Failure } from '../core/failure.ts'
import { idText } from '../core/ids.ts'
import { text } from '../core/text.ts'

/** A tool that writes one tag and can be told to fail or to wait. */
function tagTool({ reachesOut = false } = {}) {
  const runs: unknown[] = []
  const gate = { wait: Promise.resolve(), fail: false }
  const tool = defineTool({
    name: 'make_tag',
    family: 'extras',
    title: 'Make a tag',
    description: 'Makes a tag.',
    input: z.strictObject({
      name: text({ max: 20 }),
      count: z.int().min(1).max(5).optional(),
      id: idText('An id').optional(),
    }),
    output: z.object({ id: z.number(), name: z.string() }),
    scopes: ['sources:write'],
    effect: 'write',
    reachesOut,
    summary: ({ name }) => `Made ${name}.`,
    async run(library, input) {
      runs.push(input)
      await gate.wait
      if (gate.fail) throw new Failure('fetch_failed', 'No.', { hint: 'Try again.' })
      return library.answer(async (change) => {
        const id = await change.insert('tag', { name: input.name, name_key: `${input.name} ${runs.length}` })
        return { id, name: input.name }
      })
    },
  })
  return { tool, runs, gate }
}

describe('arguments', () => {
  it('are read strictly: an unknown one is named, with what the tool takes', async () => {
    const failure = await failureOfCall(tagTool().tool, await testLibrary(), { name: 'x', colour: 'red' })
    expect(failure).toMatchObject({ code: 'invalid-input', error: { code: 'invalid_input', number: -32011 } })
    expect(failure.error.message).toContain('"colour"')
    expect(failure.hint).toContain('name, count, id, requestId')
  })

  it.each([
    [{}, 'name is required'],
    [{ name: 7 }, 'name must be a string'],
    [{ name: 'x', count: 'many' }, 'count must be a'],
    [{ name: 'x', count: 9 }, 'count must be at most 5'],
    [{ name: 'x', count: 1.5 }, 'count must be'],
    [{ name: 'x'.repeat(21) }, 'name must have at most 20 characters'],
    [{ name: '' }, 'name must have at least 1'],
    [{ name: 'x', requestId: '' }, 'requestId must have at least 1'],
    [{ name: 'x', requestId: 'é' }, 'requestId must be printable ASCII'],
    [{ name: 'x', requestId: 'a'.repeat(129) }, 'requestId must have at most 128'],
  ])('%j: %s', async (args, message) => {
    const failure = await failureOfCall(tagTool().tool, await testLibrary(), args)
    expect(failure.error.code).toBe('invalid_input')
    expect(failure.error.message).toContain(message)
  })

  it('are read as numbers where a number was sent as digits, and never touched otherwise', async () => {
    const { tool, runs } = tagTool()
    const library = await testLibrary()
    await call(tool, library, { name: '00713', count: '3', id: 42 })
    expect(runs).toEqual([{ name: '00713', count: 3, id: '42' }])
    for (const count of ['3 ', '0x3', '03', '1e0', '']) {
      expect((await failureOfCall(tool, library, { name: 'x', count })).error.code).toBe('invalid_input')
    }
  })
})

describe('scopes', () => {
  it('that are missing are named', async () => {
    const failure = await failureOfCall(
      tagTool().tool,
      await testLibrary(),
      { name: 'x' },
      { scopes: ['sources:read'] },
    )
    expect(failure).toMatchObject({
      error: { code: 'insufficient_scope', number: -32002, details: { missing: ['sources:write'] } },
    })
  })
})

describe('an output that breaks its schema', () => {
  it('is not committed', async () => {
    const library = await testLibrary()
    const broken = defineTool({
      name: 'broken',
      family: 'extras',
      title: 'Broken',
      description: 'Gives what it should not.',
      input: z.strictObject({}),
      output: z.object({ id: z.number().max(0) }),
      scopes: [],
      effect: 'write',
      summary: () => '',
      run: (on) =>
        on.answer(async (change) => ({ id: await change.insert('tag', { name: 'x', name_key: 'x' }) })),
    })
    await expect(call(broken, library)).rejects.toThrow()
    expect(await library.db.selectFrom('tag').selectAll().execute()).toEqual([])
  })
})

for (const reachesOut of [false, true]) {
  describe(`requestId of a tool that ${reachesOut ? 'reaches out' : 'stays inside'}`, () => {
    it('gives the first result again and has one effect', async () => {
      const { tool } = tagTool({ reachesOut })
      const library = await testLibrary()
      const first = await call(tool, library, { name: 'x', requestId: 'r1' })
      const second = await call(tool, library, { requestId: 'r1', name: 'x' })
      expect(second).toEqual(first)
      expect(await library.db.selectFrom('tag').selectAll().execute()).toHaveLength(1)
      expect(await call(tool, library, { name: 'x', requestId: 'r2' })).not.toEqual(first)
    })

    it('with other arguments is refused', async () => {
      const { tool } = tagTool({ reachesOut })
      const library = await testLibrary()
      await call(tool, library, { name: 'x', requestId: 'r1' })
      const failure = await failureOfCall(tool, library, { name: 'y', requestId: 'r1' })
      expect(failure.error.code).toBe('invalid_input')
      expect(failure.error.message).toContain('other arguments')
    })

    it('is free again after a failure', async () => {
      const { tool, gate } = tagTool({ reachesOut })
      const library = await testLibrary()
      gate.fail = true
      expect((await failureOfCall(tool, library, { name: 'x', requestId: 'r1' })).error.code).toBe(
        'fetch_failed',
      )
      gate.fail = false
      expect(await call(tool, library, { name: 'mended', requestId: 'r1' })).toMatchObject({ name: 'mended' })
    })

    it('twice at once has one effect', async () => {
      const { tool } = tagTool({ reachesOut })
      const library = await testLibrary()
      const calls = await Promise.allSettled(
        [1, 2, 3].map(() => call(tool, library, { name: 'x', requestId: 'r1' })),
      )
      const outputs = calls.flatMap((result) =>
        result.status === 'fulfilled' ? [JSON.stringify(result.value)] : [],
      )
      const failures = calls.flatMap((result) =>
        result.status === 'rejected' ? [(result.reason as Failure).code] : [],
      )
      expect(new Set(outputs).size).toBe(1)
      expect(failures.every((code) => code === 'in_progress')).toBe(true)
      expect(await library.db.selectFrom('tag').selectAll().execute()).toHaveLength(1)
    })

    it('is forgotten after a day', async () => {
      const { tool } = tagTool({ reachesOut })
      let now = new Date('2026-03-01T12:00:00Z')
      const library = await testLibrary({ now: () => now })
      const first = await call(tool, library, { name: 'x', requestId: 'r1' })
      now = new Date('2026-03-02T11:59:00Z')
      expect(await call(tool, library, { name: 'x', requestId: 'r1' })).toEqual(first)
      now = new Date('2026-03-02T12:01:00Z')
      expect(await call(tool, library, { name: 'x', requestId: 'r1' })).not.toEqual(first)
    })
  })
}

it('a call that reaches out and died is tried again once its lease is over', async () => {
  const { tool, gate, runs } = tagTool({ reachesOut: true })
  let now = new Date('2026-03-01T12:00:00Z')
  const library = await testLibrary({ now: () => now })
  let open = (): void => {}
  gate.wait = new Promise((resolve) => (open = resolve))
  const stuck = call(tool, library, { name: 'x', requestId: 'r1' })
  await expect.poll(() => runs).toHaveLength(1)
  expect(await failureOfCall(tool, library, { name: 'x', requestId: 'r1' })).toMatchObject({
    error: { code: 'in_progress', retryAfterSeconds: 5 },
  })
  now = new Date('2026-03-01T12:06:00Z')
  const taken = call(tool, library, { name: 'x', requestId: 'r1' })
  open()
  expect(await taken).toEqual(await stuck)
  expect(await library.db.selectFrom('tag').selectAll().execute()).toHaveLength(1)
})

it('a call that fails after its lease was over leaves the claim to the one that took it', async () => {
  const { tool, gate, runs } = tagTool({ reachesOut: true })
  let now = new Date('2026-03-01T12:00:00Z')
  const library = await testLibrary({ now: () => now })
  const gates: (() => void)[] = []
  const waiting = () => (gate.wait = new Promise((resolve) => gates.push(resolve)))
  waiting()
  const slow = failureOfCall(tool, library, { name: 'x', requestId: 'r1' })
  await expect.poll(() => runs).toHaveLength(1)
  now = new Date('2026-03-01T12:06:00Z')
  waiting()
  const taker = call(tool, library, { name: 'x', requestId: 'r1' })
  await expect.poll(() => runs).toHaveLength(2)
  gate.fail = true
  gates[0]!()
  expect((await slow).error.code).toBe('fetch_failed')
  gate.fail = false
  const third = await failureOfCall(tool, library, { name: 'x', requestId: 'r1' })
  expect(third.error.code).toBe('in_progress')
  gates[1]!()
  await taker
  expect(await library.db.selectFrom('tag').selectAll().execute()).toHaveLength(1)
})
