import type { FailureCode, FailureKind } from '../core/failure.ts'

/** What a script can tell from how the program ended; docs/cli.md explains each. */
export const EXIT = {
  ok: 0,
  failed: 1,
  invalid: 2,
  notFound: 3,
  notCaptured: 4,
  library: 5,
  refused: 6,
  interrupted: 130,
  terminated: 143,
} as const

const OF_CODE: Partial<Record<FailureCode, number>> = {
  cancelled: EXIT.interrupted,
  // fetching and reading what was to be captured
  not_captured: EXIT.notCaptured,
  private_address: EXIT.notCaptured,
  fetch_failed: EXIT.notCaptured,
  page_not_found: EXIT.notCaptured,
  page_refused: EXIT.notCaptured,
  login_required: EXIT.notCaptured,
  too_many_redirects: EXIT.notCaptured,
  too_large: EXIT.notCaptured,
  timed_out: EXIT.notCaptured,
  unsupported_type: EXIT.notCaptured,
  damaged_file: EXIT.notCaptured,
  encrypted_file: EXIT.notCaptured,
  drm_protected: EXIT.notCaptured,
  no_text: EXIT.notCaptured,
  // the library itself
  library_full: EXIT.library,
  library_not_empty: EXIT.library,
  library_locked: EXIT.library,
  library_damaged: EXIT.library,
  library_too_new: EXIT.library,
  disk_full: EXIT.library,
  write_failed: EXIT.library,
  unavailable: EXIT.library,
}

const OF_KIND: Record<FailureKind, number> = {
  invalid: EXIT.invalid,
  not_found: EXIT.notFound,
  unauthenticated: EXIT.refused,
  forbidden: EXIT.refused,
  rate_limited: EXIT.refused,
  subscription: EXIT.refused,
  conflict: EXIT.refused,
  internal: EXIT.failed,
}

/** The exit code of a failure: by its code where that says more than its kind. */
export const exitCodeOf = (failure: { code: FailureCode; kind: FailureKind }): number =>
  OF_CODE[failure.code] ?? OF_KIND[failure.kind]
