import { auth as authOf2026, type OAuthClientProvider } from '@modelcontextprotocol/client'
import { auth as authOf2025 } from '@modelcontextprotocol/sdk/client/auth.js'
import { afterAll, beforeAll, expect, it } from 'vitest'
import {
  approve,
  Browser,
  CALLBACK,
  newReader,
  startOAuthServer,
  statusOf,
  type TestReader,
  type TestServer,
} from './support.ts'

let server: TestServer
let reader: TestReader
beforeAll(async () => {
  server = await startOAuthServer()
  reader = await newReader(server, 'reader@example.org')
})
afterAll(() => server.stop())

/** What an assistant that is built on the SDK keeps. */
class Assistant implements OAuthClientProvider {
  readonly redirectUrl = CALLBACK
  readonly clientMetadata = {
    client_name: 'An assistant on the SDK',
    redirect_uris: [CALLBACK],
    grant_types: ['authorization_code', 'refresh_token'],
    response_types: ['code'],
    token_endpoint_auth_method: 'none',
  }
  information: Awaited<ReturnType<OAuthClientProvider['clientInformation']>>
  kept: Awaited<ReturnType<OAuthClientProvider['tokens']>>
  verifier = ''
  sentTo: URL | undefined

  clientInformation = () => this.information
  saveClientInformation = (information: NonNullable<Assistant['information']>): void => {
    this.information = information
  }
  tokens = () => this.kept
  saveTokens = (tokens: NonNullable<Assistant['kept']>): void => {
    this.kept = tokens
  }
  redirectToAuthorization = (url: URL): void => {
    this.sentTo = url
  }
  saveCodeVerifier = (verifier: string): void => {
    this.verifier = verifier
  }
  codeVerifier = () => this.verifier
}

it.each([
  ['2025', authOf2025],
  ['2026', authOf2026],
] as const)(
  'the SDK’s client of %s finds, registers, connects and refreshes by itself',
  async (_year, auth) => {
    const assistant = new Assistant()
    const browser = new Browser(server)
    expect(await auth(assistant, { serverUrl: server.resource })).toBe('REDIRECT')
    const { callback } = await approve(browser, assistant.sentTo!.href, reader)
    const authorizationCode = callback.searchParams.get('code')!
    const iss = callback.searchParams.get('iss')!
    expect(await auth(assistant, { serverUrl: server.resource, authorizationCode, iss })).toBe('AUTHORIZED')
    const first = assistant.kept!
    expect(await statusOf(server, first.access_token)).toBe(200)
    server.pass(3_601)
    expect(await statusOf(server, first.access_token)).toBe(401)
    expect(await auth(assistant, { serverUrl: server.resource })).toBe('AUTHORIZED')
    expect(assistant.kept!.refresh_token).not.toBe(first.refresh_token)
    expect(await statusOf(server, assistant.kept!.access_token)).toBe(200)
  },
)
