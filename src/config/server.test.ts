import { generateKeyPairSync } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { Failure } from '../core/failure.ts'
import { explainServerConfig } from './explain-server.ts'
import { readServerConfig, SECRET_VARIABLES } from './server.ts'
import { rowOf, SERVER_VARIABLES } from './server-variables.ts'

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
    { COMMONPLACE_HOST: '300.1.1.1' },
    { COMMONPLACE_HOST: '::::' },
    { COMMONPLACE_HOST: '.' },
    { COMMONPLACE_ALLOW_HOSTS: 'http://nas' },
    { COMMONPLACE_ALLOW_HOSTS: 'nas, 10.0.0.0/99' },
    { COMMONPLACE_DATABASE_URL: 'mysql://a:b@host/books' },
    { COMMONPLACE_DATABASE_URL: 'host/books' },
    { COMMONPLACE_DATABASE_URL: 'postgres://a:b@host' },
    { COMMONPLACE_DATABASE_OWNER_URL: 'books', COMMONPLACE_DATABASE_URL: 'postgres://a@host/books' },
    { COMMONPLACE_DATABASE_CONNECTIONS: '0' },
    { COMMONPLACE_S3_URL: 's3://bucket' },
    { COMMONPLACE_S3_URL: 'https://s3.example.org' },
    { COMMONPLACE_S3_URL: 'https://s3.example.org/bucket/folder' },
    { COMMONPLACE_S3_URL: 'https://key:secret@s3.example.org/bucket' },
    { COMMONPLACE_S3_REGION: 'eu central' },
    { COMMONPLACE_SMTP_URL: 'mail.example.org:25' },
    { COMMONPLACE_MAIL_FROM: 'Books' },
    { COMMONPLACE_MAIL_FROM: 'Books <books@example.org>\r\nBcc: a@example.org' },
    { COMMONPLACE_SIGN_UP: 'yes' },
    { COMMONPLACE_OPERATORS: 'a@example.org, b' },
    { COMMONPLACE_APPLE_TEAM_ID: 'short' },
    { COMMONPLACE_APPLE_PRIVATE_KEY: 'AuthKey.p8' },
    { COMMONPLACE_OIDC_ISSUER: 'http://login.example.org' },
    { COMMONPLACE_OIDC_ISSUER: 'https://login.example.org/?realm=home' },
    { COMMONPLACE_OIDC_NAME: '<b>home</b>' },
    { COMMONPLACE_SECRET: 'short' },
    { COMMONPLACE_METRICS_TOKEN: 'short' },
    { COMMONPLACE_QUOTA_MB: '-1' },
    { COMMONPLACE_UPLOAD_MB: '0' },
    { COMMONPLACE_ACADEMY: 'yes' },
    { COMMONPLACE_CREDITS: 'many' },
  ])('stops at %j and names it', (env) => {
    const [name] = Object.keys(env)
    expect(refusal(env)).toMatch(new RegExp(`^${name} takes .+\\.$`))
  })

  it('reads where things are kept, who vouches for readers, and what they may take', () => {
    const key = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey
    const pem = key.export({ type: 'pkcs8', format: 'pem' }).toString()
    const config = readServerConfig({
      COMMONPLACE_DATABASE_URL: 'postgres://app:pw@db/books',
      COMMONPLACE_DATABASE_OWNER_URL: 'postgresql://owner:pw@db:5433/books?sslmode=require',
      COMMONPLACE_S3_URL: 'https://s3.example.org/bucket/',
      COMMONPLACE_S3_KEY: 'AK',
      COMMONPLACE_S3_SECRET: 'SK',
      COMMONPLACE_SMTP_URL: 'smtps://a:b@mail.example.org',
      COMMONPLACE_MAIL_FROM: 'Books <books@example.org>',
      COMMONPLACE_SIGN_UP: 'invite',
      COMMONPLACE_OPERATORS: 'Ann@example.org',
      COMMONPLACE_GOOGLE_CLIENT_ID: 'g.apps.googleusercontent.com',
      COMMONPLACE_GOOGLE_CLIENT_SECRET: 'gs',
      COMMONPLACE_APPLE_CLIENT_ID: 'org.example.books',
      COMMONPLACE_APPLE_TEAM_ID: 'ABCDE12345',
      COMMONPLACE_APPLE_KEY_ID: '12345ABCDE',
      COMMONPLACE_APPLE_PRIVATE_KEY: pem.trim().replaceAll('\n', '\\n'),
      COMMONPLACE_OIDC_ISSUER: 'https://login.example.org/realms/home',
      COMMONPLACE_OIDC_CLIENT_ID: 'books',
      COMMONPLACE_OIDC_CLIENT_SECRET: 'os',
      COMMONPLACE_QUOTA_MB: '500',
      COMMONPLACE_UPLOAD_MB: '3',
      COMMONPLACE_ACADEMY: 'off',
      COMMONPLACE_CREDITS: '0',
    })
    expect(config).toMatchObject({
      database: {
        url: 'postgres://app:pw@db/books',
        ownerUrl: 'postgresql://owner:pw@db:5433/books?sslmode=require',
        connections: 10,
      },
      s3: { url: 'https://s3.example.org/bucket', region: 'us-east-1', key: 'AK', secret: 'SK' },
      mail: { smtpUrl: 'smtps://a:b@mail.example.org', from: 'Books <books@example.org>' },
      signUp: 'invite',
      operators: ['ann@example.org'],
      providers: {
        google: { clientId: 'g.apps.googleusercontent.com', clientSecret: 'gs' },
        apple: { clientId: 'org.example.books', teamId: 'ABCDE12345', keyId: '12345ABCDE' },
        oidc: { issuer: 'https://login.example.org/realms/home', name: 'login.example.org' },
      },
      quotaBytes: 500_000_000,
      uploadBytes: 3_000_000,
      academy: false,
      credits: 0,
    })
    expect(config.providers.apple?.privateKey).toBe(pem.trim())
  })

  it('has none of it where nothing is said', () => {
    const config = readServerConfig({})
    expect(config).toMatchObject({ signUp: 'closed', operators: [], providers: {}, academy: true })
    for (const part of ['database', 's3', 'mail', 'secret', 'metricsToken', 'quotaBytes'])
      expect(config).not.toHaveProperty(part)
  })

  it.each([
    [{ COMMONPLACE_DATABASE_OWNER_URL: 'postgres://a@h/b' }, 'COMMONPLACE_DATABASE_URL'],
    [{ COMMONPLACE_S3_URL: 'https://s3.example.org/b', COMMONPLACE_S3_KEY: 'k' }, 'COMMONPLACE_S3_SECRET'],
    [{ COMMONPLACE_S3_REGION: 'eu' }, 'COMMONPLACE_S3_URL'],
    [{ COMMONPLACE_SMTP_URL: 'smtp://h' }, 'COMMONPLACE_MAIL_FROM'],
    [{ COMMONPLACE_MAIL_FROM: 'a@example.org' }, 'COMMONPLACE_SMTP_URL'],
    [{ COMMONPLACE_GOOGLE_CLIENT_ID: 'g' }, 'COMMONPLACE_GOOGLE_CLIENT_SECRET'],
    [
      { COMMONPLACE_APPLE_CLIENT_ID: 'a', COMMONPLACE_APPLE_TEAM_ID: 'ABCDE12345' },
      'COMMONPLACE_APPLE_KEY_ID',
    ],
    [{ COMMONPLACE_OIDC_NAME: 'Home' }, 'COMMONPLACE_OIDC_ISSUER'],
  ])('stops at %j, which is half of what is needed', (env, missing) => {
    expect(refusal(env)).toMatch(new RegExp(`needs ${missing} as well`))
  })

  it('takes a secret from a file, as systemd and Docker hand them over', () => {
    const folder = mkdtempSync(join(tmpdir(), 'commonplace-'))
    onTestFinished(() => rmSync(folder, { recursive: true }))
    const file = join(folder, 'secret')
    writeFileSync(file, `${'s'.repeat(40)}\n`)
    expect(readServerConfig({ COMMONPLACE_SECRET_FILE: file }).secret).toBe('s'.repeat(40))
    expect(refusal({ COMMONPLACE_SECRET_FILE: join(folder, 'none') })).toMatch(
      /^COMMONPLACE_SECRET_FILE takes /,
    )
    expect(refusal({ COMMONPLACE_SECRET_FILE: file, COMMONPLACE_SECRET: 's'.repeat(40) })).toMatch(/both set/)
    writeFileSync(file, '\n')
    expect(refusal({ COMMONPLACE_SECRET_FILE: file })).toMatch(/empty file/)
    writeFileSync(file, 'short')
    expect(refusal({ COMMONPLACE_SECRET_FILE: file })).toMatch(/^COMMONPLACE_SECRET takes /)
  })

  it('takes the key of the language model from a file, and shows the model without it', () => {
    const folder = mkdtempSync(join(tmpdir(), 'commonplace-'))
    onTestFinished(() => rmSync(folder, { recursive: true }))
    const file = join(folder, 'key')
    writeFileSync(file, 'planted-key\n')
    const env = { COMMONPLACE_MODEL: 'anthropic', COMMONPLACE_MODEL_KEY_FILE: file }
    const config = readServerConfig(env)
    expect(config.local.model).toMatchObject({ kind: 'anthropic', apiKey: 'planted-key' })
    const { settings, warnings } = explainServerConfig(config, env)
    expect(warnings).toEqual([])
    expect(JSON.stringify(settings)).not.toContain('planted')
    expect(settings.find(({ name }) => name === 'COMMONPLACE_MODEL')?.value).toMatch(/^anthropic claude-/)
  })

  it('never shows a secret, wherever it comes from', () => {
    const env = {
      COMMONPLACE_DATABASE_URL: 'postgres://app:planted@db/planted',
      COMMONPLACE_SMTP_URL: 'smtp://planted:planted@mail.example.org',
      COMMONPLACE_MAIL_FROM: 'a@example.org',
      COMMONPLACE_SECRET: 'planted'.repeat(5),
    }
    const explained = explainServerConfig(readServerConfig(env), env)
    expect(JSON.stringify(explained)).not.toContain('planted')
    const by = new Map(explained.settings.map(({ name, value }) => [name, value]))
    expect(by.get('COMMONPLACE_DATABASE_URL')).toBe('set')
    expect(by.get('COMMONPLACE_S3_SECRET')).toBe('not set')
    for (const name of SECRET_VARIABLES) if (by.has(name)) expect(by.get(name)).toMatch(/^(not )?set$/)
  })

  it('counts as secret all that is called so', () => {
    for (const name of SERVER_VARIABLES)
      if (/SECRET|KEY$|TOKEN|SMTP_URL|DATABASE.*URL/.test(name)) expect(rowOf(name).secret, name).toBe(true)
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
    expect(warningsOf({ COMMONPLACE_PORT_FILE: '/run/port' })[0]).toMatch(/no variable/)
    expect(warningsOf({ COMMONPLACE_OPERATORS: 'a@example.org' })[0]).toMatch(/nothing here can confirm/)
    expect(warningsOf({ COMMONPLACE_SIGN_UP: 'open' })[0]).toMatch(/COMMONPLACE_SMTP_URL is not set/)
    expect(warningsOf({ COMMONPLACE_HOST: '0.0.0.0' })[0]).toMatch(/COMMONPLACE_URL is not set/)
    expect(warningsOf({ COMMONPLACE_URL: 'http://books.example.org' })[0]).toMatch(/not https/)
    expect(warningsOf({ COMMONPLACE_URL: 'http://localhost:80', COMMONPLACE_HOST: '127.0.0.1' })).toEqual([])
  })
})
