import { CompiledQuery } from 'kysely'
import type { Scope } from '../../core/define-tool.ts'
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

interface Row {
  id: string
  readerId: string
  name: string
  scopes: string
}

/**
 * The principal of an `Authorization` header, or undefined where there is none, or it is unknown, expired, revoked, of a reader
 * who is suspended, or meant for another server. Looked up each time, so that a revocation bites at the next request; never fails otherwise than the
 * database does.
 */
export async function authenticate(
  accounts: Accounts,
  authorization: string | undefined,
): Promise<Principal | undefined> {
  const token = /^Bearer +([\w-]{20,200}) *$/i.exec(authorization ?? '')?.[1]
  if (token === undefined) return undefined
  const now = accounts.now()
  const personal = token.startsWith(PERSONAL_PREFIX)
  const query = personal ? personalTokenQuery(accounts) : accessTokenQuery(accounts)
  const parameters = personal
    ? [hashOf(token), now.toISOString()]
    : [hashOf(token), now.toISOString(), accounts.audience]
  const { rows } = await accounts.db.executeQuery<Row>({ ...query, parameters })
  const row = rows[0]
  if (!row) return undefined
  accounts.usage.note(personal ? 'personal_token' : 'oauth_grant', row.id, now)
  return {
    readerId: row.readerId,
    scopes: scopeSet(row.scopes),
    connection: row.name,
    ...(personal ? { tokenId: row.id } : { grantId: row.id }),
  }
}

// Built once for each database: putting a query together costs several times what running it does.
const built = new WeakMap<Accounts['db'], { access: CompiledQuery<Row>; personal: CompiledQuery<Row> }>()

function queriesOf({ db }: Accounts) {
  const known = built.get(db)
  if (known) return known
  const made = {
    access: db
      .selectFrom('access_token as token')
      .innerJoin('oauth_grant as grant', 'grant.id', 'token.grant_id')
      .innerJoin('reader', 'reader.id', 'grant.reader_id')
      .select(['grant.id', 'grant.reader_id as readerId', 'grant.client_name as name', 'grant.scopes'])
      .where('token.hash', '=', '')
      .where('token.expires_at', '>', '')
      .where('grant.resource', '=', '')
      .where('reader.suspended_at', 'is', null)
      .compile(),
    personal: db
      .selectFrom('personal_token as token')
      .innerJoin('reader', 'reader.id', 'token.reader_id')
      .select(['token.id', 'reader_id as readerId', 'token.name', 'scopes'])
      .where('hash', '=', '')
      .where((row) => row.or([row('expires_at', 'is', null), row('expires_at', '>', '')]))
      .where('reader.suspended_at', 'is', null)
      .compile(),
  }
  built.set(db, made)
  return made
}

const accessTokenQuery = (accounts: Accounts) => queriesOf(accounts).access
const personalTokenQuery = (accounts: Accounts) => queriesOf(accounts).personal

const scopeSets = new Map<string, ReadonlySet<Scope>>()

function scopeSet(text: string): ReadonlySet<Scope> {
  const known = scopeSets.get(text)
  if (known) return known
  const made: ReadonlySet<Scope> = new Set(scopesIn(text))
  if (scopeSets.size >= 1_000) scopeSets.clear()
  scopeSets.set(text, made)
  return made
}
