import { describe, expect, it } from 'vitest'
import { judgeRefetch } from './refetch-guard.ts'

const text = (words: number) => ({ plain: 'word '.repeat(words), words })

describe('a text that was captured again', () => {
  it('is the current one where there was none', () => {
    expect(judgeRefetch(undefined, text(3))).toBe('current')
  })
  it('is no new version where its words are the same', () => {
    expect(judgeRefetch(text(500), text(500))).toBe('unchanged')
  })
  it('takes over where it grew or shrank a little', () => {
    expect(judgeRefetch(text(500), text(700))).toBe('current')
    expect(judgeRefetch(text(500), text(51))).toBe('current')
  })
  it('never takes over where it is empty or ten times shorter', () => {
    expect(judgeRefetch(text(500), text(0))).toBe('kept')
    expect(judgeRefetch(text(500), text(50))).toBe('kept')
  })
})
