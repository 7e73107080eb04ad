import { hashOf, isSame } from './secrets.ts'

/** A challenge of method S256: the base64url of 32 bytes (RFC 7636 §4.2). `plain` protects from nothing and is not taken. */
export const isChallenge = (challenge: string | undefined, method: string | undefined): challenge is string =>
  method === 'S256' && challenge !== undefined && /^[\w-]{43}$/.test(challenge)

/** Whether the verifier is the one that the challenge was made of (RFC 7636 §4.6). */
export const verifierFits = (verifier: string | undefined, challenge: string): boolean =>
  verifier !== undefined && /^[\w.~-]{43,128}$/.test(verifier) && isSame(hashOf(verifier), challenge)
