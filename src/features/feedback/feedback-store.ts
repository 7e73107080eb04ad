import type { ServerDb } from '../../db/server/schema.ts'

export interface Feedback {
  id: string
  readerId: string
  /** E-mail or name of whoever left it; null where they have neither. */
  from: string | null
  body: string
  /** ISO 8601. */
  createdAt: string
  doneAt: string | null
}

export async function addFeedback(
  db: ServerDb,
  { id, readerId, body, createdAt }: Pick<Feedback, 'id' | 'readerId' | 'body' | 'createdAt'>,
): Promise<void> {
  await db
    .insertInto('feedback')
    .values({ id, reader_id: readerId, body, created_at: createdAt, done_at: null })
    .execute()
}

const selection = (db: ServerDb) =>
  db
    .selectFrom('feedback')
    .innerJoin('reader', 'reader.id', 'feedback.reader_id')
    .select((of) => [
      'feedback.id',
      'feedback.reader_id as readerId',
      of.fn.coalesce('reader.email', 'reader.name').as('from'),
      'feedback.body',
      'feedback.created_at as createdAt',
      'feedback.done_at as doneAt',
    ])

/** The oldest first; what is done only if asked for. */
export const listFeedback = (db: ServerDb, { done }: { done: boolean }): Promise<Feedback[]> =>
  selection(db)
    .$if(!done, (query) => query.where('feedback.done_at', 'is', null))
    .orderBy('feedback.created_at')
    .orderBy('feedback.id')
    .execute()

export const findFeedback = (db: ServerDb, id: string): Promise<Feedback | undefined> =>
  selection(db).where('feedback.id', '=', id).executeTakeFirst()

/** Puts a message out of the inbox; false where there is none. */
export async function closeFeedback(db: ServerDb, id: string, at: string): Promise<boolean> {
  const row = await db
    .updateTable('feedback')
    .set((of) => ({ done_at: of.fn.coalesce('done_at', of.val(at)) }))
    .where('id', '=', id)
    .returning('id')
    .executeTakeFirst()
  return row !== undefined
}
