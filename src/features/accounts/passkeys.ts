import { isIP } from 'node:net'
import type { AuthenticationResponseJSON, RegistrationResponseJSON } from '@simplewebauthn/server'
import { z } from 'zod'
import type { Accounts } from './accounts.ts'
import {
  countPasskey,
  findPasskey,
  keepChallenge,
  keepPasskey,
  listPasskeys,
  takeChallenge,
} from './passkey-store.ts'
import { countAttempt, networkOf } from './rate-counter-store.ts'
import { findReader, shownName, type Reader } from './reader-store.ts'

// Passkeys (WebAuthn Level 3): the authenticator checks that it is its person and signs a challenge of ours; the browser says
// for which origin. What is signed is checked by @simplewebauthn/server; that a challenge is answered once, in the browser it
// was made for, and that counters grow, are rules of ours and of single statements.

/** Browsers know passkeys by a domain, and by https or this machine's own name; not by a number. */
export function passkeysWork({ base }: Pick<Accounts, 'base'>): boolean {
  const { protocol, hostname } = new URL(base)
  const bare = hostname.replaceAll(/^\[|\]$/g, '')
  return isIP(bare) === 0 && (protocol === 'https:' || bare === 'localhost')
}

/** The domain that passkeys are for. */
const rpIdOf = ({ base }: Accounts): string => new URL(base).hostname

const MOST_PASSKEYS = 20

/** What the browser needs to make a passkey for a reader. `browser` binds the answer. Throws `rate_limited`. */
export async function askForPasskey(
  accounts: Accounts,
  reader: Reader,
  { browser, address }: { browser: string; address: string },
): Promise<object> {
  await countAttempt(accounts, 'passkey', networkOf(address))
  const { generateRegistrationOptions } = await import('@simplewebauthn/server')
  const known = await listPasskeys(accounts.db, reader.id)
  const name = reader.email ?? reader.name ?? 'Reader'
  return generateRegistrationOptions({
    rpName: 'Commonplace',
    rpID: rpIdOf(accounts),
    userName: name,
    userDisplayName: reader.name ?? name,
    // Our name for the reader, which says nothing about them (WebAuthn §14.6.1).
    userID: new Uint8Array(Buffer.from(reader.id)),
    challenge: asBytes(await keepChallenge(accounts, browser, reader.id)),
    attestationType: 'none',
    excludeCredentials: known.map(({ id, transports }) => ({ id, transports })),
    // Signing in names nobody, so the authenticator has to know whom it is for, and to check that it is them.
    authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
  })
}

const base64url = z.string().regex(/^[\w-]{1,16384}$/)
const attestation = z.object({
  id: base64url,
  rawId: base64url,
  type: z.literal('public-key'),
  response: z.object({
    clientDataJSON: base64url,
    attestationObject: base64url,
    transports: z
      .array(z.string().regex(/^[a-z-]{1,20}$/))
      .max(10)
      .optional(),
  }),
})
const assertion = z.object({
  id: base64url,
  rawId: base64url,
  type: z.literal('public-key'),
  response: z.object({
    clientDataJSON: base64url,
    authenticatorData: base64url,
    signature: base64url,
    userHandle: base64url.nullish(),
  }),
})

/** Keeps the passkey that a browser made. False where the answer does not fit. */
export async function addPasskey(
  accounts: Accounts,
  reader: Reader,
  { browser, credential, name }: { browser: string; credential: string; name: string },
): Promise<boolean> {
  const given = attestation.safeParse(parsed(credential))
  if (!given.success) return false
  const { id, rawId, type, response } = given.data
  const answer: RegistrationResponseJSON = {
    id,
    rawId,
    type,
    response: {
      clientDataJSON: response.clientDataJSON,
      attestationObject: response.attestationObject,
    },
    clientExtensionResults: {},
  }
  const challenge = await takenChallenge(accounts, response.clientDataJSON, browser, reader.id)
  if (challenge === undefined) return false
  const { verifyRegistrationResponse } = await import('@simplewebauthn/server')
  const verified = await orUndefined(
    verifyRegistrationResponse({
      response: answer,
      expectedChallenge: challenge,
      expectedOrigin: accounts.base,
      expectedRPID: rpIdOf(accounts),
      requireUserVerification: true,
    }),
  )
  if (!verified?.verified) return false
  if ((await listPasskeys(accounts.db, reader.id)).length >= MOST_PASSKEYS) return false
  const made = verified.registrationInfo.credential
  return keepPasskey(accounts.db, {
    id: made.id,
    readerId: reader.id,
    publicKey: made.publicKey,
    counter: made.counter,
    transports: response.transports ?? [],
    name: shownName(name) ?? 'Passkey',
    createdAt: accounts.now().toISOString(),
  })
}

