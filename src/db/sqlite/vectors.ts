import { sql } from 'kysely'
import type { Vectors } from '../vectors.ts'

export const sqliteVectors: Vectors = {
  async put(db, rows) {
    if (rows.length === 0) return
    const ids = sql<number>`(select value from json_each(${JSON.stringify(rows.map(({ passageId }) => passageId))}))`
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

  async codesSince(db, model, seq, limit) {
    // One row for all: a row and a buffer for each code take four times as long.
    const { rows } = await sql<{ last: number | null; ids: string; codes: string | null; others: string }>`
      select max(seq) as last,
        json_group_array(passage_id) filter (where model = ${model} and length(code) > 0) as ids,
        group_concat(hex(code), '') filter (where model = ${model}) as codes,
        json_group_array(passage_id) filter (where model <> ${model}) as others
      from (select * from code where seq > ${seq} order by seq limit ${limit})`.execute(db)
    const { last, ids, codes, others } = rows[0]!
    return {
      last: last ?? seq,
      passageIds: JSON.parse(ids) as number[],
      codes: Buffer.from(codes ?? '', 'hex'),
      others: JSON.parse(others) as number[],
    }
  },

  async lastSeq(db) {
    const row = await db
      .selectFrom('code')
      .select((of) => of.fn.max('seq').as('last'))
      .executeTakeFirst()
    return row?.last ?? 0
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
