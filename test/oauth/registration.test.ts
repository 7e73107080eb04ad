import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  ASKED,
  Browser,
  callResource,
  connect,
  newReader,
  PLAIN,
  register,
  startOAuthServer,
  type TestReader,
  type TestServer,
} from './support.ts'

let server: TestServer
let reader: TestReader
let browser: Browser
beforeAll(async () => {
  server = await startOAuthServer()
  reader = await newReader(server, 'reader@example.org')
  browser = await new Browser(server).signIn(reader)
})
afterAll(() => server.stop())

const GRANTS = ['authorization_code', 'refresh_token']
const usual = {
  grant_types: GRANTS,
  response_types: ['code'],
  token_endpoint_auth_method: 'none',
  scope: ASKED,
}

/** What these assistants send, word for word. */
const REAL: Record<string, Record<string, unknown> & { redirect_uris: string[] }> = {
  Claude: { ...usual, client_name: 'Claude', redirect_uris: ['https://claude.ai/api/mcp/auth_callback'] },
  'Claude with a secret and a scope of its own': {
    ...usual,
    client_name: 'Claude',
    token_endpoint_auth_method: 'client_secret_post',
    scope: 'claudeai',
    redirect_uris: ['https://claude.ai/api/mcp/auth_callback'],
  },
  'Claude Code': {
    ...usual,
    client_name: 'Claude Code (library)',
    redirect_uris: ['http://localhost:3118/callback'],
  },
  ChatGPT: {
    ...usual,
    client_name: 'ChatGPT',
    redirect_uris: ['https://chatgpt.com/connector_platform_oauth_redirect'],
  },
  Cursor: {
    ...usual,
    client_name: 'Cursor',
    redirect_uris: ['cursor://anysphere.cursor-mcp/oauth/callback'],
  },
  'Cursor that calls itself a web application': {
    ...usual,
    client_name: 'Cursor',
    application_type: 'web',
    redirect_uris: [
      'cursor://anysphere.cursor-mcp/oauth/callback',
      'https://www.cursor.com/agents/mcp/oauth/callback',
      'http://localhost:8787/callback',
    ],
  },
  'VS Code': {
    ...usual,
    client_name: 'Visual Studio Code',
    client_uri: 'https://code.visualstudio.com',
    grant_types: [...GRANTS, 'urn:ietf:params:oauth:grant-type:device_code'],
    redirect_uris: [
      'https://insiders.vscode.dev/redirect',
      'https://vscode.dev/redirect',
      'http://127.0.0.1/',
      'http://127.0.0.1:33418/',
      'http://localhost/',
      'http://localhost:33418/',
    ],
  },
  'a client that says nothing but where it is': { redirect_uris: ['http://[::1]:9/cb'] },
}

describe('registering and connecting', () => {
  it.each(Object.keys(REAL))('as %s', async (name) => {
    const sent = REAL[name]!
    const { status, headers, body } = await register(server, sent, { origin: 'https://claude.ai' })
    expect(status).toBe(201)
    expect(headers.get('access-control-allow-origin')).toBe('*')
    expect(body['redirect_uris']).toEqual(sent.redirect_uris)
    const read = await fetch(String(body['registration_client_uri']), {
      headers: { authorization: `Bearer ${String(body['registration_access_token'])}` },
    })
    expect([read.status, await read.json()]).toMatchObject([200, { client_id: body.client_id }])
    for (const redirectUri of sent.redirect_uris) {
      const { tokens } = await connect(server, body, browser, reader, {
        redirectUri,
        grant: ['highlights:read'],
      })
      expect(tokens.scope).toBe('highlights:read')
      expect((await callResource(server, tokens.access_token)).status).toBe(200)
    }
  })

  it('reads a registration only with its own token', async () => {
    const { body } = await register(server, PLAIN)
    const other = await register(server, PLAIN)
    for (const given of ['', `Bearer ${String(other.body['registration_access_token'])}`]) {
      const read = await fetch(String(body['registration_client_uri']), { headers: { authorization: given } })
      expect(read.status).toBe(401)
    }
  })
})

