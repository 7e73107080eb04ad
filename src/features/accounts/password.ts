import { randomBytes, scrypt, timingSafeEqual } from 'node:crypto'
import { Failure } from '../../core/failure.ts'

/** How hard a guess is: scrypt's N as a power of two. */
export type PasswordCost = number

/** OWASP's password storage cheat sheet: N = 2^15 with r = 8 and p = 3 (32 MiB a guess). */
export const PASSWORD_COST: PasswordCost = 15
const BLOCK_SIZE = 8
const PARALLELIZATION = 3
const KEY_BYTES = 32

/**
 * Stretches at once. They take the threads that files, names of hosts and compression wait for as well (libuv has four): anybody
 * can send passwords from many networks, and the rest of the server has to go on.
 */
const AT_ONCE = 2
/** Who waits longer than for these has given up, and needs no work done for them. */
const MOST_WAITING = 64
const waiting: (() => void)[] = []
let running = 0

/** A hash that says its own parameters, so that they can be raised later: `scrypt$15$8$3$salt$key`. Throws `rate_limited`. */
export async function hashPassword(password: string, cost: PasswordCost): Promise<string> {
  const salt = randomBytes(16)
  const key = await stretch(password, salt, cost, BLOCK_SIZE, PARALLELIZATION)
  return written(cost, text(salt), text(key))
}

/** Whether the password is the one that was hashed. Takes the same time whether it is or not. Throws `rate_limited`. */
export async function passwordFits(password: string, hash: string): Promise<boolean> {
  const [, exponent, blockSize, parallelization, salt, key] = hash.split('$')
  if (salt === undefined || key === undefined) return false
  const right = Buffer.from(key, 'base64url')
  const made = await stretch(
    password,
    Buffer.from(salt, 'base64url'),
    Number(exponent),
    Number(blockSize),
    Number(parallelization),
  )
  return made.length === right.length && timingSafeEqual(made, right)
}

/** What an unknown reader's password is compared with, so that the answer takes as long as for a known one. Nothing fits it. */
export const nobodysHash = (cost: PasswordCost): string => written(cost, 'A'.repeat(22), 'A'.repeat(43))

const written = (cost: PasswordCost, salt: string, key: string): string =>
  ['scrypt', cost, BLOCK_SIZE, PARALLELIZATION, salt, key].join('$')

const text = (bytes: Buffer): string => bytes.toString('base64url')

/** Throws `rate_limited` where too many wait. */
async function stretch(
  password: string,
  salt: Buffer,
  exponent: number,
  r: number,
  p: number,
): Promise<Buffer> {
  if (running < AT_ONCE) running++
  else {
    if (waiting.length >= MOST_WAITING) throw tooMany()
    // Whoever is done hands its place on.
    await new Promise<void>((resolve) => waiting.push(resolve))
  }
  try {
    return await stretchNow(password, salt, exponent, r, p)
  } finally {
    const next = waiting.shift()
    if (next) next()
    else running--
  }
}

function stretchNow(password: string, salt: Buffer, exponent: number, r: number, p: number): Promise<Buffer> {
  const options = { N: 2 ** exponent, r, p, maxmem: 256 * r * 2 ** exponent }
  return new Promise((resolve, reject) => {
    // NFKC: the same password typed on another keyboard is the same characters (NIST SP 800-63B §5.1.1.2).
    scrypt(password.normalize('NFKC'), salt, KEY_BYTES, options, (error, key) => {
      if (error) reject(error)
      else resolve(key)
    })
  })
}

const tooMany = (): Failure =>
  new Failure('rate_limited', 'Too many passwords are being looked at on this server.', {
    hint: 'Try again in a moment.',
    retryAfterSeconds: 10,
  })
