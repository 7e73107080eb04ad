/** What kind of trouble a failure is: decides an HTTP status, an exit code and Becoming's number. */
export type FailureKind =
  | 'unauthenticated'
  | 'forbidden'
  | 'not_found'
  | 'rate_limited'
  | 'subscription'
  | 'invalid'
  | 'conflict'
  | 'internal'

/** Every code a failure can carry, with its kind. The list is closed: a new code is a line here. */
const KIND_OF = {
  // what was asked
  invalid_input: 'invalid',
  quote_not_found: 'invalid',
  quote_ambiguous: 'invalid',
  // what is not there
  item_not_found: 'not_found',
  source_not_found: 'not_found',
  highlight_not_found: 'not_found',
  note_not_found: 'not_found',
  import_not_found: 'not_found',
  book_not_found: 'not_found',
  collection_not_found: 'not_found',
  entry_not_found: 'not_found',
  read_not_found: 'not_found',
  tool_not_found: 'not_found',
  job_not_found: 'not_found',
  address_not_found: 'not_found',
  method_not_allowed: 'invalid',
  not_captured: 'conflict',
  // what is in the way
  in_progress: 'conflict',
  changed_recently: 'conflict',
  has_reading_history: 'conflict',
  read_only: 'forbidden',
  host_refused: 'forbidden',
  insufficient_scope: 'forbidden',
  not_logged_in: 'unauthenticated',
  rate_limited: 'rate_limited',
  academy_required: 'subscription',
  credits_used_up: 'subscription',
  quota_exceeded: 'forbidden',
  account_suspended: 'forbidden',
  sign_in_refused: 'forbidden',
  cancelled: 'conflict',
  // fetching a page
  invalid_url: 'invalid',
  private_address: 'invalid',
  fetch_failed: 'internal',
  page_not_found: 'not_found',
  page_refused: 'forbidden',
  login_required: 'forbidden',
  too_many_redirects: 'invalid',
  too_large: 'invalid',
  timed_out: 'internal',
  // a language model
  model_refused: 'internal',
  // reading what was fetched or given
  file_not_found: 'not_found',
  unsupported_type: 'invalid',
  damaged_file: 'invalid',
  encrypted_file: 'invalid',
  drm_protected: 'invalid',
  no_text: 'invalid',
  // the library itself
  library_full: 'conflict',
  library_not_empty: 'conflict',
  library_locked: 'conflict',
  library_damaged: 'internal',
  library_too_new: 'conflict',
  disk_full: 'internal',
  write_failed: 'internal',
  unavailable: 'internal',
  internal_error: 'internal',
} as const satisfies Record<string, FailureKind>

export type FailureCode = keyof typeof KIND_OF

/** Becoming's error numbers, which go out inside tool results only (they collide with JSON-RPC's own). */
const NUMBER_OF: Record<FailureKind, number> = {
  unauthenticated: -32001,
  forbidden: -32002,
  not_found: -32003,
  rate_limited: -32004,
  subscription: -32010,
  invalid: -32011,
  conflict: -32011,
  internal: -32099,
}

export interface FailureOptions {
  /** What the reader or the model can do next, in one or two sentences. */
  hint: string
  /** Facts that a program may act on, such as `matches`. */
  details?: Record<string, unknown>
  retryAfterSeconds?: number
  /** Logged, never shown. */
  cause?: unknown
}

/** The failure of one tool call as all three kinds of client read it (docs/architecture.md, Errors). */
export interface FailureJson {
  code: string
  hint: string
  error: {
    code: FailureCode
    number: number
    message: string
    retryAfterSeconds?: number
    details?: Record<string, unknown>
  }
}

/**
 * The one class of expected failure. `message` says what went wrong, `hint` what to do next; both are texts of ours,
 * never those of a library or a web page.
 */
export class Failure extends Error {
  readonly code: FailureCode
  readonly hint: string
  readonly details: Record<string, unknown> | undefined
  readonly retryAfterSeconds: number | undefined

  constructor(code: FailureCode, message: string, options: FailureOptions) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause })
    this.name = 'Failure'
    this.code = code
    this.hint = options.hint
    this.details = options.details
    this.retryAfterSeconds = options.retryAfterSeconds
  }

  get kind(): FailureKind {
    return KIND_OF[this.code]
  }

  toJSON(): FailureJson {
    return {
      code: this.code.replaceAll('_', '-'),
      hint: this.hint,
      ...this.details,
      error: {
        code: this.code,
        number: NUMBER_OF[this.kind],
        message: this.message,
        ...(this.retryAfterSeconds !== undefined && { retryAfterSeconds: this.retryAfterSeconds }),
        ...(this.details && { details: this.details }),
      },
    }
  }
}