describe('redirect URIs that are refused', () => {
  const hostile: readonly unknown[] = [
    'http://evil.example/cb',
    'http://127.0.0.1.evil.example/cb',
    'http://localhost@evil.example/',
    'javascript:alert(1)',
    'JaVaScRiPt:alert(1)',
    'data:text/html,x',
    'file:///etc/passwd',
    'https://a.example/cb#f',
    'https://a.example/cb#',
    'http://127.0.0.1/cb#x',
    'cursor://x/y#z',
    '/relative',
    'https://*.example/cb',
    'https://a.example/*',
    'https://u:p@a.example/',
    'cursor://u@x/y',
    'vbscript:x',
    'intent://x',
    'ms-settings:x',
    'https://a.example/ b',
    'https:\\\\a.example',
    `https://a.example/${'x'.repeat(2_000)}`,
    7,
    null,
  ]
  it.each(hostile.map((uri) => [String(uri).slice(0, 60), uri] as const))('%s', async (_shown, uri) => {
    const { status, body } = await register(server, { ...PLAIN, redirect_uris: [uri] })
    expect([status, body['error']]).toEqual([400, 'invalid_redirect_uri'])
  })

  it('one bad one among good ones', async () => {
    const { status } = await register(server, {
      ...PLAIN,
      redirect_uris: [...PLAIN.redirect_uris, 'http://a.example/'],
    })
    expect(status).toBe(400)
  })
})

it.each(['{', '[]', '{}', 'null', '{"redirect_uris":"https://a.example/"}', '{"redirect_uris":[]}'])(
  'a body %s is refused in OAuth’s own form',
  async (body) => {
    const answer = await register(server, body)
    expect(answer.status).toBe(400)
    expect(answer.body['error']).toMatch(/^invalid_/)
  },
)

it('a page of any origin may ask first', async () => {
  const response = await fetch(`${server.base}/oauth/register`, {
    method: 'OPTIONS',
    headers: { origin: 'https://x.example', 'access-control-request-method': 'POST' },
  })
  expect([response.status, response.headers.get('access-control-allow-origin')]).toEqual([204, '*'])
  expect(response.headers.get('access-control-allow-headers')).toContain('Content-Type')
})

it('a name is one line of text that turns no direction', async () => {
  const { body } = await register(server, { ...PLAIN, client_name: 'Cla\u202eude\n\u0000 <b>' })
  expect(body['client_name']).toBe('Cla ude <b>')
})

it('a body that is too large is refused at every endpoint', async () => {
  for (const path of ['register', 'token', 'revoke', 'authorize']) {
    const type = path === 'register' ? 'application/json' : 'application/x-www-form-urlencoded'
    const response = await fetch(`${server.base}/oauth/${path}`, {
      method: 'POST',
      headers: { 'content-type': type },
      body: `a=${'x'.repeat(200_000)}`,
    })
    expect([path, response.status]).toEqual([path, 413])
  }
})

it('registering is counted by address, and refused past the limit with the time to wait', async () => {
  const limited = await startOAuthServer({
    limits: { register: { count: 2, seconds: 60 } },
    addressFromHeader: true,
  })
  try {
    const from = (address: string) => register(limited, PLAIN, { 'x-test-address': address })
    expect([(await from('192.0.2.1')).status, (await from('192.0.2.1')).status]).toEqual([201, 201])
    const refused = await from('192.0.2.1')
    expect([refused.status, refused.body['error']]).toEqual([429, 'temporarily_unavailable'])
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(50)
    expect((await from('192.0.2.2')).status).toBe(201)
    // A household is one, however many addresses it takes.
    await from('2001:db8:1:2::1')
    await from('2001:db8:1:2::2')
    expect((await from('2001:db8:1:2:3::3')).status).toBe(429)
    expect((await from('2001:db8:1:3::1')).status).toBe(201)
    limited.pass(61)
    expect((await from('192.0.2.1')).status).toBe(201)
  } finally {
    await limited.stop()
  }
})

it('registering is counted in all: clients stay for ever, and one person may have many networks', async () => {
  const limited = await startOAuthServer({
    limits: { registerInAll: { count: 3, seconds: 60 } },
    addressFromHeader: true,
  })
  try {
    const from = (n: number) => register(limited, PLAIN, { 'x-test-address': `2001:db8:0:${n}::1` })
    const statuses = await Promise.all([1, 2, 3, 4, 5].map(async (n) => (await from(n)).status))
    expect(statuses.toSorted((a, b) => a - b)).toEqual([201, 201, 201, 429, 429])
    limited.pass(61)
    expect((await from(6)).status).toBe(201)
  } finally {
    await limited.stop()
  }
})
