import { randomBytes } from 'node:crypto'
import type { ServerResponse } from 'node:http'

const HEADER = 'x-request-id'
/** Tells the processes behind one address apart. */
const PROCESS = randomBytes(6).toString('hex')
let count = 0

const failedIn = new WeakMap<object, string>()

/** Gives a request the name under which its answer (`X-Request-Id`) and its lines in the log are found. */
export function nameRequest(res: ServerResponse): string {
  const id = `${PROCESS}-${(++count).toString(36)}`
  res.setHeader(HEADER, id)
  return id
}

/** What the request of this answer is called, once it was named. */
export function requestIdOf(res: ServerResponse): string | undefined {
  const id = res.getHeader(HEADER)
  return typeof id === 'string' ? id : undefined
}

/** Notes which request an error came up in, for the log. */
export function noteRequest(error: unknown, id: string | undefined): void {
  if (typeof error === 'object' && error !== null && id !== undefined) failedIn.set(error, id)
}

/** The request that an error came up in, where that is known. */
export const requestOfError = (error: unknown): string | undefined =>
  typeof error === 'object' && error !== null ? failedIn.get(error) : undefined
