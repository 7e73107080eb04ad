import { listed } from './listed.ts'
import type { Vectors } from '../vectors.ts'

export const sqliteVectors: Vectors = {
  async put(db, rows) {
    if (rows.length === 0) return
    const ids = listed(rows.map(({ passageId }) => passageId))
    const present = await db.selectFrom('passage').select('id').where('id', 'in', ids).execute()
    const there = new Set(present.map(({ id }) => id))
    const kept = rows.filter(({ passageId }) => there.has(passageId))
    // Replaced, not updated: a code needs a new number.
    await db.deleteFrom('code').where('passage_id', 'in', ids).execute()
    await db.deleteFrom('vector').where('passage_id', 'in', ids).execute()
    const codes = kept.map(({ passageId, model, code }) => ({ passage_id: passageId, model, code }))
    const full = kept.filter(({ quantised }) => quantised.length > 0)
    const vectors = full.map(({ passageId, quantised }) => ({ passage_id: passageId, quantised }))
    if (codes.length > 0) await db.insertInto('code').values(codes).execute()
    if (vectors.length > 0) await db.insertInto('vector').values(vectors).execute()
  },

  // Loaded when first asked: most programs that open a library never do.
  async codesOf(db, model) {
    const { residentCodes } = await import('./resident-codes.ts')
    return residentCodes(db, model)
  },

  async ofOtherModels(db, model, limit) {
    const rows = await db
      .selectFrom('code')
      .select('passage_id')
      .where('model', '<>', model)
      .orderBy('seq')
      .limit(limit)
      .execute()
    return rows.map(({ passage_id }) => passage_id)
  },
}
