import type { Scope } from '../../core/define-tool.ts'
import type { Accounts } from './accounts.ts'
import type { Client, ClientKind } from './client-store.ts'
import { after, LIFETIME } from './lifetimes.ts'
import { scopesIn, type Offer } from './scope-words.ts'
import { hashOf, newName, newSecret } from './secrets.ts'

/** What a client asked for, while its reader thinks. */
export interface AuthorizationRequest {
  id: string
  clientId: string
  clientName: string
  clientKind: ClientKind
  redirectUri: string
  state: string | null
  scopes: Scope[]
  ticked: Scope[]
}

export interface Asked {
  redirectUri: string
  state: string | undefined
  challenge: string
  offer: Offer
}

/** Gives the request's name and the secret that the browser keeps, so that no other browser can answer it. */
export async function keepRequest(
  { db, now }: Accounts,
  client: Client,
  asked: Asked,
): Promise<{ id: string; browser: string }> {
  const id = newName()
  const browser = newSecret()
  await db
    .insertInto('authorization_request')
    .values({
      id,
      browser_hash: hashOf(browser),
      client_id: client.id,
      client_name: client.metadata.client_name,
      client_kind: client.kind,
      redirect_uri: asked.redirectUri,
      state: asked.state ?? null,
      challenge: asked.challenge,
      scopes: asked.offer.scopes.join(' '),
      ticked: asked.offer.ticked.join(' '),
      expires_at: after(now(), LIFETIME.request),
    })
    .execute()
  return { id, browser }
}

export async function findRequest(
  { db, now }: Accounts,
  id: string,
  browser: string,
): Promise<AuthorizationRequest | undefined> {
  const row = await db
    .selectFrom('authorization_request')
    .selectAll()
    .where('id', '=', id)
    .where('browser_hash', '=', hashOf(browser))
    .where('expires_at', '>', now().toISOString())
    .executeTakeFirst()
  return (
    row && {
      id,
      clientId: row.client_id,
      clientName: row.client_name,
      clientKind: row.client_kind,
      redirectUri: row.redirect_uri,
      state: row.state,
      scopes: scopesIn(row.scopes),
      ticked: scopesIn(row.ticked),
    }
  )
}

/** Takes a request back that its reader refused; false where it was answered before. */
export async function dropRequest({ db }: Accounts, id: string): Promise<boolean> {
  const row = await db
    .deleteFrom('authorization_request')
    .where('id', '=', id)
    .returning('id')
    .executeTakeFirst()
  return row !== undefined
}

/**
 * Makes the grant and its code, or undefined where the request was answered before. One transaction: the request is used, the
 * earlier grant of the same registered client goes with all its tokens, the new one stands. A client known by its metadata
 * document shares one id among all its installations, so its grants stand side by side.
 */
export async function grantRequest(
  { db, now, audience }: Accounts,
  requestId: string,
  readerId: string,
  scopes: readonly Scope[],
): Promise<string | undefined> {
  const code = newSecret()
  return db.transaction().execute(async (transaction) => {
    const request = await transaction
      .deleteFrom('authorization_request')
      .where('id', '=', requestId)
      .returningAll()
      .executeTakeFirst()
    if (!request) return undefined
    if (request.client_kind === 'registered') {
      // Two consents at once come one after the other here, and the later one stands.
      await transaction
        .updateTable('reader')
        .set((row) => ({ name: row.ref('name') }))
        .where('id', '=', readerId)
        .execute()
      await transaction
        .deleteFrom('oauth_grant')
        .where('reader_id', '=', readerId)
        .where('client_id', '=', request.client_id)
        .execute()
    }
    const grantId = newName()
    await transaction
      .insertInto('oauth_grant')
      .values({
        id: grantId,
        reader_id: readerId,
        client_id: request.client_id,
        client_name: request.client_name,
        client_kind: request.client_kind,
        redirect_uri: request.redirect_uri,
        scopes: scopes.join(' '),
        resource: audience,
        created_at: now().toISOString(),
        last_used_at: null,
      })
      .execute()
    await transaction
      .insertInto('authorization_code')
      .values({
        hash: hashOf(code),
        grant_id: grantId,
        redirect_uri: request.redirect_uri,
        challenge: request.challenge,
        used_at: null,
        expires_at: after(now(), LIFETIME.code),
      })
      .execute()
    return code
  })
}

/** Whether this reader has a connection to this client. */
export async function hasGrant({ db }: Accounts, readerId: string, clientId: string): Promise<boolean> {
  const row = await db
    .selectFrom('oauth_grant')
    .select('id')
    .where('reader_id', '=', readerId)
    .where('client_id', '=', clientId)
    .executeTakeFirst()
  return row !== undefined
}
