import { describe, expect, it } from 'vitest'
import { meta } from '../../../test/protocol/wire.ts'
import { Context, type Caller } from './context.ts'

const request = (params = {}) => ({ kind: 'request' as const, id: 1, method: 'tools/call', params })
const modern: Caller = { revision: '2026-07-28', capabilities: {} }

describe('Context', () => {
  it('is one request over all its rounds: what cancels the first cancels the next', () => {
    const first = new Context(request(), modern)
    const second = first.withAnswers({ inputResponses: { sure: { action: 'accept' } }, requestState: 's' })
    expect(second).toMatchObject({ inputResponses: { sure: { action: 'accept' } }, requestState: 's' })
    first.cancel()
    expect([second.cancelled, second.signal.aborted]).toEqual([true, true])
  })

  it('gives a signal that tells of a cancelling before and after it was asked for', () => {
    const early = new Context(request(), modern)
    const { signal } = early
    early.cancel()
    const late = new Context(request(), modern)
    late.cancel()
    expect([signal.aborted, late.signal.aborted]).toEqual([true, true])
  })

  it('sends nothing once it is answered or cancelled, and cannot be cancelled after its answer', () => {
    const lines: string[] = []
    const caller: Caller = { ...modern, logLevel: 'debug', notify: (line) => lines.push(line) }
    const withToken = request({ _meta: { ...meta, progressToken: 0 } })
    for (const stop of ['end', 'cancel'] as const) {
      const context = new Context(withToken, caller)
      context.progress(1)
      context[stop]()
      context.progress(2)
      context.log('error', 'too late')
      context.cancel()
      expect(context.cancelled).toBe(stop === 'cancel')
    }
    expect(lines.map((line): unknown => JSON.parse(line))).toMatchObject(
      [1, 1].map((progress) => ({ params: { progressToken: 0, progress } })),
    )
  })

  it('says whether the client can be asked', () => {
    const canAsk = (capabilities: Caller['capabilities'], more: Partial<Caller> = {}) =>
      new Context(request(), { ...modern, capabilities, ...more }).canAsk()
    expect(canAsk({})).toBe(false)
    expect(canAsk({ elicitation: {} })).toBe(true)
    expect(canAsk({ elicitation: { form: {}, url: {} } })).toBe(true)
    expect(canAsk({ elicitation: { url: {} } })).toBe(false)
    const older: Partial<Caller> = { revision: '2025-11-25' }
    expect(canAsk({ elicitation: {} }, older)).toBe(false)
    expect(canAsk({ elicitation: {} }, { ...older, ask: async () => ({}) })).toBe(true)
  })

  it('names the capability that a request needs', () => {
    const context = new Context(request(), { ...modern, capabilities: { roots: {} } })
    expect(() => context.require('roots')).not.toThrow()
    const refused = { code: -32021, data: { requiredCapabilities: { sampling: {} } } }
    expect(() => context.require('sampling')).toThrow(expect.objectContaining(refused))
  })
})
