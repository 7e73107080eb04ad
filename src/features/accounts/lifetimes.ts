const MINUTE = 60
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

/** How long what is handed out holds, in seconds. */
export const LIFETIME = {
  accessToken: HOUR,
  refreshToken: 60 * DAY,
  /** A used refresh token still answers, with its one successor: assistants refresh from several processes at once. */
  refreshGrace: 60,
  /** RFC 6749 §4.1.2 allows ten minutes; a browser on its way back needs seconds. */
  code: 60,
  /** A used code is remembered, so that its replay ends what it gave. */
  usedCode: DAY,
  /** From the assistant's link to the reader's answer. */
  request: HOUR,
  session: 30 * DAY,
  /** How long ago a browser may have signed in to change how its reader signs in. */
  freshSession: HOUR,
  signInLink: DAY,
  /** Mail that waits in somebody's box is read by others too. */
  mailedLink: HOUR,
  resetLink: HOUR,
  /** To say that an address is one's own takes a look into the mail, which may be tomorrow's. */
  emailLink: DAY,
  signUpLink: DAY,
  invitation: 7 * DAY,
  /** From our page to a provider's and back. */
  providerRequest: 10 * MINUTE,
  passkeyChallenge: 5 * MINUTE,
  /** A client's metadata document is not fetched again within this time. */
  document: 10 * MINUTE,
} as const

/** The instant that many seconds after (or, negative, before) another. */
export const after = (instant: Date, seconds: number): string =>
  new Date(instant.getTime() + seconds * 1_000).toISOString()
