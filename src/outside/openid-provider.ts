import type * as OAuth from 'oauth4webapi'
import { Failure } from '../core/failure.ts'
import type { IdentityProvider, Person, ProviderRequest } from '../core/identity-provider.ts'

export type Fetch = (url: string, init: RequestInit) => Promise<Response>

export interface OpenIdProviderOptions {
  name: string
  title: string
  issuer: string
  clientId: string
  secret(): string
  scope?: string
  answersBy?: 'query' | 'form_post'
  /** Whether an address that the provider says it checked is one that it can speak for; any, where left out. */
  speaksFor?: (email: string, claims: Readonly<Record<string, unknown>>) => boolean
  fetch?: Fetch
}

const PATIENCE_MS = 10_000
const MAX_BYTES = 256 * 1024
/** How long what a provider says of itself is taken as read. */
const KEPT_MS = 60 * 60_000
const LOOPBACK = new Set(['localhost', '127.0.0.1', '[::1]'])

/**
 * A provider that speaks OpenID Connect, known by its issuer alone: what else is needed it says itself (OpenID Connect
 * Discovery). The issuer is the operator's word, so it may be an internal host; but whatever its document names has to be
 * https, or on this machine where the issuer is.
 */
export function createOpenIdProvider(options: OpenIdProviderOptions): IdentityProvider {
  const { name, title, issuer, clientId, scope = 'openid email profile', answersBy = 'query' } = options
  const { speaksFor = () => true } = options
  const client: OAuth.Client = { client_id: clientId }
  const jwks: OAuth.JWKSCacheInput = {}
  let known: { server: OAuth.AuthorizationServer; until: number } | undefined

  const mayAsk = (address: string): boolean => mayBeAsked(address, issuer)
  const guarded = guardedFetch(options.fetch ?? fetch, mayAsk)

  /** What a call of the library takes: our fetch, and http only where the issuer itself is on this machine. */
  const within = (oauth: typeof OAuth) => ({
    [oauth.customFetch]: guarded,
    ...(isLoopback(issuer) && { [oauth.allowInsecureRequests]: true }),
  })

  async function server(oauth: typeof OAuth): Promise<OAuth.AuthorizationServer> {
    if (known && known.until > Date.now()) return known.server
    try {
      const url = new URL(issuer)
      const response = await oauth.discoveryRequest(url, within(oauth))
      const found = await oauth.processDiscoveryResponse(url, response)
      if (!mayAsk(found.authorization_endpoint ?? ''))
        throw new Error('the authorization endpoint is not https')
      known = { server: found, until: Date.now() + KEPT_MS }
    } catch (error) {
      // A provider that cannot say who it is for a while is still the one that it was.
      if (!known) throw unreachable(title, error)
    }
    return known.server
  }

  return {
    name,
    title,
    issuer,
    answersBy,

    async addressFor({ state, nonce, verifier, redirectUri }) {
      const oauth = await import('oauth4webapi')
      const { authorization_endpoint = '' } = await server(oauth)
      const url = new URL(authorization_endpoint)
      const parameters = {
        client_id: clientId,
        response_type: 'code',
        redirect_uri: redirectUri,
        scope,
        state,
        nonce,
        code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
        code_challenge_method: 'S256',
        ...(answersBy === 'form_post' && { response_mode: 'form_post' }),
      }
      for (const [parameter, value] of Object.entries(parameters)) url.searchParams.set(parameter, value)
      return url.href
    },

    async identify(answer, request) {
      const oauth = await import('oauth4webapi')
      const found = await server(oauth)
      try {
        return await redeem(oauth, found, answer, request)
      } catch (cause) {
        if (cause instanceof Failure) throw cause
        if (isNetworkFault(cause)) throw unreachable(title, cause)
        throw new Failure('sign_in_refused', `${title} did not sign you in.`, {
          hint: 'Try again, or sign in another way.',
          cause,
        })
      }
    },
  }

  async function redeem(
    oauth: typeof OAuth,
    found: OAuth.AuthorizationServer,
    answer: URLSearchParams,
    { state, nonce, verifier, redirectUri }: ProviderRequest,
  ): Promise<Person> {
    const parameters = oauth.validateAuthResponse(found, client, answer, state)
    const response = await oauth.authorizationCodeGrantRequest(
      found,
      client,
      authentication(oauth, found, options.secret()),
      parameters,
      redirectUri,
      verifier,
      within(oauth),
    )
    const tokens = await oauth.processAuthorizationCodeResponse(found, client, response, {
      expectedNonce: nonce,
      requireIdToken: true,
    })
    // It came over TLS from the issuer itself (OpenID Connect Core §3.1.3.7); its signature says so once more.
    await oauth.validateApplicationLevelSignature(found, response, {
      ...within(oauth),
      [oauth.jwksCache]: jwks,
    })
    const claims = oauth.getValidatedIdTokenClaims(tokens)
    if (!claims) throw new Error('there is no ID token')
    let about: Record<string, unknown> = claims
    if (claims['email'] === undefined && found.userinfo_endpoint !== undefined) {
      const answered = await oauth.userInfoRequest(found, client, tokens.access_token, within(oauth))
      about = await oauth.processUserInfoResponse(found, client, claims.sub, answered)
    }
    const { email, email_verified: verified, name } = about
    return {
      issuer: claims.iss,
      subject: claims.sub,
      ...(typeof email === 'string' && { email }),
      // Apple writes it as a string.
      emailVerified:
        (verified === true || verified === 'true') && typeof email === 'string' && speaksFor(email, about),
      ...(typeof name === 'string' && { name }),
    }
  }
}

