import { revokeToken } from '../../features/accounts/token-store.ts'
import { forClient } from './client-authentication.ts'
import { sendJson } from '../send-json.ts'
import type { Endpoint } from './endpoint.ts'
import { OAuthError } from './oauth-error.ts'

/**
 * The revocation endpoint (RFC 7009). Either token ends the whole connection: an assistant that lets go of one means all, and
 * the reader's list must not show what can no longer be used.
 */
export const revoke: Endpoint = (exchange) =>
  forClient(exchange, async ({ client, parameters }) => {
    if (parameters['token'] === undefined) throw new OAuthError('invalid_request', 'token is missing')
    await revokeToken(exchange.accounts, parameters['token'], client.id)
    await sendJson(exchange.req, exchange.res, {})
  })
