import { expect, it } from 'vitest'
import { Failure } from '../core/failure.ts'
import { createJsonLog } from './json-log.ts'

function logged(debug: boolean, error: unknown): Record<string, unknown> {
  const lines: string[] = []
  createJsonLog({ write: (line) => lines.push(line), debug, now: () => new Date(0) }).error(error, 'tool')
  expect(lines).toHaveLength(1)
  expect(lines[0]!.indexOf('\n')).toBe(lines[0]!.length - 1)
  return JSON.parse(lines[0]!) as Record<string, unknown>
}

it('says what kind of error it was and where, and none of its words', () => {
  const secret = 'what the reader\n    at wrote (diary.ts:1:1)'
  const error = new Failure('fetch_failed', secret, { hint: secret, cause: new TypeError(secret) })
  const line = logged(false, error)
  expect(line).toMatchObject({
    time: '1970-01-01T00:00:00.000Z',
    level: 'error',
    where: 'tool',
    error: 'Failure',
    code: 'fetch_failed',
    cause: { error: 'TypeError' },
  })
  expect(JSON.stringify(line)).not.toContain('what the reader')
  expect(line['at']).toContainEqual(expect.stringContaining('json-log.test.ts'))
})

it('gives the words where they are asked for, and takes whatever is thrown', () => {
  expect(logged(true, new Error('a word'))).toMatchObject({ message: 'a word' })
  expect(logged(false, 'thrown text')).toMatchObject({ error: 'string' })
})
