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
  /** Readers made, or letters asked for to make one, from one address. */
  signUp: Limit
  /** The same from everywhere. */
  signUpInAll: Limit
  /** Letters asked for to one e-mail address, whether it is known or not. */
  mailTo: Limit
  /** Letters asked for from one address. */
  mailByAddress: Limit
  /** Letters asked for by everybody: what a mail server would take this one for a source of spam for. */
  mailInAll: Limit
  /** Browsers sent to a provider, from one address. */
  provider: Limit
  /** Challenges for passkeys, from one address. */
  passkey: Limit
  /** Hosted assistants register all their readers' connections from a few addresses. */
  register: Limit
  /** The same from everywhere: clients stay for ever, and whoever has a whole provider's addresses is many networks. */
  registerInAll: Limit
  authorize: Limit
  /** Refused requests of one client from one address at the token and revocation endpoints. */
  refusedTokens: Limit
  /** The same of all clients: hosted assistants speak for many readers from a few addresses. */
  refusedTokensByAddress: Limit
  /** Messages of one reader to the operator. */
  feedback: Limit
  /** Whole exports of one reader's account. */
  exports: Limit
}

const QUARTER = 15 * 60

export const ACCOUNT_LIMITS: AccountLimits = {
  signIn: { count: 10, seconds: QUARTER },
  signInByReader: { count: 100, seconds: QUARTER },
  signInByAddress: { count: 100, seconds: QUARTER },
  signUp: { count: 30, seconds: 3_600 },
  signUpInAll: { count: 200, seconds: 3_600 },
  mailTo: { count: 5, seconds: 3_600 },
  mailByAddress: { count: 30, seconds: 3_600 },
  mailInAll: { count: 1_000, seconds: 3_600 },
  // A school is one address, and its pupils come at nine.
  provider: { count: 600, seconds: QUARTER },
  passkey: { count: 600, seconds: QUARTER },
  register: { count: 120, seconds: 3_600 },
  registerInAll: { count: 3_000, seconds: 3_600 },
  authorize: { count: 300, seconds: QUARTER },
  refusedTokens: { count: 100, seconds: QUARTER },
  refusedTokensByAddress: { count: 3_000, seconds: QUARTER },
  feedback: { count: 10, seconds: 86_400 },
  exports: { count: 12, seconds: 86_400 },
}
