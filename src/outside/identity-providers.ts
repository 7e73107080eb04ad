import { createPrivateKey, sign } from 'node:crypto'
import { Failure } from '../core/failure.ts'
import type { IdentityProvider } from '../core/identity-provider.ts'
import { createOpenIdProvider, type Fetch } from './openid-provider.ts'

export interface IdentityProvidersOptions {
  google?: { clientId: string; clientSecret: string }
  /** `privateKey` is the team's key, PEM. */
  apple?: { clientId: string; teamId: string; keyId: string; privateKey: string }
  oidc?: { issuer: string; clientId: string; clientSecret: string; name: string }
  /** Takes the place of the network in tests. */
  fetch?: Fetch
}

const GOOGLE_ISSUER = 'https://accounts.google.com'
const APPLE_ISSUER = 'https://appleid.apple.com'

/** The providers that are configured, in the order in which readers see them. None of them is asked before it is used. */
export function createIdentityProviders(options: IdentityProvidersOptions): IdentityProvider[] {
  const { google, apple, oidc, fetch } = options
  const shared = { ...(fetch && { fetch }) }
  return [
    ...(google
      ? [
          createOpenIdProvider({
            ...shared,
            name: 'google',
            title: 'Google',
            issuer: GOOGLE_ISSUER,
            clientId: google.clientId,
            secret: () => google.clientSecret,
            speaksFor: isGooglesOwn,
          }),
        ]
      : []),
    ...(apple
      ? [
          createOpenIdProvider({
            ...shared,
            name: 'apple',
            title: 'Apple',
            issuer: APPLE_ISSUER,
            clientId: apple.clientId,
            secret: () => appleSecret(apple, new Date()),
            // Apple answers by form where the e-mail is asked for, and knows no `profile`.
            answersBy: 'form_post' as const,
            scope: 'openid email name',
          }),
        ]
      : []),
    ...(oidc
      ? [
          createOpenIdProvider({
            ...shared,
            name: 'oidc',
            title: oidc.name,
            issuer: oidc.issuer,
            clientId: oidc.clientId,
            secret: () => oidc.clientSecret,
          }),
        ]
      : []),
  ]
}

/**
 * Google checks another mail server's address once, when the account is made: whose it is by now it does not know. It does for
 * mailboxes of its own, Gmail's and those of an organisation (`hd`)
 * (developers.google.com/identity/gsi/web/guides/verify-google-id-token).
 */
const isGooglesOwn = (email: string, { hd }: Readonly<Record<string, unknown>>): boolean =>
  /@(?:gmail|googlemail)\.com$/i.test(email) || (typeof hd === 'string' && hd !== '')

/** Within six months, says Apple; it is made anew for each sign-in, so minutes do. */
const APPLE_SECRET_SECONDS = 300

/**
 * Apple's client secret: a JWT that the team's key signs (developer.apple.com, Creating a client secret). Throws `unavailable`
 * where the key is none.
 */
function appleSecret(
  { clientId, teamId, keyId, privateKey }: NonNullable<IdentityProvidersOptions['apple']>,
  now: Date,
): string {
  const at = Math.floor(now.getTime() / 1_000)
  const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url')
  const header = part({ alg: 'ES256', kid: keyId, typ: 'JWT' })
  const claims = part({
    iss: teamId,
    sub: clientId,
    aud: APPLE_ISSUER,
    iat: at,
    exp: at + APPLE_SECRET_SECONDS,
  })
  try {
    const key = createPrivateKey(privateKey)
    const signature = sign('sha256', Buffer.from(`${header}.${claims}`), { key, dsaEncoding: 'ieee-p1363' })
    return `${header}.${claims}.${signature.toString('base64url')}`
  } catch (cause) {
    throw new Failure('unavailable', 'Apple’s key cannot be used.', {
      hint: 'COMMONPLACE_APPLE_PRIVATE_KEY takes the PEM file that Apple gave for the key.',
      cause,
    })
  }
}