/** `client_secret_basic` is what holds where a provider says nothing (RFC 8414 §2). */
function authentication(
  oauth: typeof OAuth,
  { token_endpoint_auth_methods_supported: methods = [] }: OAuth.AuthorizationServer,
  secret: string,
): OAuth.ClientAuth {
  return methods.includes('client_secret_post')
    ? oauth.ClientSecretPost(secret)
    : oauth.ClientSecretBasic(secret)
}

const isLoopback = (address: string): boolean =>
  URL.canParse(address) && LOOPBACK.has(new URL(address).hostname)

function mayBeAsked(address: string, issuer: string): boolean {
  if (!URL.canParse(address)) return false
  const { protocol, username, password } = new URL(address)
  if (username !== '' || password !== '') return false
  return protocol === 'https:' || (protocol === 'http:' && isLoopback(address) && isLoopback(issuer))
}

/** Follows no redirect, waits for nobody long, and reads no more than a provider has to say. */
function guardedFetch(fetch: Fetch, mayAsk: (address: string) => boolean) {
  return async (address: string, options: OAuth.CustomFetchOptions<string, unknown>): Promise<Response> => {
    if (!mayAsk(address)) throw new Error('the provider names an address that is not https')
    const { method, headers, body } = options
    const response = await fetch(address, {
      method,
      headers,
      ...(body !== undefined && body !== null && { body: String(body) }),
      redirect: 'manual',
      signal: AbortSignal.timeout(PATIENCE_MS),
    })
    const { status } = response
    if (status >= 500) throw new ProviderDown(`the provider answers ${status}`)
    const kept = new Headers()
    for (const name of ['content-type', 'date', 'age', 'www-authenticate']) {
      const value = response.headers.get(name)
      if (value !== null) kept.set(name, value)
    }
    return new Response(await bodyOf(response), { status: status === 0 ? 502 : status, headers: kept })
  }
}

async function bodyOf(response: Response): Promise<Uint8Array<ArrayBuffer> | null> {
  if (!response.body || response.status === 204 || response.status === 304) return null
  const chunks: Uint8Array[] = []
  let length = 0
  for await (const chunk of response.body as AsyncIterable<Uint8Array>) {
    length += chunk.length
    if (length > MAX_BYTES) throw new Error('the provider’s answer has no end')
    chunks.push(chunk)
  }
  return new Uint8Array(Buffer.concat(chunks))
}

class ProviderDown extends Error {}

/** Whether nobody was there, and not that the answer was wrong: undici's network faults are TypeErrors with a cause. */
function isNetworkFault(error: unknown): boolean {
  if (error instanceof ProviderDown) return true
  if (!(error instanceof Error)) return false
  return error.name === 'TimeoutError' || (error instanceof TypeError && error.cause instanceof Error)
}

const unreachable = (title: string, cause: unknown): Failure =>
  new Failure('unavailable', `${title} cannot be asked at the moment.`, {
    hint: 'Try again in a moment, or sign in another way.',
    cause,
  })
