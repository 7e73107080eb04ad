import { SCHEMA_VERSION } from './sqlite/connect.ts'

/** The file was written by a newer program than this one. */
export class NewerLibrary extends Error {
  readonly found: number
  constructor(found: number) {
    super(`The library has version ${found}, this program knows ${SCHEMA_VERSION}`)
    this.name = 'NewerLibrary'
    this.found = found
  }
}
