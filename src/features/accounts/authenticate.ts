import type { Scope } from '../../core/define-tool.ts'
import { prepared, type Given } from '../../db/prepared.ts'
import type { ServerDb } from '../../db/server/schema.ts'
import type { Accounts } from './accounts.ts'
import { PERSONAL_PREFIX } from './personal-token-store.ts'
import { scopesIn } from './scope-words.ts'
import { hashOf } from './secrets.ts'

/** Who is calling, and what they may see and do. */
export type Principal = {
  readerId: string
  scopes: ReadonlySet<Scope>
  /** The assistant's or token's name, as the reader's audit log shows it. */
  connection: string
} & ({ grantId: string } | { tokenId: string })

/**
 * The principal of an `Authorization` header, or undefined where there is none, or it is unknown, expired, revoked, of a reader
 * who is suspended, or meant for another server. Looked up each time, so that a revocation bites at the next request; never
 * fails otherwise than the database does.
 */
export async function authenticate(
  accounts: Accounts,
  authorization: string | undefined,
): Promise<Principal | undefined> {
  const token = /^Bearer +([\w-]{20,200}) *$/i.exec(authorization ?? '')?.[1]
  if (token === undefined) return undefined
  const now = accounts.now()
  const personal = token.startsWith(PERSONAL_PREFIX)
  const given = { hash: hashOf(token), now: now.toISOString() }
  const [row] = personal
    ? await findPersonalToken(accounts.db, given)
    : await findAccessToken(accounts.db, { ...given, audience: accounts.audience })
  if (!row) return undefined
  accounts.usage.note(personal ? 'personal_token' : 'oauth_grant', row.id, now)
  return {
    readerId: row.readerId,
    scopes: scopeSet(row.scopes),
    connection: row.name,
    ...(personal ? { tokenId: row.id } : { grantId: row.id }),
  }
}

interface TokenGiven {
  hash: string
  now: string
}

const findAccessToken = prepared((db: ServerDb, given: Given<TokenGiven & { audience: string }>) =>
  db
    .selectFrom('access_token as token')
    .innerJoin('oauth_grant as grant', 'grant.id', 'token.grant_id')
    .innerJoin('reader', 'reader.id', 'grant.reader_id')
    .select(['grant.id', 'grant.reader_id as readerId', 'grant.client_name as name', 'grant.scopes'])
    .where('token.hash', '=', given.value('hash'))
    .where('token.expires_at', '>', given.value('now'))
    .where('grant.resource', '=', given.value('audience'))
    .where('reader.suspended_at', 'is', null),
)

const findPersonalToken = prepared((db: ServerDb, given: Given<TokenGiven>) =>
  db
    .selectFrom('personal_token as token')
    .innerJoin('reader', 'reader.id', 'token.reader_id')
    .select(['token.id', 'token.reader_id as readerId', 'token.name', 'token.scopes'])
    .where('token.hash', '=', given.value('hash'))
    .where((row) =>
      row.or([row('token.expires_at', 'is', null), row('token.expires_at', '>', given.value('now'))]),
    )
    .where('reader.suspended_at', 'is', null),
)

const scopeSets = new Map<string, ReadonlySet<Scope>>()

function scopeSet(text: string): ReadonlySet<Scope> {
  const known = scopeSets.get(text)
  if (known) return known
  const made: ReadonlySet<Scope> = new Set(scopesIn(text))
  if (scopeSets.size >= 1_000) scopeSets.clear()
  scopeSets.set(text, made)
  return made
}
