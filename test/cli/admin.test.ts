/** `commonplace admin` as the operator runs it, beside a server that runs. */
import { spawn, type ChildProcess } from 'node:child_process'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { unzipSync } from 'fflate'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openServerDb } from '../../src/db/server/open.ts'
import { SCOPES } from '../../src/core/define-tool.ts'
import { openAccounts, type Accounts } from '../../src/features/accounts/accounts.ts'
import { makePersonalToken } from '../../src/features/accounts/personal-token-store.ts'
import { openMailbox } from '../oauth/mailbox.ts'
import { openWorkspace, PROGRAM, type Ended, type Workspace } from '../support/run-cli.ts'

let place: Workspace
let data: string
let server: ChildProcess
let url: string
let accounts: Accounts

beforeAll(async () => {
  place = openWorkspace()
  data = mkdtempSync(join(tmpdir(), 'commonplace-admin-'))
  server = spawn(process.execPath, [PROGRAM, 'serve', '--port', '0'], {
    env: { ...process.env, ...env() },
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  url = await new Promise<string>((resolve) => {
    let text = ''
    server.stdout!.setEncoding('utf8').on('data', (more: string) => {
      text += more
      const found = /Commonplace is at (\S+)/.exec(text)?.[1]
      if (found) resolve(found)
    })
  })
  const pages = { fetch: () => Promise.reject(new Error('no web here')) }
  accounts = await openAccounts({ db: await openServerDb(join(data, 'server.db')), base: url, pages })
})
afterAll(async () => {
  await accounts.close()
  await accounts.db.destroy()
  server.kill('SIGKILL')
  place.remove()
  rmSync(data, { recursive: true, force: true, maxRetries: 10, retryDelay: 200 })
})

const env = (): Record<string, string> => ({
  COMMONPLACE_DATA: data,
  COMMONPLACE_LIBRARY: '',
  COMMONPLACE_EMBEDDER: 'off',
})

const admin = (...args: string[]): Promise<Ended> => place.run(['admin', ...args], { env: env() })

/** What a part prints for programs. Fails where it failed. */
async function asked<T>(...args: string[]): Promise<T> {
  const { code, stdout, stderr } = await admin(...args, '--json')
  expect([args, code, stderr]).toEqual([args, 0, ''])
  return JSON.parse(stdout) as T
}

interface Listed {
  id: string
  email: string | null
  suspendedAt: string | null
  sources: number | null
}

const add = (email: string): Promise<{ id: string; signInLink: string }> =>
  asked('users', 'add', '--email', email)
const listed = async (): Promise<Listed[]> => (await asked<{ readers: Listed[] }>('users')).readers
const tokenFor = async (id: string): Promise<string> =>
  (await makePersonalToken(accounts, id, { name: 'a test', scopes: SCOPES })).token
const statusFor = async (token: string): Promise<number> =>
  (
    await fetch(`${url}/api/tools/list_items`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}` },
    })
  ).status

describe('admin users', () => {
  it('adds a reader whose link signs them in, once', async () => {
    const { signInLink, id } = await add('ada@example.org')
    const link = new URL(signInLink).searchParams.get('link') ?? ''
    const page = await fetch(`${url}/sign-in?link=${link}`)
    const cookie = (page.headers.get('set-cookie') ?? '').split(';')[0] ?? ''
    const csrf = /name="csrf" value="([^"]+)"/.exec(await page.text())?.[1] ?? ''
    const open = () =>
      fetch(`${url}/sign-in`, {
        method: 'POST',
        headers: { cookie, origin: url },
        body: new URLSearchParams({ csrf, link }),
        redirect: 'manual',
      })
    expect((await open()).status).toBe(303)
    expect((await open()).status).toBe(400)
    const known = (await listed()).find((reader) => reader.id === id)
    expect(known).toMatchObject({ email: 'ada@example.org', sources: null, suspendedAt: null })
    expect((await admin('users')).stdout).toMatch(/^ada@example\.org +\S+ +\d{4}-\d\d-\d\d/m)
    expect((await admin('users', 'add', '--email', 'ADA@example.org')).code).toBe(2)
  })

  it('gives a link that sets a forgotten password, once', async () => {
    const { id } = await add('fern@example.org')
    const { resetLink } = await asked<{ resetLink: string }>('users', 'reset', 'fern@example.org')
    const link = new URL(resetLink).searchParams.get('link') ?? ''
    const page = await fetch(`${url}/reset?link=${link}`)
    const cookie = (page.headers.get('set-cookie') ?? '').split(';')[0] ?? ''
    const csrf = /name="csrf" value="([^"]+)"/.exec(await page.text())?.[1] ?? ''
    const set = () =>
      fetch(`${url}/reset`, {
        method: 'POST',
        headers: { cookie, origin: url },
        body: new URLSearchParams({ csrf, link, password: 'a brand new one' }),
      })
    expect(await (await set()).text()).toContain('Your password is changed')
    expect((await set()).status).toBe(400)
    expect((await admin('users', 'show', id)).stdout).toContain('password')
  })

  it('knows a reader by e-mail, id, the beginning of an id, and `first`', async () => {
    const { id } = await add('bea@example.org')
    for (const who of ['BEA@example.org', id, id.slice(0, 8)])
      expect((await asked<Listed>('users', 'show', who)).id).toBe(id)
    expect((await asked<Listed>('users', 'show', 'first')).email).toBe(null)
    const unknown = await admin('users', 'show', 'nobody@example.org')
    expect([unknown.code, unknown.stderr]).toEqual([3, expect.stringContaining('There is no reader')])
  })

  it('suspends at once, for a server that runs, and restores', async () => {
    const { id } = await add('cleo@example.org')
    const token = await tokenFor(id)
    expect(await statusFor(token)).toBe(200)
    await asked('users', 'suspend', id)
    expect(await statusFor(token)).toBe(401)
    expect((await admin('users', 'link', id)).code).toBe(2)
    expect((await admin('users', 'reset', id)).code).toBe(2)
    expect((await admin('users')).stdout).toMatch(/cleo@example\.org.*suspended/)
    await asked('users', 'restore', id)
    expect(await statusFor(token)).toBe(200)
  })

  it('exports a reader to a file that was not there', async () => {
    const { id } = await add('dora@example.org')
    const file = join(place.folder, 'dora.zip')
    expect(await asked('users', 'export', id, file)).toMatchObject({ path: file })
    const files = unzipSync(readFileSync(file))
    expect(Buffer.from(files['account.json'] ?? []).toString()).toContain('dora@example.org')
    expect((await admin('users', 'export', id, file)).code).toBe(2)
  })

  it('deletes only what is confirmed, with the library that the server has open', async () => {
    const { id } = await add('eve@example.org')
    const token = await tokenFor(id)
    expect(await statusFor(token)).toBe(200)
    expect(existsSync(join(data, 'libraries', id))).toBe(true)
    const unconfirmed = await admin('users', 'delete', id)
    expect([unconfirmed.code, unconfirmed.stderr]).toEqual([2, expect.stringContaining('--yes')])
    expect(await statusFor(token)).toBe(200)
    expect(await asked('users', 'delete', id, '--yes')).toEqual({ id, deleted: true, libraryKept: false })
    expect(await statusFor(token)).toBe(401)
    expect(existsSync(join(data, 'libraries', id))).toBe(false)
    expect((await listed()).map((reader) => reader.id)).not.toContain(id)
  })
})

describe('admin quota, academy, credits', () => {
  it('hold for all, for one otherwise, and as configured again', async () => {
    const { id } = await add('fay@example.org')
    const quotaOf = async () => (await asked<{ quotaBytes: number }>('quota', id)).quotaBytes
    expect(await quotaOf()).toBe(0)
    await asked('quota', 'all', '500')
    expect(await quotaOf()).toBe(500_000_000)
    await asked('quota', id, '20')
    expect(await quotaOf()).toBe(20_000_000)
    await asked('quota', id, 'none')
    expect(await quotaOf()).toBe(0)
    await asked('quota', id, 'default')
    expect(await quotaOf()).toBe(500_000_000)
    await asked('quota', 'all', 'default')
    expect(await quotaOf()).toBe(0)
    await asked('academy', id, 'off')
    expect(await asked('academy')).toMatchObject({
      all: { academy: true },
      readers: [{ id, academy: false }],
    })
    await asked('credits', id, '7')
    await asked('credits', id, 'grant', '5')
    expect(await asked('credits', id)).toMatchObject({ allowance: 7, granted: 5, left: 12 })
    for (const wrong of [
      ['quota', id, 'much'],
      ['academy', id, 'maybe'],
      ['credits', id, 'grant', '-3'],
      ['credits', id, 'grant'],
    ])
      expect([wrong, (await admin(...wrong)).code]).toEqual([wrong, 2])
  })
})

describe('admin invitations and feedback', () => {
  it('makes an invitation and takes it back', async () => {
    const { id, link } = await asked<{ id: string; link: string }>(
      'invitations',
      'make',
      '--email',
      'gus@example.org',
    )
    expect(link).toContain('/sign-up?invitation=')
    expect((await asked<{ invitations: object[] }>('invitations')).invitations).toMatchObject([
      { id, email: 'gus@example.org' },
    ])
    await asked('invitations', 'withdraw', id)
    expect(await asked('invitations')).toEqual({ invitations: [] })
    expect((await admin('invitations', 'withdraw', id)).code).toBe(3)
  })

  it('sends an invitation by mail, and invites nobody where no mail server takes it', async () => {
    const mailbox = await openMailbox()
    const byMail = () =>
      place.run(['admin', 'invitations', 'make', '--email', 'ida@example.org', '--mail'], {
        env: {
          ...env(),
          COMMONPLACE_SMTP_URL: mailbox.url,
          COMMONPLACE_MAIL_FROM: 'Commonplace <books@example.org>',
        },
      })
    try {
      expect((await byMail()).code).toBe(0)
      expect(mailbox.letters.map(({ to }) => to)).toEqual([['ida@example.org']])
    } finally {
      await mailbox.stop()
    }
    const [sent] = (await asked<{ invitations: { id: string }[] }>('invitations')).invitations
    await asked('invitations', 'withdraw', sent!.id)
    const refused = await byMail()
    expect(refused.code).not.toBe(0)
    expect(refused.stderr).toContain('COMMONPLACE_SMTP_URL')
    expect(await asked('invitations')).toEqual({ invitations: [] })
  })

  it('shows messages until they are done, with nothing in them that a terminal would obey', async () => {
    const { id } = await add('hal@example.org')
    await fetch(`${url}/api/feedback`, {
      method: 'POST',
      headers: { authorization: `Bearer ${await tokenFor(id)}`, 'content-type': 'application/json' },
      body: JSON.stringify({ text: 'The herons\n\u001b[31mare gone.' }),
    })
    const [message] = (await asked<{ feedback: { id: string }[] }>('feedback')).feedback
    const shown = await admin('feedback', 'show', message?.id ?? '')
    expect(shown.stdout).toContain('hal@example.org')
    expect(shown.stdout).toContain('are gone.')
    expect(shown.stdout + (await admin('feedback')).stdout).not.toContain('\u001b')
    await asked('feedback', 'done', message?.id ?? '')
    expect((await admin('feedback')).stdout).toContain('empty')
    expect((await asked<{ feedback: object[] }>('feedback', '--all')).feedback).toHaveLength(1)
  })
})

describe('admin backup and reindex', () => {
  it('saves the server while it runs', async () => {
    const folder = join(place.folder, 'saved')
    expect(await asked('backup', folder)).toMatchObject({ path: folder, mediaElsewhere: false })
    expect(readdirSync(folder)).toEqual(
      expect.arrayContaining(['commonplace-server.json', 'libraries', 'server.db']),
    )
    expect((await admin('backup', folder)).code).toBe(2)
    const among = await asked<{ path: string }>('backup', place.folder)
    expect(among.path).toMatch(/\/commonplace-\d{8}-\d{6}$/)
  })

  it('makes the search of libraries anew', async () => {
    const { libraries } = await asked<{ libraries: number }>('reindex', '--all', '--vectors')
    expect(libraries).toBeGreaterThan(0)
    expect((await admin('reindex')).code).toBe(2)
  })
})

describe('admin', () => {
  it('says what it can do, and what was meant', async () => {
    const help = (await place.run(['help', 'admin'])).stdout
    for (const part of ['users suspend WHO', 'quota [WHO|all] [MB]', 'backup [FOLDER]', '--vectors'])
      expect(help).toContain(part)
    const slip = await admin('user')
    expect([slip.code, slip.stderr]).toEqual([2, expect.stringContaining('commonplace admin users')])
    expect((await admin()).code).toBe(2)
    expect((await place.run(['completion', 'bash'])).stdout).toMatch(
      /^    admin\)[^]*?words="users invitations quota/m,
    )
  })

  it('makes no server where there is none', async () => {
    const elsewhere = join(place.folder, 'nothing-here')
    const { code, stderr } = await place.run(['admin', 'users'], {
      env: { ...env(), COMMONPLACE_DATA: elsewhere },
    })
    expect([code, stderr]).toEqual([5, expect.stringContaining('There is no server in')])
    expect(existsSync(elsewhere)).toBe(false)
  })
})
