import { request } from 'node:http'
import * as oauth from 'oauth4webapi'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { callResource, http, startOAuthServer, type TestServer } from './support.ts'

let server: TestServer
beforeAll(async () => {
  server = await startOAuthServer()
})
afterAll(() => server.stop())

it('a client that knows only the address finds everything by the challenge', async () => {
  const { status, headers } = await callResource(server)
  expect(status).toBe(401)
  const challenge = headers.get('www-authenticate') ?? ''
  expect(/resource_metadata="([^"]+)"/.exec(challenge)?.[1]).toBe(
    `${server.base}/.well-known/oauth-protected-resource/mcp`,
  )
  expect(challenge).toContain('scope="highlights:read ')
  const resource = new URL(server.resource)
  const found = await oauth.processResourceDiscoveryResponse(
    resource,
    await oauth.resourceDiscoveryRequest(resource, http),
  )
  const issuer = new URL(found.authorization_servers![0]!)
  const as = await oauth.processDiscoveryResponse(
    issuer,
    await oauth.discoveryRequest(issuer, { algorithm: 'oauth2', ...http }),
  )
  expect(as).toMatchObject({
    issuer: server.base,
    code_challenge_methods_supported: ['S256'],
    authorization_response_iss_parameter_supported: true,
    client_id_metadata_document_supported: true,
    registration_endpoint: `${server.base}/oauth/register`,
    revocation_endpoint: `${server.base}/oauth/revoke`,
  })
})

it('the origin is a resource of its own name', async () => {
  const origin = new URL(server.base)
  const found = await oauth.processResourceDiscoveryResponse(
    origin,
    await oauth.resourceDiscoveryRequest(origin, http),
  )
  expect(found.resource).toBe(server.base)
  const { headers } = await callResource(server, undefined, '/')
  expect(headers.get('www-authenticate')).toContain(
    `resource_metadata="${server.base}/.well-known/oauth-protected-resource"`,
  )
})

it.each(['/.well-known/oauth-authorization-server/mcp', '/.well-known/openid-configuration'])(
  'the metadata stands under %s too, for pages of any origin',
  async (path) => {
    const response = await fetch(server.base + path)
    expect(await response.json()).toEqual(server.as)
    expect(response.headers.get('access-control-allow-origin')).toBe('*')
  },
)

it('names come from configuration, whatever host a request claims', async () => {
  const text = await new Promise<string>((resolve, reject) => {
    const spoofed = { host: 'evil.example', 'x-forwarded-host': 'evil.example' }
    const asked = request(
      `${server.base}/.well-known/oauth-authorization-server`,
      { headers: spoofed },
      (answer) => {
        let body = ''
        answer.on('data', (chunk) => (body += String(chunk)))
        answer.on('end', () => resolve(body))
      },
    )
    asked.on('error', reject).end()
  })
  expect(JSON.parse(text)).toEqual(server.as)
})

it('what is not ours is left alone, what is ours answers only its methods', async () => {
  expect((await callResource(server, undefined, '/oauth/elsewhere')).status).toBe(401)
  const response = await fetch(`${server.base}/oauth/token`)
  expect([response.status, response.headers.get('allow')]).toEqual([405, 'POST, OPTIONS'])
})
