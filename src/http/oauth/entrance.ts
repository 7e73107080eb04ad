import { Failure } from '../../core/failure.ts'

/** Where to go after signing in: a path of this server and nothing that a browser takes for another host. */
export function placeAfter(next: string | null): string {
  const plain = next !== null && /^\/(?![/\\])[\w\-./~%?&=+]*$/.test(next)
  return plain && !next.startsWith('/sign-') ? next : '/account'
}

export interface Fault {
  status: number
  fault: string
  headers?: Record<string, string>
}

/** Shows the form again with what was wrong or how long to wait; any other error is none of the person's. */
export async function sendLimited(
  error: unknown,
  show: (fault: Fault) => void | Promise<void>,
): Promise<void> {
  if (!(error instanceof Failure)) throw error
  const { code, message, hint, retryAfterSeconds } = error
  if (code === 'rate_limited') {
    const headers = { 'retry-after': String(retryAfterSeconds) }
    return show({ status: 429, fault: `Too many attempts. ${hint}`, headers })
  }
  if (code !== 'invalid_input') throw error
  return show({ status: 400, fault: `${message} ${hint}` })
}
