import { SCOPES } from '../../core/define-tool.ts'
import type { Accounts } from '../../features/accounts/accounts.ts'
import { AUTH_METHODS } from '../../features/accounts/client-metadata.ts'
import { sendJson } from '../send-json.ts'
import type { Endpoint } from './endpoint.ts'

/** What the authorization server can do (RFC 8414). */
export const authorizationServerMetadata: Endpoint = async ({ accounts: { base }, req, res }) => {
  await sendJson(req, res, {
    issuer: base,
    authorization_endpoint: `${base}/oauth/authorize`,
    token_endpoint: `${base}/oauth/token`,
    registration_endpoint: `${base}/oauth/register`,
    revocation_endpoint: `${base}/oauth/revoke`,
    // offline_access means nothing to us, all may refresh; some clients ask for it only where it is listed.
    scopes_supported: [...SCOPES, 'offline_access'],
    response_types_supported: ['code'],
    response_modes_supported: ['query'],
    grant_types_supported: ['authorization_code', 'refresh_token'],
    token_endpoint_auth_methods_supported: AUTH_METHODS,
    revocation_endpoint_auth_methods_supported: AUTH_METHODS,
    code_challenge_methods_supported: ['S256'],
    authorization_response_iss_parameter_supported: true,
    client_id_metadata_document_supported: true,
  })
}

/** What the resource is and who gives access to it (RFC 9728), for the origin or for `/mcp`. */
export const protectedResourceMetadata: Endpoint = async ({ accounts: { base }, req, res, url }) => {
  await sendJson(req, res, {
    resource: url.pathname.endsWith('/mcp') ? `${base}/mcp` : base,
    authorization_servers: [base],
    scopes_supported: SCOPES,
    bearer_methods_supported: ['header'],
    resource_name: 'Commonplace',
  })
}

/**
 * The `WWW-Authenticate` of a 401 (RFC 6750 §3, RFC 9728 §5.1). It asks for the whole useful set: clients do not come back for
 * more later, and the reader chooses among it anyway. `path` is where the request went.
 */
export function bearerChallenge({ base }: Accounts, path: string, hadToken: boolean): string {
  const suffix = path.startsWith('/mcp') ? '/mcp' : ''
  const parameters = [
    ...(hadToken ? ['error="invalid_token"'] : []),
    `resource_metadata="${base}/.well-known/oauth-protected-resource${suffix}"`,
    `scope="${SCOPES.join(' ')}"`,
  ]
  return `Bearer ${parameters.join(', ')}`
}
