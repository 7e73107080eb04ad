import type { ServerDb } from '../../db/server/schema.ts'
import type { Accounts } from './accounts.ts'
import { after, LIFETIME } from './lifetimes.ts'
import { verifierFits } from './pkce.ts'
import { scopesIn } from './scope-words.ts'
import { hashOf, newSecret, sealOf } from './secrets.ts'

export interface IssuedTokens {
  accessToken: string
  refreshToken: string
  scopes: string
}

/** Why no tokens were given: RFC 6749 §5.2, with a sentence for whoever builds the client. */
export interface RefusedTokens {
  refused: 'invalid_grant' | 'invalid_scope'
  description: string
}

export interface CodeGiven {
  code: string
  clientId: string
  /** OAuth 2.1 §10.2: clients of the newer kind leave it out, PKCE binds the code; where it is sent it must be the same. */
  redirectUri: string | undefined
  verifier: string | undefined
}

/**
 * Redeems a code once. Everything is checked before the code is used, so that a thief without the verifier cannot spoil it;
 * used is then one atomic statement, and a second right redemption ends the connection (RFC 9700 §4.5).
 */
export async function redeemCode(
  accounts: Accounts,
  given: CodeGiven,
): Promise<IssuedTokens | RefusedTokens> {
  const now = accounts.now().toISOString()
  return accounts.db.transaction().execute(async (db) => {
    const code = await db
      .selectFrom('authorization_code as code')
      .innerJoin('oauth_grant as grant', 'grant.id', 'code.grant_id')
      .innerJoin('reader', 'reader.id', 'grant.reader_id')
      .select([
        'code.grant_id',
        'code.redirect_uri',
        'code.challenge',
        'code.expires_at',
        'grant.client_id',
        'grant.scopes',
      ])
      .where('code.hash', '=', hashOf(given.code))
      .where('reader.suspended_at', 'is', null)
      .executeTakeFirst()
    if (!code || code.client_id !== given.clientId)
      return refuse('the code is unknown or was used by another client')
    if (given.redirectUri !== undefined && given.redirectUri !== code.redirect_uri)
      return refuse('redirect_uri differs from that of the authorization request')
    if (!verifierFits(given.verifier, code.challenge))
      return refuse('code_verifier does not fit the challenge')
    if (!(await holdGrant(db, code.grant_id))) return refuse('the connection is ended')
    const used = await db
      .updateTable('authorization_code')
      .set({ used_at: now })
      .where('hash', '=', hashOf(given.code))
      .where('used_at', 'is', null)
      .returning('hash')
      .executeTakeFirst()
    if (!used) {
      await db.deleteFrom('oauth_grant').where('id', '=', code.grant_id).execute()
      return refuse('the code was used before; the connection is ended')
    }
    if (code.expires_at <= now) return refuse('the code has expired')
    return issue(accounts, db, code, newSecret())
  })
}

export interface RefreshGiven {
  refreshToken: string
  clientId: string
  scope: string | undefined
}

/**
 * Gives an access token and the refresh token's one successor. The successor is an HMAC of its parent, so that assistants that
 * refresh from several processes at once all get the same one, with no lock and nothing secret kept; a replay later than the
 * grace is theft and ends the connection (RFC 9700 §4.14.2).
 */
export async function refreshTokens(
  accounts: Accounts,
  given: RefreshGiven,
): Promise<IssuedTokens | RefusedTokens> {
  const now = accounts.now()
  const hash = hashOf(given.refreshToken)
  return accounts.db.transaction().execute(async (db) => {
    const token = await db
      .selectFrom('refresh_token as token')
      .innerJoin('oauth_grant as grant', 'grant.id', 'token.grant_id')
      .innerJoin('reader', 'reader.id', 'grant.reader_id')
      .select(['token.grant_id', 'token.expires_at', 'grant.client_id', 'grant.scopes'])
      .where('token.hash', '=', hash)
      .where('reader.suspended_at', 'is', null)
      .executeTakeFirst()
    if (!token || token.client_id !== given.clientId || token.expires_at <= now.toISOString())
      return refuse('the refresh token is unknown or has expired')
    if (scopesIn(given.scope).some((scope) => !token.scopes.split(' ').includes(scope)))
      return { refused: 'invalid_scope', description: 'more was asked for than the reader allowed' }
    if (!(await holdGrant(db, token.grant_id))) return refuse('the connection is ended')
    const used = await db
      .updateTable('refresh_token')
      .set({ used_at: now.toISOString() })
      .where('hash', '=', hash)
      .where('used_at', 'is', null)
      .returning('hash')
      .executeTakeFirst()
    if (!used && !(await isInGrace(db, hash, now))) {
      await db.deleteFrom('oauth_grant').where('id', '=', token.grant_id).execute()
      return refuse('the refresh token was used before; the connection is ended')
    }
    return issue(accounts, db, token, sealOf(accounts.keys.rotation, given.refreshToken))
  })
}

/**
 * Lets nobody else end or renew a connection until the transaction is over; false where it was ended meanwhile. PostgreSQL has
 * several writers at once: they must all take the connection before what hangs on it, as its deletion does, or two of them wait
 * for one another. Setting a column to itself holds the row on either database.
 */
async function holdGrant(db: ServerDb, grantId: string): Promise<boolean> {
  const held = await db
    .updateTable('oauth_grant')
    .set((row) => ({ calls: row.ref('calls') }))
    .where('id', '=', grantId)
    .returning('id')
    .executeTakeFirst()
  return held !== undefined
}

async function isInGrace(db: ServerDb, hash: string, now: Date): Promise<boolean> {
  const row = await db
    .selectFrom('refresh_token')
    .select('hash')
    .where('hash', '=', hash)
    .where('used_at', '>', after(now, -LIFETIME.refreshGrace))
    .executeTakeFirst()
  return row !== undefined
}

async function issue(
  { now }: Accounts,
  db: ServerDb,
  grant: { grant_id: string; scopes: string },
  refreshToken: string,
): Promise<IssuedTokens> {
  const accessToken = newSecret()
  await db
    .insertInto('access_token')
    .values({
      hash: hashOf(accessToken),
      grant_id: grant.grant_id,
      expires_at: after(now(), LIFETIME.accessToken),
    })
    .execute()
  await db
    .insertInto('refresh_token')
    .values({
      hash: hashOf(refreshToken),
      grant_id: grant.grant_id,
      used_at: null,
      created_at: now().toISOString(),
      expires_at: after(now(), LIFETIME.refreshToken),
    })
    // A replay within the grace made the same one already.
    .onConflict((conflict) => conflict.doNothing())
    .execute()
  return { accessToken, refreshToken, scopes: grant.scopes }
}

/** Ends the connection that an access or refresh token of this client belongs to; of any other token says nothing (RFC 7009 §2.2). */
export async function revokeToken({ db }: Accounts, token: string, clientId: string): Promise<void> {
  const hash = hashOf(token)
  for (const table of ['refresh_token', 'access_token'] as const) {
    await db
      .deleteFrom('oauth_grant')
      .where('client_id', '=', clientId)
      .where('id', 'in', (eb) => eb.selectFrom(table).select('grant_id').where('hash', '=', hash))
      .execute()
  }
}

const refuse = (description: string): RefusedTokens => ({ refused: 'invalid_grant', description })
