import type { Library } from '../../src/core/library.ts'
import { libraryOn, postgresDb, sqliteDb, type TestWorld } from '../support/library.ts'

/** Beyond 2^40, as ids of every device but the server are. */
const REPLICA = 5

/** An empty library on each of the two databases; both draw the same ids. */
export async function bothLibraries(world: TestWorld = {}): Promise<[sqlite: Library, postgres: Library]> {
  const [sqlite, postgres] = [await sqliteDb(), await postgresDb()]
  for (const db of [sqlite, postgres]) await db.updateTable('replica').set({ number: REPLICA }).execute()
  return [libraryOn(sqlite, world), libraryOn(postgres, world)]
}
