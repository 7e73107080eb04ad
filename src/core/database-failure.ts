import { NewerLibrary } from '../db/newer-library.ts'
import { Failure } from './failure.ts'

/** A failure of the database in the reader's terms, or undefined where `error` is none. */
export function databaseFailure(error: unknown): Failure | undefined {
  if (error instanceof NewerLibrary) {
    return new Failure('library_too_new', error.message + '.', {
      hint: 'Upgrade Commonplace, or open another library with --library. Nothing was changed.',
      cause: error,
    })
  }
  if (!(error instanceof Error) || !('sqliteCode' in error) || typeof error.sqliteCode !== 'number')
    return undefined
  // The low byte is the primary result code: https://sqlite.org/rescode.html
  switch (error.sqliteCode & 0xff) {
    case 5: // BUSY
    case 6: // LOCKED
      return new Failure('library_locked', 'Another program is writing to the library.', {
        hint: 'Nothing was changed. Try again in a moment; if it goes on, look for a stuck `commonplace` process.',
        cause: error,
      })
    case 8: // READONLY
      return new Failure('read_only', 'The library cannot be written.', {
        hint: 'Check the permissions of the library folder, or start without --read-only.',
        cause: error,
      })
    case 10: // IOERR
    case 13: // FULL
      return new Failure('disk_full', 'The library could not be written to disk.', {
        hint: 'Nothing was changed. Make room on the disk (or check that it works), then try again.',
        cause: error,
      })
    case 11: // CORRUPT
    case 26: // NOTADB
      return new Failure('library_damaged', 'The library file is damaged or is not a library.', {
        hint: 'Run `commonplace doctor` to see what can be saved, or `commonplace restore` a backup.',
        cause: error,
      })
    case 14: // CANTOPEN
      return new Failure('unavailable', 'The library file cannot be opened.', {
        hint: 'Check that the folder given by --library or COMMONPLACE_LIBRARY exists and that you may read it.',
        cause: error,
      })
    default:
      return undefined
  }
}
