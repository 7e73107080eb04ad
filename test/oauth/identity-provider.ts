import { createPublicKey, generateKeyPairSync, sign, verify, type KeyObject } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Provider } from 'oidc-provider'
import type { Fetch } from '../../src/outside/openid-provider.ts'

/** A person as the provider knows them: the claims of their ID token beside the usual ones. */
export interface Claims {
  sub: string
  email?: string
  email_verified?: boolean | string
  /** The organisation whose account it is at Google. */
  hd?: string
  name?: string
}

export interface Shape {
  issuer?: string
  /** Where the browser and we are sent instead of the issuer's own paths. */
  routes?: Record<string, string>
  /** What is said of the endpoints' hosts, and what else stands in the document. */
  document?: (found: Record<string, unknown>) => Record<string, unknown>
  hosts?: string[]
  /** The key that signs the client's secrets, where they are no fixed text. */
  teamKey?: { id: string; publicKey: KeyObject; teamId: string }
  emailInIdToken?: boolean
}

/** A real OpenID provider on this machine, under whatever name it is to have. */
export interface LocalIdp {
  issuer: string
  clientId: string
  clientSecret: string
  /** Who sits at the browser. */
  person: Claims
  /** Whether they decline. */
  declines: boolean
  /** Reaches the provider under its name. */
  fetch: Fetch
  /** Requests of ours, `METHOD address`. */
  asked: string[]
  /** Changes what we get to read; undefined leaves it. */
  tamper: {
    document?: (found: Record<string, unknown>) => Record<string, unknown> | Response
    tokens?: (found: Record<string, unknown>) => Record<string, unknown> | Response
    /** The document has moved to another path, and its place says so. */
    moved?: boolean
    /** The provider knows nothing of PKCE. */
    withoutPkce?: boolean
  }
  /** Signs an ID token with the provider's own key, or another. */
  mint(claims: object, key?: KeyObject): string
  /** Lets a server of ours send its browsers here. */
  serve(base: string, name: string): void
  /** A browser at the provider: gives the address, or the form, that it is sent back with. */
  answer(address: string): Promise<Answer>
  stop(): Promise<void>
}

export interface Answer {
  to: URL
  /** Where the provider answers by form. */
  form?: [string, string][]
}

const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })

/** What the provider remembers, for as long as it runs. */
function memory(): new (name: string) => object {
  const kept = new Map<string, Record<string, unknown>>()
  const bySession = new Map<string, string>()
  return class {
    readonly #name: string
    constructor(name: string) {
      this.#name = name
    }
    async upsert(id: string, payload: Record<string, unknown>): Promise<void> {
      kept.set(`${this.#name}:${id}`, payload)
      if (typeof payload['uid'] === 'string') bySession.set(payload['uid'], id)
    }
    async find(id: string): Promise<unknown> {
      return kept.get(`${this.#name}:${id}`)
    }
    async findByUid(uid: string): Promise<unknown> {
      return this.find(bySession.get(uid) ?? '')
    }
    async findByUserCode(): Promise<unknown> {
      return undefined
    }
    async consume(id: string): Promise<void> {
      const payload = kept.get(`${this.#name}:${id}`)
      if (payload) payload['consumed'] = Math.floor(Date.now() / 1_000)
    }
    async destroy(id: string): Promise<void> {
      kept.delete(`${this.#name}:${id}`)
    }
    async revokeByGrantId(grantId: string): Promise<void> {
      for (const [key, payload] of kept) if (payload['grantId'] === grantId) kept.delete(key)
    }
  }
}

