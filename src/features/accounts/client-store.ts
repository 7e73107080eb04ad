import type { ServerDb } from '../../db/server/schema.ts'
import type { Accounts } from './accounts.ts'
import type { ClientMetadata } from './client-metadata.ts'
import { hashOf, newName, newSecret, sealOf } from './secrets.ts'

export type ClientKind = 'registered' | 'document'

/** An assistant that may ask readers for a connection. */
export interface Client {
  id: string
  kind: ClientKind
  metadata: ClientMetadata
  /** Null where it proves itself by PKCE alone. */
  secretHash: string | null
}

export interface Registration {
  id: string
  /** Shown this once. */
  secret: string | undefined
  issuedAt: Date
}

export async function registerClient({ db, now }: Accounts, metadata: ClientMetadata): Promise<Registration> {
  const id = newName()
  const secret = metadata.token_endpoint_auth_method === 'none' ? undefined : newSecret()
  const issuedAt = now()
  await db
    .insertInto('oauth_client')
    .values({
      id,
      metadata: JSON.stringify(metadata),
      secret_hash: secret === undefined ? null : hashOf(secret),
      created_at: issuedAt.toISOString(),
    })
    .execute()
  return { id, secret, issuedAt }
}

/** With which a client reads its own registration (RFC 7592); nothing of it is kept. */
export const registrationTokenOf = ({ keys }: Accounts, clientId: string): string =>
  sealOf(keys.registration, clientId)

/** A client as we know it, without asking it anew. */
export async function findClient(db: ServerDb, id: string): Promise<Client | undefined> {
  if (isDocumentId(id)) {
    const document = await findDocument(db, id)
    return document && documentClient(id, document.metadata)
  }
  const row = await db
    .selectFrom('oauth_client')
    .select(['metadata', 'secret_hash'])
    .where('id', '=', id)
    .executeTakeFirst()
  if (!row) return undefined
  return {
    id,
    kind: 'registered',
    metadata: JSON.parse(row.metadata) as ClientMetadata,
    secretHash: row.secret_hash,
  }
}

/** Whether a client id is the address of a metadata document. */
export const isDocumentId = (id: string): boolean => id.startsWith('https://')

export const documentClient = (id: string, metadata: ClientMetadata): Client => ({
  id,
  kind: 'document',
  metadata,
  secretHash: null,
})

export async function findDocument(
  db: ServerDb,
  url: string,
): Promise<{ metadata: ClientMetadata; fetchedAt: string } | undefined> {
  const row = await db.selectFrom('client_document').selectAll().where('url', '=', url).executeTakeFirst()
  return row && { metadata: JSON.parse(row.metadata) as ClientMetadata, fetchedAt: row.fetched_at }
}

export async function keepDocument(
  { db, now }: Accounts,
  url: string,
  metadata: ClientMetadata,
): Promise<void> {
  const kept = { metadata: JSON.stringify(metadata), fetched_at: now().toISOString() }
  await db
    .insertInto('client_document')
    .values({ url, ...kept })
    .onConflict((conflict) => conflict.column('url').doUpdateSet(kept))
    .execute()
}
