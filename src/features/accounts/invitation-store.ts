import type { ServerDb } from '../../db/server/schema.ts'
import { Failure } from '../../core/failure.ts'
import type { Letter } from '../../core/mail.ts'
import type { Accounts } from './accounts.ts'
import { invitationLetter } from './letters.ts'
import { after, LIFETIME } from './lifetimes.ts'
import { checkedEmail, findReader } from './reader-store.ts'
import { hashOf, newName, newSecret } from './secrets.ts'
import { hostOf, sendLetter } from './send-letter.ts'

export interface NewInvitation {
  /** The only address that may use it; any, where left out. */
  email?: string
  /** The reader who invites; the operator at the command line has none. */
  invitedBy?: string
  /** Sends it to `email`. Nobody else sees the link then, so that using it proves the mailbox. */
  byMail?: boolean
  /** Is there only once the mail server has taken the letter; else a letter goes after the answer that is being made. */
  waitForMail?: boolean
}

export interface Invitation {
  id: string
  email: string | null
  mailed: boolean
  /** Who invited, as readers know them; null for the command line, and for a reader who is gone. */
  invitedBy: string | null
  /** ISO 8601. */
  createdAt: string
  expiresAt: string
  usedAt: string | null
  /** The reader that it made, as long as there is one. */
  usedBy: string | null
}

/**
 * Invites somebody for seven days, once. `link` is undefined where it went by mail. Throws `invalid_input` where the address is
 * none or there is no mail to send it by, and where it is waited for `unavailable`: then nobody is invited.
 */
export async function makeInvitation(
  accounts: Accounts,
  { email, invitedBy, byMail = false, waitForMail = false }: NewInvitation = {},
): Promise<{ id: string; link: string | undefined; expiresAt: string }> {
  const { db, now, base } = accounts
  const to = email === undefined ? null : checkedEmail(email)
  if (byMail && (!accounts.mail || to === null)) {
    throw new Failure('invalid_input', 'This invitation cannot go by mail.', {
      hint: 'Give the address it is for and set COMMONPLACE_SMTP_URL, or pass the link on yourself.',
    })
  }
  const id = newName()
  const secret = newSecret()
  const expiresAt = after(now(), LIFETIME.invitation)
  await db
    .insertInto('invitation')
    .values({
      id,
      hash: hashOf(secret),
      email: to,
      mailed: byMail ? 1 : 0,
      invited_by: invitedBy ?? null,
      created_at: now().toISOString(),
      expires_at: expiresAt,
    })
    .execute()
  const link = `${base}/sign-up?invitation=${secret}`
  if (!byMail || to === null) return { id, link, expiresAt }
  const write = async (): Promise<Letter> => {
    const inviter = invitedBy === undefined ? undefined : await findReader(db, invitedBy)
    const host = hostOf(accounts)
    return { to, ...invitationLetter(host, inviter?.email ?? `Whoever runs ${host}`, link) }
  }
  if (!waitForMail) {
    sendLetter(accounts, write)
    return { id, link: undefined, expiresAt }
  }
  try {
    await accounts.mail?.send(await write())
  } catch (error) {
    await withdrawInvitation(accounts, id)
    throw error
  }
  return { id, link: undefined, expiresAt }
}

/** Those that hold still, or were used; the newest first. */
export async function listInvitations({ db, now }: Accounts, invitedBy?: string): Promise<Invitation[]> {
  const rows = await db
    .selectFrom('invitation')
    .leftJoin('reader as inviter', 'inviter.id', 'invitation.invited_by')
    .leftJoin('reader as user', 'user.id', 'invitation.used_by')
    .select([
      'invitation.id',
      'invitation.email',
      'invitation.mailed',
      'invitation.created_at',
      'invitation.expires_at',
      'invitation.used_at',
      'inviter.email as inviter_email',
      'inviter.name as inviter_name',
      'inviter.id as inviter_id',
      'user.email as user_email',
      'user.name as user_name',
      'user.id as user_id',
    ])
    .where((row) =>
      row.or([
        row('invitation.used_at', 'is not', null),
        row('invitation.expires_at', '>', now().toISOString()),
      ]),
    )
    .$if(invitedBy !== undefined, (query) => query.where('invitation.invited_by', '=', invitedBy ?? ''))
    .orderBy('invitation.created_at', 'desc')
    .orderBy('invitation.id')
    .execute()
  return rows.map((row) => ({
    id: row.id,
    email: row.email,
    mailed: row.mailed === 1,
    invitedBy: row.inviter_email ?? row.inviter_name ?? row.inviter_id,
    createdAt: row.created_at,
    expiresAt: row.expires_at,
    usedAt: row.used_at,
    usedBy: row.user_email ?? row.user_name ?? row.user_id,
  }))
}

/** Takes back what nobody used yet; false where there is no such invitation. */
export async function withdrawInvitation({ db }: Accounts, id: string, invitedBy?: string): Promise<boolean> {
  const row = await db
    .deleteFrom('invitation')
    .where('id', '=', id)
    .where('used_at', 'is', null)
    .$if(invitedBy !== undefined, (query) => query.where('invited_by', '=', invitedBy ?? ''))
    .returning('id')
    .executeTakeFirst()
  return row !== undefined
}

/** An invitation that still holds, without using it. */
export async function findInvitation(
  { db, now }: Accounts,
  hash: string,
): Promise<{ email: string | null; mailed: boolean } | undefined> {
  const row = await db
    .selectFrom('invitation')
    .select(['email', 'mailed'])
    .where('hash', '=', hash)
    .where('used_at', 'is', null)
    .where('expires_at', '>', now().toISOString())
    .executeTakeFirst()
  return row && { email: row.email, mailed: row.mailed === 1 }
}

/**
 * Uses an invitation up for this proved address: one statement, so that of any number at once one gets it. False where it is
 * used, over, or somebody else's.
 */
export async function useInvitation(
  db: ServerDb,
  hash: string,
  email: string | null,
  at: string,
): Promise<boolean> {
  const row = await db
    .updateTable('invitation')
    .set({ used_at: at })
    .where('hash', '=', hash)
    .where('used_at', 'is', null)
    .where('expires_at', '>', at)
    .where((invitation) =>
      invitation.or([invitation('email', 'is', null), invitation('email', '=', email ?? '')]),
    )
    .returning('id')
    .executeTakeFirst()
  return row !== undefined
}
