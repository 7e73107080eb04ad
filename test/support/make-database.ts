import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from '@photostructure/sqlite'

/** The bytes of an SQLite file that these statements make. */
export function makeDatabase(...statements: string[]): Uint8Array {
  const folder = mkdtempSync(join(tmpdir(), 'commonplace-test-'))
  try {
    const file = join(folder, 'made.sqlite')
    const database = new DatabaseSync(file)
    database.exec('pragma synchronous = off')
    for (const statement of statements) database.exec(statement)
    database.close()
    return new Uint8Array(readFileSync(file))
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
