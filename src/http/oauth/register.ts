import { isMetadataFault, readClientMetadata } from '../../features/accounts/client-metadata.ts'
import { findClient, registerClient, registrationTokenOf } from '../../features/accounts/client-store.ts'
import { countAttempt, networkOf } from '../../features/accounts/rate-counter-store.ts'
import { isSame } from '../../features/accounts/secrets.ts'
import { sendJson } from '../send-json.ts'
import type { Endpoint } from './endpoint.ts'
import { OAuthError } from './oauth-error.ts'
import { readText } from './read-body.ts'

/** Dynamic client registration (RFC 7591), open to all and tolerant of what real assistants send. */
export const register: Endpoint = async ({ accounts, req, res, address }) => {
  await countAttempt(accounts, 'register', networkOf(address))
  await countAttempt(accounts, 'registerInAll', '')
  const metadata = readClientMetadata(parse(await readText(req)))
  if (isMetadataFault(metadata)) throw new OAuthError(metadata.error, metadata.description)
  const { id, secret, issuedAt } = await registerClient(accounts, metadata)
  await sendJson(
    req,
    res,
    {
      client_id: id,
      client_id_issued_at: Math.floor(issuedAt.getTime() / 1_000),
      ...(secret !== undefined && { client_secret: secret, client_secret_expires_at: 0 }),
      ...metadata,
      // One assistant is reported to give up where these are missing (twentyhq/twenty#19858).
      registration_client_uri: `${accounts.base}/oauth/register/${id}`,
      registration_access_token: registrationTokenOf(accounts, id),
    },
    { status: 201 },
  )
}

/** A client reads its own registration (RFC 7592 §2.1). */
export const readRegistration: Endpoint = async ({ accounts, req, res, url }) => {
  const id = url.pathname.split('/')[3] ?? ''
  const client = await findClient(accounts.db, id)
  const right = `Bearer ${registrationTokenOf(accounts, id)}`
  if (!isSame(req.headers.authorization, right) || client?.kind !== 'registered')
    throw new OAuthError('invalid_token', 'the registration access token does not fit', { status: 401 })
  await sendJson(req, res, { client_id: id, ...client.metadata })
}

function parse(body: string): unknown {
  try {
    return JSON.parse(body)
  } catch {
    throw new OAuthError('invalid_client_metadata', 'the body must be JSON')
  }
}
