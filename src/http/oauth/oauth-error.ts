/** An error in OAuth's own form (RFC 6749 §5.2, RFC 7591 §3.2.2). */
export class OAuthError extends Error {
  readonly code: string
  readonly status: number
  /** Answered so that `Authorization: Basic` can be tried again. */
  readonly challenge: boolean

  constructor(code: string, description: string, { status = 400, challenge = false } = {}) {
    super(description)
    this.name = 'OAuthError'
    this.code = code
    this.status = status
    this.challenge = challenge
  }
}
