import { createHash, createHmac, hash, hkdfSync, randomBytes, timingSafeEqual } from 'node:crypto'

/** 256 random bits, base64url: what is handed out as a code, a token, a cookie or a link. */
export const newSecret = (): string => randomBytes(32).toString('base64url')

/** 128 random bits, base64url, for what is named and not secret. */
export const newName = (): string => randomBytes(16).toString('base64url')

/** SHA-256, base64url: how a secret of full strength is kept (it needs no salt and no stretching). */
export const hashOf = (secret: string): string => hash('sha256', secret, 'base64url')

/** Compares without telling by its time where the two differ. */
export function isSame(given: string | null | undefined, right: string): boolean {
  const a = createHash('sha256')
    .update(given ?? '')
    .digest()
  const b = createHash('sha256').update(right).digest()
  return given !== null && given !== undefined && timingSafeEqual(a, b)
}

/** HMAC-SHA-256 of parts that cannot run into one another, base64url. */
export const sealOf = (key: Buffer, ...parts: string[]): string =>
  createHmac('sha256', key).update(JSON.stringify(parts)).digest('base64url')

/** A key for one purpose from the server's secret (RFC 5869). */
export const keyFor = (secret: string, purpose: string): Buffer =>
  Buffer.from(hkdfSync('sha256', secret, '', purpose, 32))
