export interface Limit {
  count: number
  seconds: number
}

/** How often something may be tried within a window of seconds. */
export interface AccountLimits {
  /** Wrong passwords for one reader from one address. */
  signIn: Limit
  /** Wrong passwords for one reader from anywhere: a crowd of machines guesses no faster. */
  signInByReader: Limit
  /** Wrong passwords from one address for anybody. */
  signInByAddress: Limit
  /** Hosted assistants register all their readers' connections from a few addresses. */
  register: Limit
  authorize: Limit
  /** Refused requests of one client from one address at the token and revocation endpoints. */
  refusedTokens: Limit
  /** The same of all clients: hosted assistants speak for many readers from a few addresses. */
  refusedTokensByAddress: Limit
}

const QUARTER = 15 * 60

export const ACCOUNT_LIMITS: AccountLimits = {
  signIn: { count: 10, seconds: QUARTER },
  signInByReader: { count: 100, seconds: QUARTER },
  signInByAddress: { count: 100, seconds: QUARTER },
  register: { count: 120, seconds: 3_600 },
  authorize: { count: 300, seconds: QUARTER },
  refusedTokens: { count: 100, seconds: QUARTER },
  refusedTokensByAddress: { count: 3_000, seconds: QUARTER },
}
