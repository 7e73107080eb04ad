import type { ServerDb } from '../../db/server/schema.ts'

/**
 * Everything that a server knows of a reader beside their library, as `account.json` holds it: never a hash, a key or a token.
 * Undefined where there is no such reader.
 */
export async function accountFacts(db: ServerDb, readerId: string) {
  const reader = await db
    .selectFrom('reader')
    .select(['id', 'email', 'email_verified_at', 'name', 'created_at', 'suspended_at'])
    .where('id', '=', readerId)
    .executeTakeFirst()
  if (!reader) return undefined
  const passwords = await db
    .selectFrom('credential')
    .select(['kind', 'created_at as setAt'])
    .where('reader_id', '=', readerId)
    .execute()
  const providers = await db
    .selectFrom('external_identity')
    .select(['issuer', 'subject', 'email', 'created_at as createdAt', 'last_used_at as lastUsedAt'])
    .where('reader_id', '=', readerId)
    .orderBy('created_at')
    .execute()
  const passkeys = await db
    .selectFrom('passkey')
    .select(['name', 'created_at as createdAt', 'last_used_at as lastUsedAt'])
    .where('reader_id', '=', readerId)
    .orderBy('created_at')
    .execute()
  const sessions = await db
    .selectFrom('session')
    .select([
      'created_at as createdAt',
      'expires_at as expiresAt',
      'last_used_at as lastUsedAt',
      'agent',
      'network',
    ])
    .where('reader_id', '=', readerId)
    .orderBy('created_at')
    .execute()
  const connections = await db
    .selectFrom('oauth_grant')
    .select([
      'client_name as name',
      'client_id as clientId',
      'client_kind as kind',
      'redirect_uri as redirectUri',
      'scopes',
      'created_at as createdAt',
      'last_used_at as lastUsedAt',
      'calls',
    ])
    .where('reader_id', '=', readerId)
    .orderBy('created_at')
    .execute()
  const tokens = await db
    .selectFrom('personal_token')
    .select([
      'name',
      'scopes',
      'created_at as createdAt',
      'expires_at as expiresAt',
      'last_used_at as lastUsedAt',
      'calls',
    ])
    .where('reader_id', '=', readerId)
    .orderBy('created_at')
    .execute()
  const invitations = await db
    .selectFrom('invitation')
    .select(['email', 'created_at as createdAt', 'expires_at as expiresAt', 'used_at as usedAt'])
    .where('invited_by', '=', readerId)
    .orderBy('created_at')
    .execute()
  const credits = await db
    .selectFrom('credit_entry')
    .select(['month', 'amount as spent', 'what', 'at'])
    .where('reader_id', '=', readerId)
    .orderBy('at')
    .execute()
  const feedback = await db
    .selectFrom('feedback')
    .select(['body', 'created_at as createdAt', 'done_at as doneAt'])
    .where('reader_id', '=', readerId)
    .orderBy('created_at')
    .execute()
  return {
    reader: {
      id: reader.id,
      email: reader.email,
      emailVerifiedAt: reader.email_verified_at,
      name: reader.name,
      createdAt: reader.created_at,
      suspendedAt: reader.suspended_at,
    },
    signIn: { passwords, providers, passkeys },
    sessions,
    connections: connections.map((one) => ({ ...one, scopes: one.scopes.split(' ').filter(Boolean) })),
    tokens: tokens.map((one) => ({ ...one, scopes: one.scopes.split(' ').filter(Boolean) })),
    invitations,
    credits,
    feedback,
  }
}
