import { expect, it } from 'vitest'
import { Failure } from '../core/failure.ts'
import { noteRequest } from '../http/request-id.ts'
import { createServerLog, type ServerLog } from './server-log.ts'

function logged(debug: boolean, tell: (log: ServerLog) => void): Record<string, unknown>[] {
  const lines: string[] = []
  tell(createServerLog({ destination: { write: (line) => void lines.push(line) }, debug }))
  for (const line of lines) expect(line.indexOf('\n')).toBe(line.length - 1)
  return lines.map((line) => JSON.parse(line) as Record<string, unknown>)
}

it('says what kind of error it was and where, and none of its words', () => {
  const secret = 'what the reader\n    at wrote (diary.ts:1:1)'
  const error = new Failure('fetch_failed', secret, { hint: secret, cause: new TypeError(secret) })
  const [line] = logged(false, (log) => log.error(error, 'tool'))
  expect(line).toMatchObject({
    time: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
    level: 'error',
    msg: 'failed',
    where: 'tool',
    error: 'Failure',
    code: 'fetch_failed',
    cause: { error: 'TypeError' },
  })
  expect(JSON.stringify(line)).not.toMatch(/what the reader|diary/)
  expect(line?.['at']).toContainEqual(expect.stringContaining('server-log.test.ts'))
})

it('gives the words where they are asked for, and takes whatever is thrown', () => {
  expect(logged(true, (log) => log.error(new Error('a word'), 'tool'))).toMatchObject([{ message: 'a word' }])
  for (const thrown of ['thrown text', null, undefined, 3])
    expect(JSON.stringify(logged(false, (log) => log.error(thrown, 'tool')))).not.toContain('thrown text')
})

it('takes no sentence for a code', () => {
  const error = Object.assign(new Error('no'), { code: 'a private word' })
  expect(JSON.stringify(logged(false, (log) => log.error(error, 'tool')))).not.toContain('private')
})

it('names the request that an error came up in', () => {
  const error = new Error('no')
  noteRequest(error, 'abc-1')
  expect(logged(false, (log) => log.error(error, 'tool'))).toMatchObject([{ request: 'abc-1' }])
})

it('keeps to itself what is of interest only where a fault is looked for', () => {
  const tell = (log: ServerLog): void => log.debug('woken')
  expect(logged(false, tell)).toEqual([])
  expect(logged(true, tell)).toMatchObject([{ level: 'debug', msg: 'woken' }])
})
