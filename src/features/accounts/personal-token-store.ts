import type { Scope } from '../../core/define-tool.ts'
import { Failure } from '../../core/failure.ts'
import type { Accounts } from './accounts.ts'
import { after } from './lifetimes.ts'
import { scopesIn } from './scope-words.ts'
import { hashOf, newName, newSecret } from './secrets.ts'

/** What a token of a reader's own begins with, so that whoever finds one in a file knows what it is. */
export const PERSONAL_PREFIX = 'cpl_'

export interface PersonalToken {
  id: string
  name: string
  scopes: Scope[]
  /** ISO 8601, as all instants here. */
  createdAt: string
  expiresAt: string | null
  lastUsedAt: string | null
  calls: number
}

export interface NewPersonalToken {
  name: string
  scopes: readonly Scope[]
  /** Never ends by itself where left out. */
  days?: number
}

/** Makes a token for clients without OAuth; it is shown this once. Throws `invalid_input` without a name or a scope. */
export async function makePersonalToken(
  { db, now }: Accounts,
  readerId: string,
  { name, scopes, days }: NewPersonalToken,
): Promise<{ id: string; token: string }> {
  const shown = [...name.replaceAll(/[\p{Cc}\p{Cf}]+/gu, ' ').trim()].slice(0, 80).join('')
  if (shown === '' || scopes.length === 0) {
    throw new Failure('invalid_input', 'A token needs a name and at least one thing that it may do.', {
      hint: 'Name what will use it, and tick what that may do.',
    })
  }
  if (days !== undefined && !(Number.isInteger(days) && days >= 1 && days <= 3_650)) {
    throw new Failure('invalid_input', 'A token holds for 1 to 3650 days, or without an end.', {
      hint: 'Give a whole number of days.',
    })
  }
  const id = newName()
  const token = PERSONAL_PREFIX + newSecret()
  await db
    .insertInto('personal_token')
    .values({
      id,
      hash: hashOf(token),
      reader_id: readerId,
      name: shown,
      scopes: scopesIn(scopes.join(' ')).join(' '),
      created_at: now().toISOString(),
      expires_at: days === undefined ? null : after(now(), days * 86_400),
      last_used_at: null,
    })
    .execute()
  return { id, token }
}

export async function listPersonalTokens(
  { db, usage }: Accounts,
  readerId: string,
): Promise<PersonalToken[]> {
  await usage.flush()
  const rows = await db
    .selectFrom('personal_token')
    .selectAll()
    .where('reader_id', '=', readerId)
    .orderBy('created_at', 'desc')
    .execute()
  return rows.map((row) => ({
    id: row.id,
    name: row.name,
    scopes: scopesIn(row.scopes),
    createdAt: row.created_at,
    expiresAt: row.expires_at,
    lastUsedAt: row.last_used_at,
    calls: row.calls,
  }))
}

/** False where the reader has no such token. */
export async function revokePersonalToken({ db }: Accounts, readerId: string, id: string): Promise<boolean> {
  const row = await db
    .deleteFrom('personal_token')
    .where('id', '=', id)
    .where('reader_id', '=', readerId)
    .returning('id')
    .executeTakeFirst()
  return row !== undefined
}
