import type { Scope } from '../../core/define-tool.ts'
import { prepared, stateOf, type Given } from '../../db/prepared.ts'
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
 * who is suspended, or meant for another server. A revocation bites at the next request, whichever process it came from; never
 * fails otherwise than the database does.
 */
export async function authenticate(
  accounts: Accounts,
  authorization: string | undefined,
): Promise<Principal | undefined> {
  const now = accounts.now()
  const found = await find(accounts, authorization, now)
  if (found) accounts.usage.note(found.personal ? 'personal_token' : 'oauth_grant', found.id, now)
  return found?.principal
}

/** The same for a call that goes on: it is no further one. */
export const authenticateAgain = async (
  accounts: Accounts,
  authorization: string | undefined,
): Promise<Principal | undefined> => (await find(accounts, authorization, accounts.now()))?.principal

async function find(
  accounts: Accounts,
  authorization: string | undefined,
  now: Date,
): Promise<Found | undefined> {
  const token = /^Bearer +([\w-]{20,200}) *$/i.exec(authorization ?? '')?.[1]
  if (token === undefined) return undefined
  const remembered = rememberedOf(accounts.db)
  let found = remembered?.get(token)
  if (!found || found.until <= now.getTime()) {
    found = await findToken(accounts, token, now)
    if (found && remembered && remembered.size < MOST_REMEMBERED) remembered.set(token, found)
  }
  return found
}

interface Found {
  /** The token's own id where it is a personal one, else that of its grant. */
  id: string
  personal: boolean
  principal: Principal
  /** When the token expires, in milliseconds. */
  until: number
}

const MOST_REMEMBERED = 10_000
const memories = new WeakMap<Accounts['db'], { state: number; tokens: Map<string, Found> }>()

/**
 * The tokens that were found since anything was written to the accounts, by whomever; the next write forgets them all. Undefined
 * where the database cannot tell.
 */
function rememberedOf(db: Accounts['db']): Map<string, Found> | undefined {
  const state = stateOf(db)
  if (state === undefined) return undefined
  let memory = memories.get(db)
  if (memory?.state !== state) memories.set(db, (memory = { state, tokens: new Map() }))
  return memory.tokens
}

async function findToken(accounts: Accounts, token: string, now: Date): Promise<Found | undefined> {
  const given = { hash: hashOf(token), now: now.toISOString() }
  const personal = token.startsWith(PERSONAL_PREFIX)
  const [row] = personal
    ? await findPersonalToken(accounts.db, given)
    : await findAccessToken(accounts.db, { ...given, audience: accounts.audience })
  if (!row) return undefined
  return {
    id: row.id,
    personal,
    principal: {
      readerId: row.readerId,
      scopes: scopeSet(row.scopes),
      connection: row.name,
      ...(personal ? { tokenId: row.id } : { grantId: row.id }),
    },
    until: row.until === null ? Infinity : Date.parse(row.until),
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
    .select('token.expires_at as until')
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
    .select('token.expires_at as until')
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
