import { SCHEMA_VERSION } from './sqlite/connect.ts'

/** What keeps the library was written by a newer program than this one. */
export class NewerLibrary extends Error {
  readonly found: number
  /** Whose it is to mend: of whoever opened a file, or of whoever runs the server. */
  readonly kept: 'file' | 'server'
  constructor(found: number, known: number = SCHEMA_VERSION, kept: NewerLibrary['kept'] = 'file') {
    const what = kept === 'file' ? 'The library' : 'The database of the server'
    super(`${what} has version ${found}, this program knows ${known}`)
    this.name = 'NewerLibrary'
    this.found = found
    this.kept = kept
  }
}
