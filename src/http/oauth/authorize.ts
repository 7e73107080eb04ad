import { askClient } from '../../features/accounts/client-document.ts'
import type { Client } from '../../features/accounts/client-store.ts'
import { hasGrant, keepRequest } from '../../features/accounts/authorization-store.ts'
import { LIFETIME } from '../../features/accounts/lifetimes.ts'
import { isChallenge } from '../../features/accounts/pkce.ts'
import { countAttempt, networkOf } from '../../features/accounts/rate-counter-store.ts'
import { redirectUriIsRegistered, withAnswer } from '../../features/accounts/redirect-uri.ts'
import { isOurResource } from '../../features/accounts/resource.ts'
import { offerFor } from '../../features/accounts/scope-words.ts'
import { readSession, setCookie } from '../session.ts'
import { redirect, type Endpoint, type Exchange } from './endpoint.ts'
import { OAuthError } from './oauth-error.ts'
import { markup, sendPage } from './page.ts'
import { readForm, singleParameters } from './read-body.ts'

type Parameters = Record<string, string | undefined>

/** The authorization endpoint (OAuth 2.1 §4.1.1): checks what a client asks for and leads the reader to consent. */
export const authorize: Endpoint = async (exchange) => {
  const { accounts, req, res, url, address } = exchange
  await countAttempt(accounts, 'authorize', networkOf(address))
  const given = req.method === 'POST' ? await readForm(req) : url.searchParams
  const p = singleParameters(given, (one, other) =>
    [one, other].every((r) => isOurResource(r, accounts.base)),
  )

  if (p['client_id'] === undefined) throw new OAuthError('invalid_request', 'client_id is missing')
  const client = await askClient(accounts, p['client_id'])
  if ('refused' in client) return showUnknownClient(exchange, client.refused)
  const redirectUri = p['redirect_uri']
  if (redirectUri === undefined || !redirectUriIsRegistered(redirectUri, client.metadata.redirect_uris))
    throw new OAuthError('invalid_redirect_uri', 'redirect_uri is not registered for this client')

  const fault = faultOf(p, accounts.base)
  if (fault) return refuse(exchange, client, redirectUri, p['state'], fault)
  const { id, browser } = await keepRequest(accounts, client, {
    redirectUri,
    state: p['state'],
    challenge: p['code_challenge'] ?? '',
    offer: offerFor(p['scope']),
  })
  const path = `/consent/${id}`
  setCookie(accounts, res, { name: 'request', value: browser, maxAge: LIFETIME.request, path })
  redirect(res, path)
}

interface Fault {
  error: string
  error_description: string
}

function faultOf(p: Parameters, base: string): Fault | undefined {
  const fault = (error: string, error_description: string): Fault => ({ error, error_description })
  if (p['response_type'] !== 'code') return fault('unsupported_response_type', 'only code is supported')
  if ((p['response_mode'] ?? 'query') !== 'query')
    return fault('invalid_request', 'only response_mode query is supported')
  if (p['request'] !== undefined) return fault('request_not_supported', 'request objects are not supported')
  if (p['request_uri'] !== undefined)
    return fault('request_uri_not_supported', 'request_uri is not supported')
  if (!isChallenge(p['code_challenge'], p['code_challenge_method']))
    return fault('invalid_request', 'PKCE with code_challenge_method S256 is required')
  if (p['resource'] !== undefined && !isOurResource(p['resource'], base))
    return fault('invalid_target', 'resource is not this server')
  if (p['prompt'] === 'none') return fault('interaction_required', 'the reader has to consent')
  return undefined
}

/**
 * Anybody can register a client, so whoever can make this server redirect without a reader's word has an open redirector
 * (RFC 9700 §4.11). An error goes back to the client only where this reader let it in before; to others it is a page.
 */
async function refuse(
  { accounts, req, res }: Exchange,
  client: Client,
  redirectUri: string,
  state: string | undefined,
  fault: Fault,
): Promise<void> {
  const session = await readSession(accounts, req)
  if (!session || !(await hasGrant(accounts, session.reader.id, client.id)))
    throw new OAuthError(fault.error, fault.error_description)
  redirect(res, withAnswer(redirectUri, { ...fault, state, iss: accounts.base }))
}

async function showUnknownClient({ res }: Exchange, why: string): Promise<void> {
  sendPage(
    res,
    'This assistant is not known here',
    markup`<p>The link came from an assistant that this server does not know. Remove the connection in the assistant and add
it again.</p>
<p><small>invalid_client: ${why}</small></p>`,
    { status: 400 },
  )
}