export async function openIdp(shape: Shape = {}): Promise<LocalIdp> {
  const jwk = { ...privateKey.export({ format: 'jwk' }), kid: 'one', alg: 'RS256', use: 'sig' }
  let handle: ReturnType<Provider['callback']> | undefined
  let provider: Provider | undefined
  const server = createServer((req, res) => {
    void (async () => {
      if (!provider || !handle) return res.writeHead(503).end()
      if (idp.tamper.moved === true && req.url?.startsWith('/.well-known/'))
        return res.writeHead(302, { location: `/moved${req.url}` }).end()
      if (req.url?.startsWith('/moved/')) req.url = req.url.slice('/moved'.length)
      if (idp.tamper.withoutPkce === true && req.url)
        req.url = req.url.replaceAll(/&?code_challenge(_method)?=[^&]*/g, '')
      if (req.url?.startsWith('/interaction/') !== true) return handle(req, res)
      if (idp.declines) return provider.interactionFinished(req, res, { error: 'access_denied' })
      const { params } = await provider.interactionDetails(req, res)
      const grant = new provider.Grant({ accountId: idp.person.sub, clientId: params.client_id })
      grant.addOIDCScope(params.scope)
      await provider.interactionFinished(req, res, {
        login: { accountId: idp.person.sub },
        consent: { grantId: await grant.save() },
      })
    })()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const own = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const issuer = shape.issuer ?? own
  const { host, protocol } = new URL(issuer)
  const hosts = new Set([host, ...(shape.hosts ?? [])])

  /** The same request at this machine. */
  function local(address: string): { url: string; headers: Record<string, string> } {
    const url = new URL(address)
    if (!hosts.has(url.host)) throw new TypeError(`nobody is at ${url.host}`)
    return {
      url: own + url.pathname + url.search,
      headers: { 'x-forwarded-host': host, 'x-forwarded-proto': protocol.slice(0, -1) },
    }
  }

  const idp: LocalIdp = {
    issuer,
    clientId: 'commonplace',
    clientSecret: 'the client secret',
    person: { sub: 'one', email: 'one@example.org', email_verified: true, hd: 'example.org' },
    declines: false,
    asked: [],
    tamper: {},
    async fetch(address, init) {
      idp.asked.push(`${init.method} ${address}`)
      const { url, headers } = local(address)
      let { body } = init
      if (idp.tamper.withoutPkce === true && typeof body === 'string')
        body = body.replaceAll(/&?code_verifier=[^&]*/g, '')
      const response = await fetch(url, {
        ...init,
        headers: { ...(init.headers as Record<string, string>), ...headers },
        ...(body !== undefined && { body }),
      })
      const discovery = address.endsWith('/.well-known/openid-configuration')
      const change = discovery ? idp.tamper.document : idp.tamper.tokens
      const tokens = init.method === 'POST' && response.status === 200
      if (!discovery && !tokens) return response
      const found = (await response.json()) as Record<string, unknown>
      const shaped = discovery ? (shape.document?.(found) ?? found) : found
      const changed = change?.(shaped) ?? shaped
      return changed instanceof Response ? changed : Response.json(changed)
    },
    mint(claims, key = privateKey) {
      const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')
      const signed = `${part({ alg: 'RS256', kid: 'one', typ: 'JWT' })}.${part(claims)}`
      return `${signed}.${sign('sha256', Buffer.from(signed), key).toString('base64url')}`
    },
    serve(base, name) {
      provider = new Provider(issuer, {
        clients: [
          {
            client_id: idp.clientId,
            client_secret: idp.clientSecret,
            redirect_uris: [`${base}/sign-in/with/${name}/callback`],
            application_type: 'native',
            token_endpoint_auth_method: shape.teamKey ? 'client_secret_post' : 'client_secret_basic',
            ...(shape.document && { token_endpoint_auth_method: 'client_secret_post' }),
          },
        ],
        findAccount: (_ctx: unknown, sub: string) => ({
          accountId: sub,
          claims: () => ({ ...idp.person, sub }),
        }),
        claims: { openid: ['sub'], email: ['email', 'email_verified', 'hd'], profile: ['name'], name: [] },
        conformIdTokenClaims: shape.emailInIdToken === false,
        pkce: { required: () => false },
        jwks: { keys: [jwk] },
        cookies: { keys: ['a key of the test'] },
        features: { devInteractions: { enabled: false } },
        interactions: { url: (_ctx: unknown, { uid }: { uid: string }) => `/interaction/${uid}` },
        adapter: memory(),
        ttl: { AuthorizationCode: 60, AccessToken: 60, IdToken: 60, Interaction: 60, Grant: 60, Session: 60 },
        ...(shape.routes && { routes: shape.routes }),
      })
      provider.proxy = true
      if (shape.teamKey) {
        const { id, teamId, publicKey } = shape.teamKey
        provider.Client.prototype.compareClientSecret = (given) => {
          const [head = '', body = '', signature = ''] = given.split('.')
          const read = (text: string) =>
            JSON.parse(Buffer.from(text, 'base64url').toString()) as Record<string, unknown>
          const { iss, sub, aud, exp, iat } = read(body)
          return (
            read(head)['alg'] === 'ES256' &&
            read(head)['kid'] === id &&
            iss === teamId &&
            sub === idp.clientId &&
            aud === issuer &&
            Number(exp) > Date.now() / 1_000 &&
            Number(exp) - Number(iat) < 15_777_000 &&
            verify(
              'sha256',
              Buffer.from(`${head}.${body}`),
              { key: publicKey, dsaEncoding: 'ieee-p1363' },
              Buffer.from(signature, 'base64url'),
            )
          )
        }
      }
      handle = provider.callback()
    },
    async answer(address) {
      const jar = new Map<string, string>()
      let at = address
      for (let hop = 0; hop < 10; hop++) {
        const { url, headers } = local(at)
        const cookie = [...jar].map(([name, value]) => `${name}=${value}`).join('; ')
        const response = await fetch(url, { redirect: 'manual', headers: { ...headers, cookie } })
        for (const line of response.headers.getSetCookie()) {
          const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? []
          jar.set(name, value)
        }
        const to = response.headers.get('location')
        if (to === null) return formAnswer(await response.text())
        at = new URL(to, at).href
        if (!hosts.has(new URL(at).host)) return { to: new URL(at) }
      }
      throw new Error('the provider sends the browser round and round')
    },
    stop: () =>
      new Promise((resolve) => {
        server.closeAllConnections()
        server.close(() => resolve())
      }),
  }
  return idp
}

function formAnswer(html: string): Answer {
  const action = /<form method="post" action="([^"]+)"/.exec(html)?.[1]
  if (action === undefined) throw new Error(`the provider shows a page: ${html.slice(0, 300)}`)
  const form = [...html.matchAll(/name="([^"]+)" value="([^"]*)"/g)].map(
    ([, name = '', value = '']): [string, string] => [name, value.replaceAll('&amp;', '&')],
  )
  return { to: new URL(action), form }
}

