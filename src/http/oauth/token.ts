import { LIFETIME } from '../../features/accounts/lifetimes.ts'
import { isOurResource } from '../../features/accounts/resource.ts'
import {
  redeemCode,
  refreshTokens,
  type IssuedTokens,
  type RefusedTokens,
} from '../../features/accounts/token-store.ts'
import type { Accounts } from '../../features/accounts/accounts.ts'
import { forClient, type AuthenticatedRequest } from './client-authentication.ts'
import { sendJson } from '../send-json.ts'
import type { Endpoint } from './endpoint.ts'
import { OAuthError } from './oauth-error.ts'

/** The token endpoint (OAuth 2.1 §3.2): a code or a refresh token for an hour's access. */
export const token: Endpoint = (exchange) =>
  forClient(exchange, async (request) => {
    const { accounts, res } = exchange
    const { resource } = request.parameters
    if (resource !== undefined && !isOurResource(resource, accounts.base))
      throw new OAuthError('invalid_target', 'resource is not this server')
    const issued = await exchangeGrant(accounts, request)
    if ('refused' in issued) throw new OAuthError(issued.refused, issued.description)
    await sendJson(exchange.req, res, {
      access_token: issued.accessToken,
      token_type: 'Bearer',
      expires_in: LIFETIME.accessToken,
      refresh_token: issued.refreshToken,
      scope: issued.scopes,
    })
  })

async function exchangeGrant(
  accounts: Accounts,
  { client, parameters: p }: AuthenticatedRequest,
): Promise<IssuedTokens | RefusedTokens> {
  switch (p['grant_type']) {
    case 'authorization_code':
      return redeemCode(accounts, {
        code: needed(p, 'code'),
        clientId: client.id,
        redirectUri: p['redirect_uri'],
        verifier: p['code_verifier'],
      })
    case 'refresh_token':
      return refreshTokens(accounts, {
        refreshToken: needed(p, 'refresh_token'),
        clientId: client.id,
        scope: p['scope'],
      })
    case undefined:
      throw new OAuthError('invalid_request', 'grant_type is missing')
    default:
      throw new OAuthError('unsupported_grant_type', 'authorization_code and refresh_token are supported')
  }
}

function needed(parameters: Record<string, string | undefined>, name: string): string {
  const value = parameters[name]
  if (value === undefined) throw new OAuthError('invalid_request', `${name} is missing`)
  return value
}
