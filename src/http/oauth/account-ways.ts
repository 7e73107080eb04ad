import { Failure } from '../../core/failure.ts'
import { renamePasskey } from '../../features/accounts/passkey-store.ts'
import { shownName } from '../../features/accounts/reader-store.ts'
import { providerOf } from '../../features/accounts/sign-in-with-provider.ts'
import { removeWay, type Way } from '../../features/accounts/ways-in.ts'
import { change, changeWay } from './account-change.ts'
import { redirect, type Endpoint, type Exchange } from './endpoint.ts'
import { leaveFor } from './with-provider.ts'

/** Sends a reader to a provider, who is then one more way in. */
export const addProvider: Endpoint = (exchange) =>
  changeWay(exchange, async (session, form) => {
    const provider = providerOf(exchange.accounts, form.get('provider') ?? '')
    if (!provider) {
      throw new Failure('invalid_input', 'This server knows no such provider.', {
        hint: 'Take one of those that are shown.',
      })
    }
    await leaveFor(exchange, provider, {
      place: '/account',
      invitation: null,
      session: session.hash,
      readerId: session.reader.id,
    })
  })

export const endProvider: Endpoint = (exchange) =>
  changeWay(exchange, async (session, form) => {
    const identity = { issuer: form.get('issuer') ?? '', subject: form.get('subject') ?? '' }
    await remove(exchange, session.reader.id, { identity })
  })

export const endPasskey: Endpoint = (exchange) =>
  changeWay(exchange, async (session, form) => {
    await remove(exchange, session.reader.id, { passkey: form.get('id') ?? '' })
  })

async function remove({ accounts, res }: Exchange, readerId: string, way: Way): Promise<void> {
  if ((await removeWay(accounts, readerId, way)) === 'last') {
    throw new Failure('invalid_input', 'This is your last way to sign in.', {
      hint: 'Set a password or add another way first.',
    })
  }
  redirect(res, '/account')
}

export const namePasskey: Endpoint = (exchange) =>
  change(exchange, async (session, form) => {
    const name = shownName(form.get('name') ?? '') ?? 'Passkey'
    await renamePasskey(exchange.accounts.db, session.reader.id, form.get('id') ?? '', name)
    redirect(exchange.res, '/account')
  })
