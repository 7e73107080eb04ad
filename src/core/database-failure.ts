import { NewerLibrary } from '../db/newer-library.ts'
import { PostgresError } from '../db/postgres/postgres-error.ts'
import { sqliteTrouble } from '../db/sqlite/trouble.ts'
import type { Trouble } from '../db/trouble.ts'
import { Failure, type FailureCode } from './failure.ts'

type Told = readonly [code: FailureCode, message: string, hint: string]

const OF_A_FILE: Readonly<Partial<Record<Trouble, Told>>> = {
  locked: [
    'library_locked',
    'Another program is writing to the library.',
    'Nothing was changed. Try again in a moment; if it goes on, look for a stuck `commonplace` process.',
  ],
  read_only: [
    'read_only',
    'The library cannot be written.',
    'Check the permissions of the library folder. With --read-only it can be read as it is.',
  ],
  disk_full: [
    'disk_full',
    'The library could not be written to disk.',
    'Nothing was changed. Make room on the disk (or check that it works), then try again.',
  ],
  damaged: [
    'library_damaged',
    'The library file is damaged or is not a library.',
    'Run `commonplace doctor` to see what can be saved, or `commonplace restore` a backup.',
  ],
  not_opened: [
    'unavailable',
    'The library file cannot be opened.',
    'Check that the folder given by --library or COMMONPLACE_LIBRARY exists and that you may read it.',
  ],
}

const OF_A_SERVER: Readonly<Partial<Record<Trouble, Told>>> = {
  locked: [
    'library_locked',
    'Another change to the library takes too long.',
    'Nothing was changed. Try again in a moment.',
  ],
  read_only: [
    'read_only',
    'The database takes no changes at present.',
    'Nothing was changed. Try again later; whoever runs the server can see why.',
  ],
  disk_full: [
    'disk_full',
    'The database has no room left.',
    'Nothing was changed. Whoever runs the server has to make room; then try again.',
  ],
  damaged: [
    'library_damaged',
    'The database is damaged.',
    'Whoever runs the server has to restore it from a backup.',
  ],
  unreachable: [
    'unavailable',
    'The database does not answer.',
    'Try again in a moment: the server finds it again by itself.',
  ],
  removed: ['unavailable', 'The library is no longer there.', 'Nothing was changed. Sign in again.'],
  refused: [
    'unavailable',
    'The database does not let the server in.',
    'Check COMMONPLACE_DATABASE_URL, and what its role may do.',
  ],
}

/** What passes by itself, and when a client may look whether it did, in seconds. */
const PASSING: ReadonlySet<Trouble | undefined> = new Set<Trouble>(['unreachable', 'locked', 'read_only'])
const RETRY_S = 5

/** A failure of the database in the reader's terms, or undefined where `error` is none. */
export function databaseFailure(error: unknown): Failure | undefined {
  if (error instanceof NewerLibrary) {
    return new Failure('library_too_new', error.message + '.', {
      hint:
        error.kept === 'file'
          ? 'Upgrade Commonplace, or open another library with --library. Nothing was changed.'
          : 'Start the version of Commonplace that served last, or a newer one, or put back a backup from before. Nothing was changed.',
      cause: error,
    })
  }
  const told = error instanceof PostgresError ? toldOf(error) : ofFile(error)
  if (!told) return undefined
  const [code, message, hint] = told
  const again = error instanceof PostgresError && PASSING.has(error.trouble) && { retryAfterSeconds: RETRY_S }
  return new Failure(code, message, { hint, cause: error, ...again })
}

function ofFile(error: unknown): Told | undefined {
  const trouble = sqliteTrouble(error)
  return trouble && OF_A_FILE[trouble]
}

function toldOf({ trouble, told }: PostgresError): Told | undefined {
  const known = trouble && OF_A_SERVER[trouble]
  return known && told ? [known[0], told.message, told.hint] : known
}