const keep = (found: Record<string, unknown>, names: string[]): Record<string, unknown> =>
  Object.fromEntries(Object.entries(found).filter(([name]) => names.includes(name)))

/** As https://accounts.google.com/.well-known/openid-configuration is: endpoints on four hosts. */
export const GOOGLE_SHAPE: Shape = {
  issuer: 'https://accounts.google.com',
  hosts: ['oauth2.googleapis.com', 'www.googleapis.com', 'openidconnect.googleapis.com'],
  routes: {
    authorization: '/o/oauth2/v2/auth',
    token: '/token',
    jwks: '/oauth2/v3/certs',
    userinfo: '/v1/userinfo',
  },
  document: (found) => ({
    ...keep(found, ['issuer', 'authorization_endpoint']),
    device_authorization_endpoint: 'https://oauth2.googleapis.com/device/code',
    token_endpoint: 'https://oauth2.googleapis.com/token',
    userinfo_endpoint: 'https://openidconnect.googleapis.com/v1/userinfo',
    revocation_endpoint: 'https://oauth2.googleapis.com/revoke',
    jwks_uri: 'https://www.googleapis.com/oauth2/v3/certs',
    response_types_supported: ['code', 'token', 'id_token', 'code token', 'code id_token', 'none'],
    response_modes_supported: ['query', 'fragment', 'form_post'],
    subject_types_supported: ['public'],
    id_token_signing_alg_values_supported: ['RS256'],
    scopes_supported: ['openid', 'email', 'profile'],
    token_endpoint_auth_methods_supported: ['client_secret_post', 'client_secret_basic'],
    claims_supported: ['aud', 'email', 'email_verified', 'exp', 'iat', 'iss', 'name', 'picture', 'sub'],
    code_challenge_methods_supported: ['plain', 'S256'],
    grant_types_supported: ['authorization_code', 'refresh_token'],
  }),
}

/** As https://appleid.apple.com/.well-known/openid-configuration is: no userinfo, no word of PKCE. */
export const appleShape = (teamKey: NonNullable<Shape['teamKey']>): Shape => ({
  issuer: 'https://appleid.apple.com',
  routes: { authorization: '/auth/authorize', token: '/auth/token', jwks: '/auth/keys' },
  teamKey,
  document: (found) => ({
    ...keep(found, ['issuer', 'authorization_endpoint', 'token_endpoint', 'jwks_uri']),
    revocation_endpoint: 'https://appleid.apple.com/auth/revoke',
    response_types_supported: ['code'],
    response_modes_supported: ['query', 'fragment', 'form_post'],
    subject_types_supported: ['pairwise'],
    id_token_signing_alg_values_supported: ['RS256'],
    scopes_supported: ['openid', 'email', 'name'],
    token_endpoint_auth_methods_supported: ['client_secret_post'],
    claims_supported: ['aud', 'email', 'email_verified', 'exp', 'iat', 'is_private_email', 'iss', 'sub'],
  }),
})

/** A team's key as Apple gives it. */
export function newTeamKey(): { pem: string; publicKey: KeyObject } {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  return {
    pem: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    publicKey: createPublicKey(privateKey),
  }
}
