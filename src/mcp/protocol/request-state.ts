import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import { invalidParams } from './errors.ts'
import { isObject } from './messages.ts'

/**
 * Signs what a question carries through the client (`requestState`): bound to one principal and one request, for a
 * short while. It can be presented twice in that time; what must happen once has to be guarded by the application.
 */
export class RequestState {
  readonly #key: Buffer
  readonly #ttlMs: number

  constructor({ key = randomBytes(32), ttlMs = 10 * 60_000 }: { key?: Buffer; ttlMs?: number } = {}) {
    this.#key = key
    this.#ttlMs = ttlMs
  }

  /** `value` is any JSON; it is signed and readable, not secret. */
  seal(value: unknown, boundTo: string): string {
    const until = Date.now() + this.#ttlMs
    const body = Buffer.from(JSON.stringify({ value, until })).toString('base64url')
    return `${body}.${this.#mac(body, boundTo)}`
  }

  /** Throws `-32602` on anything that `seal` did not make for the same binding, or that has lapsed. */
  open(state: string, boundTo: string): unknown {
    const [body = '', mac = ''] = state.split('.')
    const given = Buffer.from(mac)
    const right = Buffer.from(this.#mac(body, boundTo))
    if (given.length !== right.length || !timingSafeEqual(given, right)) {
      throw invalidParams('requestState is not ours')
    }
    const sealed: unknown = JSON.parse(Buffer.from(body, 'base64url').toString('utf8'))
    if (!isObject(sealed) || !(Number(sealed['until']) >= Date.now())) {
      throw invalidParams('requestState has lapsed')
    }
    return sealed['value']
  }

  #mac(body: string, boundTo: string): string {
    return createHmac('sha256', this.#key).update(`${body}\n${boundTo}`).digest('base64url')
  }
}
