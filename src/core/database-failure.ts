import { NewerLibrary } from '../db/newer-library.ts'
import { Result, resultCodeOf } from '../db/sqlite/result-code.ts'
import { Failure } from './failure.ts'

/** A failure of the database in the reader's terms, or undefined where `error` is none. */
export function databaseFailure(error: unknown): Failure | undefined {
  if (error instanceof NewerLibrary) {
    return new Failure('library_too_new', error.message + '.', {
      hint: 'Upgrade Commonplace, or open another library with --library. Nothing was changed.',
      cause: error,
    })
  }
  switch (resultCodeOf(error)) {
    case Result.busy:
    case Result.locked:
      return new Failure('library_locked', 'Another program is writing to the library.', {
        hint: 'Nothing was changed. Try again in a moment; if it goes on, look for a stuck `commonplace` process.',
        cause: error,
      })
    case Result.readOnly:
      return new Failure('read_only', 'The library cannot be written.', {
        hint: 'Check the permissions of the library folder. With --read-only it can be read as it is.',
        cause: error,
      })
    case Result.ioError:
    case Result.full:
      return new Failure('disk_full', 'The library could not be written to disk.', {
        hint: 'Nothing was changed. Make room on the disk (or check that it works), then try again.',
        cause: error,
      })
    case Result.corrupt:
    case Result.notADatabase:
      return new Failure('library_damaged', 'The library file is damaged or is not a library.', {
        hint: 'Run `commonplace doctor` to see what can be saved, or `commonplace restore` a backup.',
        cause: error,
      })
    case Result.cannotOpen:
      return new Failure('unavailable', 'The library file cannot be opened.', {
        hint: 'Check that the folder given by --library or COMMONPLACE_LIBRARY exists and that you may read it.',
        cause: error,
      })
    default:
      return undefined
  }
}
