import { expect, it } from 'vitest'
import { Failure } from '../core/failure.ts'
import { readLocalConfig } from './local.ts'

const youtube = (env: Record<string, string>) =>
  readLocalConfig({ COMMONPLACE_LIBRARY: '/nowhere', ...env }).youtube

it('is asked as the program knows, unless told otherwise', () => {
  expect(youtube({})).toBeUndefined()
  expect(
    youtube({
      COMMONPLACE_YOUTUBE_URL: 'http://127.0.0.1:9/x',
      COMMONPLACE_YOUTUBE_CLIENTS: 'IOS, WEB:2.2026.01,',
    }),
  ).toEqual({
    origin: 'http://127.0.0.1:9',
    clients: [{ name: 'IOS' }, { name: 'WEB', version: '2.2026.01' }],
  })
})

it.each([
  { COMMONPLACE_YOUTUBE_URL: 'youtube' },
  { COMMONPLACE_YOUTUBE_URL: 'ftp://example.test' },
  { COMMONPLACE_YOUTUBE_CLIENTS: 'PHONE' },
  { COMMONPLACE_YOUTUBE_CLIENTS: 'IOS:new' },
])('refuses %j and says which variable', (env) => {
  expect(() => youtube(env)).toThrow(Failure)
  expect(() => youtube(env)).toThrow(Object.keys(env)[0])
})
