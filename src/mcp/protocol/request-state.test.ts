import { describe, expect, it } from 'vitest'
import { RequestState } from './request-state.ts'

describe('RequestState', () => {
  it('opens what it sealed, for the same request of the same reader', () => {
    const state = new RequestState()
    const sealed = state.seal({ step: 2, title: 'é' }, 'reader-1 remove_book')
    expect(state.open(sealed, 'reader-1 remove_book')).toEqual({ step: 2, title: 'é' })
  })

  it('opens nothing else', () => {
    const state = new RequestState()
    const sealed = state.seal({ step: 2 }, 'reader-1')
    const [body = '', mac = ''] = sealed.split('.')
    const other = Buffer.from(JSON.stringify({ value: 1, until: 1e15 })).toString('base64url')
    const refused = expect.objectContaining({ code: -32602 })
    for (const [forged, boundTo] of [
      [sealed, 'reader-2'],
      [`${other}.${mac}`, 'reader-1'],
      [body, 'reader-1'],
      ['', 'reader-1'],
      [`${sealed}x`, 'reader-1'],
      [new RequestState().seal({ step: 2 }, 'reader-1'), 'reader-1'],
    ] as const) {
      expect(() => state.open(forged, boundTo)).toThrow(refused)
    }
  })

  it('lapses', () => {
    const state = new RequestState({ ttlMs: -1 })
    expect(() => state.open(state.seal(1, 'a'), 'a')).toThrow(/lapsed/)
  })
})
