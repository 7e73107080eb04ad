import { DatabaseSync } from '@photostructure/sqlite'
import type { Kysely } from 'kysely'
import { createLibrary, type Library } from '../src/core/library.ts'
import type { Embedder } from '../src/core/outside.ts'
import { engineOf } from '../src/db/engine.ts'
import { migrate, queriesOn } from '../src/db/open.ts'
import { ensureReplica } from '../src/db/replica.ts'
import type { Schema } from '../src/db/schema.ts'
import { addPassages, type NewPassage } from '../src/features/search/passage-store.ts'
import { quantise } from '../src/features/search/quantise.ts'
import { testOutside } from '../test/support/library.ts'
import { passageText, type VectorSource, type Vocabulary } from './search-corpus.ts'

export { engineOf } from '../src/db/engine.ts'
export { openPostgres } from '../src/db/postgres/open.ts'
export { listItems } from '../src/features/sources/tools/list-items.ts'
export { startPostgres } from '../test/support/postgres.ts'
export { DIMENSIONS, VectorSource, Vocabulary, allScopes, questions, searchLibrary } from './search-corpus.ts'

export async function sqliteDb(file: string): Promise<Kysely<Schema>> {
  const database = new DatabaseSync(file)
  database.exec('pragma foreign_keys = on; pragma journal_mode = wal; pragma synchronous = normal')
  const db = queriesOn(database)
  await migrate(database, db, () => {})
  await ensureReplica(db, { inode: 'bench' })
  return db
}

export const libraryOn = (db: Kysely<Schema>, embedder: Embedder): Library =>
  createLibrary({ db, outside: testOutside({ embedder }) })

const PASSAGES_A_SOURCE = 50
const SLICE = 5_000

/** The same made-up passages on whatever database, through the stores; sources have texts, so that lists show them. */
export async function fill(
  library: Library,
  vocabulary: Vocabulary,
  vectors: VectorSource,
  count: number,
  model: string,
): Promise<void> {
  for (let from = 0; from < count; from += SLICE) {
    await library.change(async (change) => {
      const { db } = change
      const times = { created_at: change.at, updated_at: change.at }
      const rows: NewPassage[] = []
      let source = 0
      for (let i = from; i < Math.min(count, from + SLICE); i++) {
        const body = passageText(vocabulary, i)
        const head = i % PASSAGES_A_SOURCE === 0
        if (head) {
          const row = {
            kind: 'article',
            title: body,
            match_key: '',
            authors: '[]',
            text_id: 1,
            ...times,
          } as const
          source = await change.insert('source', row)
        }
        rows.push({
          source_id: source,
          kind: head ? 'head' : 'text',
          owner_id: source,
          start_offset: i,
          body,
        })
      }
      const engine = engineOf(db)
      await engine.fullText.bulk(db, async () => engine.fullText.add(db, await addPassages(db, rows)))
      for (let at = from; at < from + rows.length; at += 500) {
        const some = Array.from({ length: Math.min(500, from + rows.length - at) }, (_, i) => {
          const { code, blob } = quantise(vectors.vector(at + i))
          return { passageId: at + i + 1, model, code, quantised: blob }
        })
        await engine.vectors.put(db, some)
      }
      await db.updateTable('passage').set({ embedded: 1 }).execute()
    })
  }
}