/** What the browser needs to let somebody sign in with any passkey of theirs. Throws `rate_limited`. */
export async function askForAnyPasskey(
  accounts: Accounts,
  { browser, address }: { browser: string; address: string },
): Promise<object> {
  await countAttempt(accounts, 'passkey', networkOf(address))
  const { generateAuthenticationOptions } = await import('@simplewebauthn/server')
  return generateAuthenticationOptions({
    rpID: rpIdOf(accounts),
    challenge: asBytes(await keepChallenge(accounts, browser, null)),
    userVerification: 'required',
  })
}

/** The reader whose passkey signed this browser's challenge, or undefined. Throws `rate_limited`. */
export async function signInWithPasskey(
  accounts: Accounts,
  { browser, credential, address }: { browser: string; credential: string; address: string },
): Promise<Reader | undefined> {
  await countAttempt(accounts, 'passkey', networkOf(address))
  const given = assertion.safeParse(parsed(credential))
  if (!given.success) return undefined
  const { id, rawId, type, response } = given.data
  const passkey = await findPasskey(accounts.db, id)
  if (!passkey) return undefined
  // The authenticator's own word of whom it is for has to be ours (WebAuthn §7.2, step 6).
  const handle = response.userHandle
  if (handle === undefined || handle === null) return undefined
  if (Buffer.from(handle, 'base64url').toString() !== passkey.readerId) return undefined
  const { userHandle: _handle, ...signed } = response
  const answer: AuthenticationResponseJSON = {
    id,
    rawId,
    type,
    response: signed,
    clientExtensionResults: {},
  }
  const challenge = await takenChallenge(accounts, response.clientDataJSON, browser, null)
  if (challenge === undefined) return undefined
  const { verifyAuthenticationResponse } = await import('@simplewebauthn/server')
  const verified = await orUndefined(
    verifyAuthenticationResponse({
      response: answer,
      expectedChallenge: challenge,
      expectedOrigin: accounts.base,
      expectedRPID: rpIdOf(accounts),
      requireUserVerification: true,
      // The counter is compared where it is written, in one statement.
      credential: { id, publicKey: passkey.publicKey, counter: 0 },
    }),
  )
  if (!verified?.verified) return undefined
  const { newCounter } = verified.authenticationInfo
  const counted = await countPasskey(accounts.db, id, newCounter, accounts.now().toISOString())
  return counted ? findReader(accounts.db, passkey.readerId) : undefined
}

/** The library throws where anything does not fit, and we have nothing to add to its no. */
async function orUndefined<T>(verification: Promise<T>): Promise<T | undefined> {
  try {
    return await verification
  } catch {
    return undefined
  }
}

/** The challenge that was signed, as the library wants it, used up; undefined where it is none of this browser's. */
async function takenChallenge(
  accounts: Accounts,
  clientData: string,
  browser: string,
  readerId: string | null,
): Promise<string | undefined> {
  const said = parsed(Buffer.from(clientData, 'base64url').toString())
  const { data } = z.object({ challenge: base64url }).safeParse(said)
  if (!data) return undefined
  // The library writes the bytes that it is given as base64url: ours are the characters of the challenge.
  const challenge = Buffer.from(data.challenge, 'base64url').toString()
  return (await takeChallenge(accounts, challenge, browser, readerId)) ? data.challenge : undefined
}

const asBytes = (challenge: string): Uint8Array<ArrayBuffer> => new Uint8Array(Buffer.from(challenge))

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
