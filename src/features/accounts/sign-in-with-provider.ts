import type { IdentityProvider, Person } from '../../core/identity-provider.ts'
import type { Accounts } from './accounts.ts'
import { becomeReader, type Refusal } from './become-reader.ts'
import { findByIdentity, keepIdentity } from './external-identity-store.ts'
import { keepSentOut, requestFor, takeSentOut, type SentOut } from './provider-request-store.ts'
import { countAttempt, networkOf } from './rate-counter-store.ts'
import { emailKey, findReader, findReaderByEmail, checkedEmail, type Reader } from './reader-store.ts'
import { hasSession } from './session-store.ts'
import { countSignUp } from './sign-up.ts'
import { tellNewWay } from './ways-in.ts'

export const providerOf = ({ providers }: Accounts, name: string): IdentityProvider | undefined =>
  providers.find((provider) => provider.name === name)

/** Where the browser goes to sign in with a provider. Throws `rate_limited`, `unavailable`. */
export async function sendOut(
  accounts: Accounts,
  provider: IdentityProvider,
  browser: string,
  sent: Omit<SentOut, 'provider'> & { address: string },
): Promise<string> {
  await countAttempt(accounts, 'provider', networkOf(sent.address))
  const { place, invitation, session, readerId } = sent
  const state = await keepSentOut(accounts, browser, {
    provider: provider.name,
    place,
    invitation,
    session,
    readerId,
  })
  return provider.addressFor(requestFor(accounts, provider.name, state))
}

export type Returned =
  /** Sent by nobody, or used, or too late, or another browser's. */
  | 'gone'
  | { place: string; signsIn: Reader; session: string | null }
  | { place: string; linked: IdentityProvider }
  | {
      /**
       * `sign in first`: a reader has this address, and nobody proved on both sides that it is one person; `another`: the
       * identity is another reader's; the rest as for everybody who wants to become a reader.
       */
      refused: Refusal | 'sign in first' | 'another'
    }

/**
 * What comes of a browser that is back from a provider. The state is used up before anything else is looked at. Throws
 * `sign_in_refused`, `unavailable`, `rate_limited`.
 */
export async function comeBack(
  accounts: Accounts,
  provider: IdentityProvider,
  { answer, browser, address }: { answer: URLSearchParams; browser: string; address: string },
): Promise<Returned> {
  await countAttempt(accounts, 'provider', networkOf(address))
  const state = answer.get('state') ?? ''
  const sent = await takeSentOut(accounts, { state, browser, provider: provider.name })
  if (!sent) return 'gone'
  const person = await provider.identify(answer, requestFor(accounts, provider.name, state))
  return sent.readerId === null
    ? signIn(accounts, person, sent, address)
    : link(accounts, provider, person, { ...sent, readerId: sent.readerId })
}

async function link(
  accounts: Accounts,
  provider: IdentityProvider,
  person: Person,
  { readerId, session, place }: SentOut & { readerId: string },
): Promise<Returned> {
  const { db, now } = accounts
  // Signed out meanwhile, or thrown out: what was begun then is over too.
  if (session === null || !(await hasSession(accounts, readerId, session))) return 'gone'
  const reader = await findReader(db, readerId)
  if (!reader) return 'gone'
  const at = now().toISOString()
  if (await keepIdentity(db, readerId, person, at)) tellNewWay(accounts, reader, provider.title)
  else if ((await findByIdentity(db, person, at)) !== readerId) return { refused: 'another' }
  return { place, linked: provider }
}

async function signIn(
  accounts: Accounts,
  person: Person,
  { place, session, invitation, provider }: SentOut,
  address: string,
): Promise<Returned> {
  const { db, now } = accounts
  const at = now().toISOString()
  const known = await findByIdentity(db, person, at)
  if (known !== undefined) return signedIn(known)

  const owner = person.email === undefined ? undefined : await findReaderByEmail(db, person.email)
  if (owner) {
    // Either half alone is a way to take over: an address that a provider did not check, or one that was never proved here.
    if (!person.emailVerified || owner.emailVerifiedAt === null) return { refused: 'sign in first' }
    if (await keepIdentity(db, owner.id, person, at))
      tellNewWay(accounts, owner, providerOf(accounts, provider)?.title ?? 'A provider')
    // Twice at once: whoever came first linked it.
    return signedIn(await findByIdentity(db, person, at))
  }

  await countSignUp(accounts, address)
  const made = await becomeReader(accounts, {
    email: provedEmail(person),
    verified: true,
    person,
    ...(person.name !== undefined && { name: person.name }),
    ...(invitation !== null && { invitation }),
  })
  if (typeof made === 'object') return { place, signsIn: made, session }
  // Twice at once: the other one made the reader.
  const other = made === 'taken' ? await findByIdentity(db, person, at) : undefined
  return other === undefined ? { refused: made } : signedIn(other)

  async function signedIn(readerId: string | undefined): Promise<Returned> {
    const reader = readerId === undefined ? undefined : await findReader(db, readerId)
    return reader ? { place, signsIn: reader, session } : 'gone'
  }
}

/** An address that the provider did not check is nobody's: kept, it would stand in its owner's way. */
function provedEmail({ email, emailVerified }: Person): string | null {
  if (email === undefined || !emailVerified) return null
  try {
    return checkedEmail(emailKey(email))
  } catch {
    return null
  }
}
