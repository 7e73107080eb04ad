import type { IdentityProvider } from '../../core/identity-provider.ts'
import type { ServerDb } from '../../db/server/schema.ts'
import type { Accounts } from './accounts.ts'
import { dropIdentity, listIdentities, type ExternalIdentity } from './external-identity-store.ts'
import { newWayLetter } from './letters.ts'
import { dropPasskey, listPasskeys, type Passkey } from './passkey-store.ts'
import { passkeysWork } from './passkeys.ts'
import { findPassword, findReader, type Reader } from './reader-store.ts'
import { hostOf, sendLetter } from './send-letter.ts'

/** How a reader can sign in. */
export interface WaysIn {
  password: boolean
  passkeys: Passkey[]
  identities: (ExternalIdentity & {
    /** Undefined where the operator took the provider away. */
    provider: IdentityProvider | undefined
  })[]
  /** Whether a link by mail signs them in. */
  mail: boolean
}

export const waysIn = (accounts: Accounts, reader: Reader): Promise<WaysIn> =>
  waysOf(accounts, accounts.db, reader)

async function waysOf(accounts: Accounts, db: ServerDb, reader: Reader): Promise<WaysIn> {
  const identities = await listIdentities(db, reader.id)
  return {
    password: (await findPassword(db, reader.id)) !== undefined,
    passkeys: await listPasskeys(db, reader.id),
    identities: identities.map((identity) => ({
      ...identity,
      provider: accounts.providers.find(({ issuer }) => issuer === identity.issuer),
    })),
    mail: accounts.mail !== undefined && reader.emailVerifiedAt !== null,
  }
}

/** How many ways are left that work here and now. */
function countOf(
  accounts: Accounts,
  reader: Reader,
  { password, passkeys, identities, mail }: WaysIn,
): number {
  return (
    (password && reader.email !== null ? 1 : 0) +
    (passkeysWork(accounts) ? passkeys.length : 0) +
    identities.filter(({ provider }) => provider !== undefined).length +
    (mail ? 1 : 0)
  )
}

/** Whether a reader gets in without anybody's help. */
export const canSignIn = async (accounts: Accounts, reader: Reader): Promise<boolean> =>
  countOf(accounts, reader, await waysIn(accounts, reader)) > 0

export type Way = { passkey: string } | { identity: Pick<ExternalIdentity, 'issuer' | 'subject'> }

/** Takes a way to sign in away, unless it is the last one; `unknown` where the reader has no such one. */
export async function removeWay(
  accounts: Accounts,
  readerId: string,
  way: Way,
): Promise<'removed' | 'last' | 'unknown'> {
  class Last extends Error {}
  try {
    return await accounts.db.transaction().execute(async (db) => {
      // Two at once would each see the other's way still there: whoever holds the reader's row goes first.
      await db
        .updateTable('reader')
        .set((row) => ({ name: row.ref('name') }))
        .where('id', '=', readerId)
        .execute()
      const reader = await findReader(db, readerId)
      const removed =
        'passkey' in way
          ? await dropPasskey(db, readerId, way.passkey)
          : await dropIdentity(db, readerId, way.identity)
      if (!reader || !removed) return 'unknown'
      if (countOf(accounts, reader, await waysOf(accounts, db, reader)) === 0) throw new Last()
      return 'removed'
    })
  } catch (error) {
    if (error instanceof Last) return 'last'
    throw error
  }
}

/** Tells a reader that they can sign in by one more way: if it was somebody else, they know. */
export function tellNewWay(accounts: Accounts, { email }: Reader, way: string): void {
  if (email === null) return
  sendLetter(accounts, async () => ({
    to: email,
    ...newWayLetter(hostOf(accounts), way, `${accounts.base}/account`),
  }))
}
