import { SCHEMA_VERSION } from './sqlite/connect.ts'

/** What keeps the library was written by a newer program than this one. */
export class NewerLibrary extends Error {
  readonly found: number
  constructor(found: number, known: number = SCHEMA_VERSION) {
    super(`The library has version ${found}, this program knows ${known}`)
    this.name = 'NewerLibrary'
    this.found = found
  }
}
