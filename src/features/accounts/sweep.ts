import type { Accounts } from './accounts.ts'
import { after, LIFETIME } from './lifetimes.ts'

/**
 * Removes what is over. Registered clients stay for ever; a connection goes when it holds nothing that could still be used, a
 * metadata document when nobody has a connection to its client.
 */
export async function sweep({ db, now }: Pick<Accounts, 'db' | 'now'>): Promise<void> {
  const at = now().toISOString()
  for (const table of [
    'authorization_request',
    'access_token',
    'refresh_token',
    'session',
    'sign_in_link',
  ] as const) {
    await db.deleteFrom(table).where('expires_at', '<=', at).execute()
  }
  await db.deleteFrom('rate_counter').where('until', '<=', at).execute()
  await db
    .deleteFrom('authorization_code')
    .where('expires_at', '<=', after(now(), -LIFETIME.usedCode))
    .execute()
  await db
    .deleteFrom('oauth_grant')
    .where('created_at', '<=', after(now(), -LIFETIME.request))
    .where('id', 'not in', (eb) => eb.selectFrom('refresh_token').select('grant_id'))
    .where('id', 'not in', (eb) => eb.selectFrom('access_token').select('grant_id'))
    .execute()
  await db
    .deleteFrom('client_document')
    .where('fetched_at', '<=', after(now(), -7 * 86_400))
    .where('url', 'not in', (eb) => eb.selectFrom('oauth_grant').select('client_id'))
    .execute()
}
