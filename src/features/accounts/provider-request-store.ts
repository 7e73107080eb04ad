import type { ProviderRequest } from '../../core/identity-provider.ts'
import type { Accounts } from './accounts.ts'
import { after, LIFETIME } from './lifetimes.ts'
import { hashOf, newSecret, sealOf } from './secrets.ts'

/** What a browser was sent to a provider for. */
export interface SentOut {
  provider: string
  /** Where to go afterwards: a path of ours. */
  place: string
  /** Hash of the invitation that the person brings. */
  invitation: string | null
  /** Hash of the session that the browser had. */
  session: string | null
  /** The reader who wants the provider beside their other ways in; null where somebody signs in. */
  readerId: string | null
}

/** Remembers what for, bound to the browser that has `browser` in a cookie, and gives the state. */
export async function keepSentOut({ db, now }: Accounts, browser: string, sent: SentOut): Promise<string> {
  const state = newSecret()
  await db
    .insertInto('provider_request')
    .values({
      hash: hashOf(state),
      browser_hash: hashOf(browser),
      provider: sent.provider,
      place: sent.place,
      invitation_hash: sent.invitation,
      session_hash: sent.session,
      reader_id: sent.readerId,
      expires_at: after(now(), LIFETIME.providerRequest),
    })
    .execute()
  return state
}

/**
 * What a browser that comes back was sent for: found and forgotten in one statement, so that an answer counts once. Undefined
 * for the state of another browser, of another provider, or of long ago.
 */
export async function takeSentOut(
  { db, now }: Accounts,
  { state, browser, provider }: { state: string; browser: string; provider: string },
): Promise<SentOut | undefined> {
  const row = await db
    .deleteFrom('provider_request')
    .where('hash', '=', hashOf(state))
    .where('browser_hash', '=', hashOf(browser))
    .where('provider', '=', provider)
    .where('expires_at', '>', now().toISOString())
    .returningAll()
    .executeTakeFirst()
  return (
    row && {
      provider: row.provider,
      place: row.place,
      invitation: row.invitation_hash,
      session: row.session_hash,
      readerId: row.reader_id,
    }
  )
}

/** The question as the provider gets it: what must not be known in advance is made of the state, and lies nowhere. */
export const requestFor = (accounts: Accounts, provider: string, state: string): ProviderRequest => ({
  state,
  nonce: sealOf(accounts.keys.providers, 'nonce', provider, state),
  verifier: sealOf(accounts.keys.providers, 'verifier', provider, state),
  redirectUri: `${accounts.base}/sign-in/with/${provider}/callback`,
})
