import { sql } from 'kysely'
import type { Vectors } from '../vectors.ts'

/** Sign bits as PostgreSQL reads them. */
const bitsOf = (code: Uint8Array): string => `x${Buffer.from(code).toString('hex')}`

/** Vectors in the database, and the search for the nearest there: `bit_count` of what differs, over one library's codes. */
export const postgresVectors: Vectors = {
  async put(db, rows) {
    if (rows.length === 0) return
    const ids = rows.map(({ passageId }) => passageId)
    const present = sql`(select passage.id from passage where passage.id = any(${ids}::bigint[]))`
    // Replaced, not updated: a code needs a new number.
    await sql`delete from code where passage_id = any(${ids}::bigint[])`.execute(db)
    await sql`delete from vector where passage_id = any(${ids}::bigint[])`.execute(db)
    const models = rows.map(({ model }) => model)
    const codes = rows.map(({ code }) => bitsOf(code))
    await sql`insert into code (passage_id, model, code)
      select id, model, code::varbit
      from unnest(${ids}::bigint[], ${models}::text[], ${codes}::text[]) as given (id, model, code)
      where id in ${present}`.execute(db)
    const full = rows.filter(({ quantised }) => quantised.length > 0)
    if (full.length === 0) return
    await sql`insert into vector (passage_id, quantised)
      select id, quantised
      from unnest(${full.map(({ passageId }) => passageId)}::bigint[],
        ${full.map(({ quantised }) => Buffer.from(quantised))}::bytea[]) as given (id, quantised)
      where id in ${present}`.execute(db)
  },

  async codesOf(db, { id: model }) {
    const any = await db.selectFrom('code').select('passage_id').where('model', '=', model).limit(1).execute()
    return {
      empty: any.length === 0,
      async nearest(code, limit, among) {
        const inScope = among ? sql`and passage_id = any(${[...among]}::bigint[])` : sql``
        const { rows } = await sql<{ id: number }>`
          select passage_id as id from code
          where model = ${model} and length(code) = ${code.length * 8} ${inScope}
          order by bit_count(code # ${bitsOf(code)}::varbit), passage_id limit ${limit}`.execute(db)
        return rows.map(({ id }) => id)
      },
      // A code goes with its passage.
      forget() {},
    }
  },

  async ofOtherModels(db, model, limit) {
    // Each half is a stretch of the index; together they would be all of it.
    const { rows } = await sql<{ passage_id: number }>`
      (select passage_id from code where model < ${model} limit ${limit})
      union all (select passage_id from code where model > ${model} limit ${limit}) limit ${limit}`.execute(
      db,
    )
    return rows.map(({ passage_id }) => passage_id)
  },
}
