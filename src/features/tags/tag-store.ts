import type { Change } from '../../core/library.ts'
import { Failure } from '../../core/failure.ts'
import { nameKey, preview } from '../../core/text.ts'
import type { Db } from '../../db/schema.ts'
import { MAX_NAME } from './schema.ts'

/** Puts tags on a source or a highlight; names that differ in case, width or spacing are one tag. Blank names are refused. */
export async function addTags(change: Change, targetId: number, names: readonly string[]): Promise<void> {
  for (const name of names) {
    const tagId = await ensureTag(change, name)
    const there = await change.db
      .selectFrom('tagging')
      .select('id')
      .where('target_id', '=', targetId)
      .where('tag_id', '=', tagId)
      .executeTakeFirst()
    if (!there) await change.insert('tagging', { tag_id: tagId, target_id: targetId })
  }
}

/** Takes tags off; a tag that nothing bears any more is forgotten. */
export async function removeTags(change: Change, targetId: number, names: readonly string[]): Promise<void> {
  for (const name of names) {
    const tagging = await change.db
      .selectFrom('tagging')
      .innerJoin('tag', 'tag.id', 'tagging.tag_id')
      .select(['tagging.id', 'tagging.tag_id'])
      .where('tagging.target_id', '=', targetId)
      .where('tag.name_key', '=', nameKey(name))
      .executeTakeFirst()
    if (!tagging) continue
    await change.erase('tagging', tagging.id)
    const used = await change.db
      .selectFrom('tagging')
      .select('id')
      .where('tag_id', '=', tagging.tag_id)
      .executeTakeFirst()
    if (!used) await change.erase('tag', tagging.tag_id)
  }
}

/** Makes the tags on a source or a highlight these and no others. */
export async function setTags(change: Change, targetId: number, names: readonly string[]): Promise<void> {
  const wanted = new Set(names.map(nameKey))
  const present = await change.db
    .selectFrom('tagging')
    .innerJoin('tag', 'tag.id', 'tagging.tag_id')
    .select(['tag.name', 'tag.name_key'])
    .where('tagging.target_id', '=', targetId)
    .orderBy('tag.name_key')
    .execute()
  const surplus = present.filter(({ name_key }) => !wanted.has(name_key))
  await removeTags(
    change,
    targetId,
    surplus.map(({ name }) => name),
  )
  await addTags(change, targetId, names)
}

/** Every tag in use with the number of things that bear it, by name. */
export function listTags(db: Db): Promise<{ name: string; count: number }[]> {
  return db
    .selectFrom('tag')
    .innerJoin('tagging', 'tagging.tag_id', 'tag.id')
    .select(({ fn }) => ['tag.name', fn.countAll<number>().as('count')])
    .groupBy(['tag.id', 'tag.name', 'tag.name_key'])
    .orderBy('tag.name_key')
    .execute()
}

async function ensureTag(change: Change, name: string): Promise<number> {
  const shown = name.trim().normalize('NFC')
  const name_key = nameKey(shown)
  if (name_key === '' || [...shown].length > MAX_NAME) {
    throw new Failure('invalid_input', `${JSON.stringify(preview(name, 40))} cannot be a tag.`, {
      hint: `A tag has 1 to ${MAX_NAME} characters that can be seen.`,
    })
  }
  const known = await change.db
    .selectFrom('tag')
    .select('id')
    .where('name_key', '=', name_key)
    .executeTakeFirst()
  return known?.id ?? change.insert('tag', { name: shown, name_key })
}
