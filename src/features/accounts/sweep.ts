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
    'one_time_link',
    'sign_up',
    'provider_request',
    'passkey_challenge',
  ] as const) {
    await db.deleteFrom(table).where('expires_at', '<=', at).execute()
  }
  await db.deleteFrom('invitation').where('expires_at', '<=', at).where('used_at', 'is', null).execute()
  await db.deleteFrom('rate_counter').where('until', '<=', at).execute()
  await db
    .deleteFrom('authorization_code')
    .where('expires_at', '<=', after(now(), -LIFETIME.usedCode))
    .execute()
  await db
    .deleteFrom('oauth_grant')
    .where('created_at', '<=', after(now(), -LIFETIME.request))
    .where(({ not, exists, selectFrom }) =>
      not(exists(selectFrom('refresh_token').select('hash').whereRef('grant_id', '=', 'oauth_grant.id'))),
    )
    .where(({ not, exists, selectFrom }) =>
      not(exists(selectFrom('access_token').select('hash').whereRef('grant_id', '=', 'oauth_grant.id'))),
    )
    .execute()
  await db
    .deleteFrom('client_document')
    .where('fetched_at', '<=', after(now(), -7 * 86_400))
    .where('url', 'not in', (eb) => eb.selectFrom('oauth_grant').select('client_id'))
    .execute()
}
