import type { IncomingMessage } from 'node:http'
import type { Accounts } from '../../features/accounts/accounts.ts'
import { findClient, type Client } from '../../features/accounts/client-store.ts'
import { checkAttempts, countAttempt, networkOf } from '../../features/accounts/rate-counter-store.ts'
import { isOurResource } from '../../features/accounts/resource.ts'
import { hashOf, isSame } from '../../features/accounts/secrets.ts'
import type { Exchange } from './endpoint.ts'
import { OAuthError } from './oauth-error.ts'
import { readForm, singleParameters } from './read-body.ts'

export interface AuthenticatedRequest {
  client: Client
  parameters: Record<string, string | undefined>
}

/**
 * Runs `work` for the client of a token or revocation request (OAuth 2.1 §2.4), and counts what is refused, so that nobody can
 * try for long. An unknown client gets `invalid_client` 401: assistants then register again. A public client that sends a secret
 * is refused, for it takes itself for another. Throws `OAuthError`, and `rate_limited`.
 */
export async function forClient(
  { accounts, req, address }: Exchange,
  work: (request: AuthenticatedRequest) => Promise<void>,
): Promise<void> {
  const parameters = singleParameters(await readForm(req), (one, other) =>
    [one, other].every((resource) => isOurResource(resource, accounts.base)),
  )
  const credentials = credentialsOf(req, parameters)
  const network = networkOf(address)
  const counters = [
    ['refusedTokens', `${network} ${credentials.id ?? ''}`],
    ['refusedTokensByAddress', network],
  ] as const
  for (const [limit, who] of counters) await checkAttempts(accounts, limit, who)
  try {
    await work({ client: await authenticateClient(accounts, credentials), parameters })
  } catch (error) {
    if (error instanceof OAuthError)
      for (const [limit, who] of counters) await countAttempt(accounts, limit, who)
    throw error
  }
}

async function authenticateClient(accounts: Accounts, { id, secret, basic }: Credentials): Promise<Client> {
  const client = id === undefined ? undefined : await findClient(accounts.db, id)
  if (!client) throw unauthenticated('the client is not known here', basic)
  const fits =
    client.secretHash === null
      ? secret === undefined || secret === ''
      : isSame(hashOf(secret ?? ''), client.secretHash)
  if (!fits) throw unauthenticated('the client secret does not fit', basic)
  return client
}

interface Credentials {
  id: string | undefined
  secret: string | undefined
  basic: boolean
}

function credentialsOf(req: IncomingMessage, parameters: Record<string, string | undefined>): Credentials {
  const { client_id: id, client_secret: secret } = parameters
  const encoded = /^Basic +([A-Za-z0-9+/]+=*) *$/i.exec(req.headers.authorization ?? '')?.[1]
  if (encoded === undefined) return { id, secret, basic: false }
  const [name = '', word = ''] = Buffer.from(encoded, 'base64')
    .toString()
    .split(/:(.*)/s)
    .map((part) => decode(part))
  if (secret !== undefined || (id !== undefined && id !== name))
    throw new OAuthError('invalid_request', 'the client authenticates in more than one way')
  return { id: name, secret: word, basic: true }
}

/** RFC 6749 §2.3.1: both are form-encoded before they are joined. */
function decode(part: string): string {
  try {
    return decodeURIComponent(part.replaceAll('+', ' '))
  } catch {
    return ''
  }
}

const unauthenticated = (description: string, challenge: boolean): OAuthError =>
  new OAuthError('invalid_client', description, { status: 401, challenge })
