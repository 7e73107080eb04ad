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
  signInLink: DAY,
  /** A client's metadata document is not fetched again within this time. */
  document: 10 * MINUTE,
} as const

/** The instant that many seconds after (or, negative, before) another. */
export const after = (instant: Date, seconds: number): string =>
  new Date(instant.getTime() + seconds * 1_000).toISOString()
