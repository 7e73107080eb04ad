import { createHash } from 'node:crypto'
import { sql, type Selectable } from 'kysely'
import { Failure } from '../../core/failure.ts'
import type { Change } from '../../core/library.ts'
import { prepared, type Given } from '../../db/prepared.ts'
import type { Db, SourceTable, TextTable } from '../../db/schema.ts'
import { judgeRefetch, type Verdict } from './refetch-guard.ts'

export type Text = Selectable<TextTable>

export interface NewText {
  markdown: string
  plain: string
  html: string | null
  renderer: string | null
  method: string
  words: number
  places: string | null
  raw: string | null
}

/** The text of an item that is read and searched. Throws `not_captured` where there is none. */
export async function currentText(
  db: Db,
  source: Pick<Selectable<SourceTable>, 'id' | 'text_id' | 'title'>,
): Promise<Text> {
  const text =
    source.text_id === null
      ? undefined
      : await db.selectFrom('text').selectAll().where('id', '=', source.text_id).executeTakeFirst()
  return text ?? (await sayWhyNone(db, source))
}

/** A version of a text, whether or not it is the current one. */
export const findText = (db: Db, id: number): Promise<Text | undefined> =>
  db.selectFrom('text').selectAll().where('id', '=', id).executeTakeFirst()

/** A stretch of a text. */
export interface TextPart {
  /** Of the whole text. */
  id: number
  /** Its Markdown from `offset` on, at most `most` code points of it. */
  markdown: string
  /** Code points of all of its Markdown. */
  totalChars: number
  /** Of the whole text, as its row keeps them. */
  places: string | null
}

/** As much of an item's text as is asked for, without reading the rest of it. Throws `not_captured` where there is none. */
export async function partOfText(
  db: Db,
  source: Pick<Selectable<SourceTable>, 'id' | 'text_id' | 'title'>,
  { offset, most }: { offset: number; most: number },
): Promise<TextPart> {
  const [part] = source.text_id === null ? [] : await readPart(db, { id: source.text_id, offset, most })
  return part ?? (await sayWhyNone(db, source))
}

/** Both databases count code points, as we do. */
const readPart = prepared((_db: Db, given: Given<{ id: number; offset: number; most: number }>) => {
  return sql<TextPart>`
    select id, substr(markdown, ${given.value('offset')} + 1, ${given.value('most')}) as markdown,
      length(markdown) as "totalChars", places
    from text where id = ${given.value('id')}`
})

async function sayWhyNone(db: Db, source: Pick<Selectable<SourceTable>, 'id' | 'title'>): Promise<never> {
  const capture = await db
    .selectFrom('capture')
    .select(['state', 'failure'])
    .where('source_id', '=', source.id)
    .orderBy('requested_at', 'desc')
    .orderBy('id', 'desc')
    .executeTakeFirst()
  const why =
    capture?.state === 'failed'
      ? 'could not be captured'
      : capture
        ? 'is still being captured'
        : 'has no text: it came without one'
  throw new Failure('not_captured', `“${source.title}” ${why}.`, {
    hint:
      capture?.state === 'failed'
        ? 'Save its address again to try once more, or add the page or file itself with `commonplace add FILE`.'
        : capture
          ? 'Wait a little and read it again.'
          : 'Save its address with save_url to capture its text.',
    ...(capture?.failure && { details: { capture: JSON.parse(capture.failure) as unknown } }),
  })
}

/**
 * Adds a version of a source's text where it has something new; the guard decides whether it becomes the current one. A text
 * that is put aside again and again, a wall for example, is kept once. Answers with the verdict and the id of the version,
 * that of the standing one where nothing is new.
 */
export async function addTextVersion(
  change: Change,
  source: Pick<Selectable<SourceTable>, 'id' | 'text_id'>,
  fresh: NewText,
): Promise<{ verdict: Verdict; textId: number }> {
  const current =
    source.text_id === null
      ? undefined
      : await change.db
          .selectFrom('text')
          .select(['id', 'plain', 'words'])
          .where('id', '=', source.text_id)
          .executeTakeFirst()
  const verdict = judgeRefetch(current, fresh)
  if (verdict === 'unchanged' && current) return { verdict, textId: current.id }
  const hash = createHash('sha256').update(fresh.markdown).digest('hex')
  const aside = verdict === 'kept' ? await findKept(change.db, source.id, hash) : undefined
  if (aside) return { verdict, textId: aside.id }
  const textId = await change.insert('text', {
    ...fresh,
    source_id: source.id,
    hash,
    captured_at: change.at,
    state: verdict === 'kept' ? 'kept' : 'good',
  })
  if (verdict === 'current') {
    await change.update('source', source.id, { text_id: textId, words: fresh.words, updated_at: change.at })
  }
  return { verdict, textId }
}

const findKept = (db: Db, sourceId: number, hash: string): Promise<Pick<Text, 'id'> | undefined> =>
  db
    .selectFrom('text')
    .select('id')
    .where('source_id', '=', sourceId)
    .where('state', '=', 'kept')
    .where('hash', '=', hash)
    .executeTakeFirst()
