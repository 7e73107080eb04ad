import type { Person } from '../../core/identity-provider.ts'
import type { ServerDb } from '../../db/server/schema.ts'
import type { Accounts } from './accounts.ts'
import { keepIdentity } from './external-identity-store.ts'
import { useInvitation } from './invitation-store.ts'
import { insertReader, keepPassword, shownName, type Reader } from './reader-store.ts'

export interface Newcomer {
  email: string | null
  /** Whether they proved that the address is theirs. */
  verified: boolean
  name?: string
  /** Hash of the invitation that they bring. */
  invitation?: string
  passwordHash?: string
  person?: Person
}

/** `closed`: nobody may come; `invitation`: not without one that holds; `taken`: somebody has the address or the identity. */
export type Refusal = 'closed' | 'invitation' | 'taken'

class Refused extends Error {
  readonly why: Refusal
  constructor(why: Refusal) {
    super(why)
    this.why = why
  }
}

/**
 * Makes a reader of somebody from outside, as far as the sign-up mode lets them in: the invitation is used, the reader stands and
 * can sign in, all or nothing.
 */
export async function becomeReader(accounts: Accounts, newcomer: Newcomer): Promise<Reader | Refusal> {
  try {
    return await accounts.db.transaction().execute((db) => enter(accounts, db, newcomer))
  } catch (error) {
    if (error instanceof Refused) return error.why
    throw error
  }
}

async function enter(accounts: Accounts, db: ServerDb, newcomer: Newcomer): Promise<Reader> {
  const { signUp } = accounts
  const { email, verified, invitation, passwordHash, person } = newcomer
  const at = accounts.now().toISOString()
  if (signUp === 'closed') throw new Refused('closed')
  const invited = invitation !== undefined && (await useInvitation(db, invitation, email, at))
  if (signUp === 'invite' && !invited) throw new Refused('invitation')
  const reader = await insertReader(db, {
    email,
    emailVerifiedAt: email !== null && verified ? at : null,
    name: shownName(newcomer.name),
    at,
  })
  if (!reader) throw new Refused('taken')
  if (passwordHash !== undefined) await keepPassword(db, reader.id, passwordHash, at)
  if (person && !(await keepIdentity(db, reader.id, person, at))) throw new Refused('taken')
  if (invited && invitation !== undefined) {
    await db.updateTable('invitation').set({ used_by: reader.id }).where('hash', '=', invitation).execute()
  }
  return reader
}
