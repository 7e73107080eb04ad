import type { Scope } from '../../core/define-tool.ts'
import type { Accounts } from './accounts.ts'
import type { ClientKind } from './client-store.ts'
import { scopesIn } from './scope-words.ts'

/** An assistant that a reader let in. */
export interface Connection {
  id: string
  name: string
  /** Where it is known from: registered here under a name nobody checked, or by the document at its own address. */
  kind: ClientKind
  clientId: string
  /** Where the reader's browser was sent when they allowed it. */
  redirectUri: string
  scopes: Scope[]
  /** ISO 8601. */
  createdAt: string
  lastUsedAt: string | null
  calls: number
}

export async function listConnections({ db, usage }: Accounts, readerId: string): Promise<Connection[]> {
  await usage.flush()
  const rows = await db
    .selectFrom('oauth_grant')
    .selectAll()
    .where('reader_id', '=', readerId)
    .orderBy('created_at', 'desc')
    .execute()
  return rows.map((row) => ({
    id: row.id,
    name: row.client_name,
    kind: row.client_kind,
    clientId: row.client_id,
    redirectUri: row.redirect_uri,
    scopes: scopesIn(row.scopes),
    createdAt: row.created_at,
    lastUsedAt: row.last_used_at,
    calls: row.calls,
  }))
}

/** Ends a connection with its next request; false where the reader has no such one. */
export async function revokeConnection({ db }: Accounts, readerId: string, id: string): Promise<boolean> {
  const row = await db
    .deleteFrom('oauth_grant')
    .where('id', '=', id)
    .where('reader_id', '=', readerId)
    .returning('id')
    .executeTakeFirst()
  return row !== undefined
}
