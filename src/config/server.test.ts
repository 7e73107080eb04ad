import { describe, expect, it } from 'vitest'
import { Failure } from '../core/failure.ts'
import { explainServerConfig, readServerConfig } from './server.ts'

const refusal = (env: NodeJS.ProcessEnv): string => {
  try {
    readServerConfig(env)
  } catch (error) {
    if (error instanceof Failure) return error.message
    throw error
  }
  throw new Error('it was read')
}

describe('the configuration of the server', () => {
  it('needs none: one reader, whose library is the local one', () => {
    const config = readServerConfig({ XDG_DATA_HOME: '/data', HOME: '/home/a' })
    expect(config).toMatchObject({ publicUrl: undefined, host: '127.0.0.1', port: 3210 })
    expect(config.reads).toEqual({ perMinute: 60, perDay: 2_000 })
    expect(config.writes).toEqual({ perMinute: 30, perDay: 500 })
    expect(config.firstLibrary).toBe(config.local.library)
    expect(config.dataFolder).toBe(config.local.library)
  })

  it('keeps the first library in the data folder, unless it is said to lie elsewhere', () => {
    expect(readServerConfig({ COMMONPLACE_DATA: '/srv/c' }).firstLibrary).toBe('/srv/c')
    const apart = readServerConfig({ COMMONPLACE_DATA: '/srv/c', COMMONPLACE_LIBRARY: '/home/a/books' })
    expect(apart).toMatchObject({ dataFolder: '/srv/c', firstLibrary: '/home/a/books' })
    expect(readServerConfig({ COMMONPLACE_LIBRARY: '/a' }, { library: '/b' })).toMatchObject({
      dataFolder: '/b',
      firstLibrary: '/b',
    })
  })

  it.each([
    ['https://Books.example.org/', 'https://books.example.org'],
    ['http://localhost:8080', 'http://localhost:8080'],
    ['', undefined],
  ])('takes %j as the public address', (given, origin) => {
    expect(readServerConfig({ COMMONPLACE_URL: given }).publicUrl).toBe(origin)
  })

  it.each([
    { COMMONPLACE_URL: 'books.example.org' },
    { COMMONPLACE_URL: 'https://example.org/books' },
    { COMMONPLACE_URL: 'https://a:b@example.org' },
    { COMMONPLACE_URL: 'ftp://example.org' },
    { COMMONPLACE_PORT: '65536' },
    { COMMONPLACE_PORT: '-1' },
    { COMMONPLACE_PORT: '80a' },
    { COMMONPLACE_PORT: '1e3' },
    { COMMONPLACE_LOG: 'all' },
    { COMMONPLACE_READS_PER_MINUTE: '0' },
    { COMMONPLACE_WRITES_PER_DAY: 'many' },
    { COMMONPLACE_OPEN_LIBRARIES: '0' },
    { COMMONPLACE_HOSTS: 'a.example, b.example:80' },
    { COMMONPLACE_ORIGINS: 'inspector.example' },
    { COMMONPLACE_ORIGINS: 'https://a.example/path' },
    { COMMONPLACE_PROXIES: '11' },
    { COMMONPLACE_HOST: 'a host' },
  ])('stops at %j and names it', (env) => {
    const [name] = Object.keys(env)
    expect(refusal(env)).toMatch(new RegExp(`^${name} takes .+\\.$`))
  })

  it('lets the command line go before the environment', () => {
    expect(readServerConfig({ COMMONPLACE_PORT: '1' }, { port: '2' }).port).toBe(2)
  })

  it('explains every variable, and where it comes from', () => {
    const env = { COMMONPLACE_DATA: '/srv/c', COMMONPLACE_EMBEDDER: 'off' }
    const { settings, warnings } = explainServerConfig(readServerConfig(env, { port: '80' }), env, {
      port: '80',
    })
    expect(warnings).toEqual([])
    const by = Object.fromEntries(settings.map(({ name, value, from }) => [name, `${value} (${from})`]))
    expect(by).toMatchObject({
      COMMONPLACE_PORT: '80 (command line)',
      COMMONPLACE_DATA: '/srv/c (environment)',
      COMMONPLACE_WORKERS: '8 (default)',
      COMMONPLACE_EMBEDDER: 'off (environment)',
    })
  })

  it('warns of what will not work as meant', () => {
    const warningsOf = (env: NodeJS.ProcessEnv) => explainServerConfig(readServerConfig(env), env).warnings
    expect(warningsOf({ COMMONPLACE_SIGNUP: 'open' })).toEqual([
      'COMMONPLACE_SIGNUP is no variable of Commonplace.',
    ])
    expect(warningsOf({ COMMONPLACE_HOST: '0.0.0.0' })[0]).toMatch(/COMMONPLACE_URL is not set/)
    expect(warningsOf({ COMMONPLACE_URL: 'http://books.example.org' })[0]).toMatch(/not https/)
    expect(warningsOf({ COMMONPLACE_URL: 'http://localhost:80', COMMONPLACE_HOST: '127.0.0.1' })).toEqual([])
  })
})
