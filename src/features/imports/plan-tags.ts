import { nameKey } from '../../core/text.ts'
import type { KnownSource } from './known-source.ts'
import { keyOf } from './mark-place.ts'
import type { Planning } from './planning.ts'

/** Puts on what is not there yet and was not taken off again; gives whether there was anything. */
export function planTags(
  known: KnownSource,
  targetId: number,
  names: readonly string[],
  { library, plan }: Planning,
): boolean {
  let isMore = false
  for (const name of names) {
    const key = nameKey(name)
    let tagId = library.tags.get(key)
    if (tagId !== undefined && known.tags.has(`${targetId} ${tagId}`)) continue
    if (targetId > 0 && known.tagsGiven.has(keyOf(targetId, key))) continue
    if (tagId === undefined) {
      library.tags.set(key, (tagId = plan.id()))
      plan.tags.push({ id: tagId, name, name_key: key })
    }
    known.tags.add(`${targetId} ${tagId}`)
    const id = plan.id()
    plan.taggings.push({ id, tag_id: tagId, target_id: targetId })
    plan.remembered.push({
      source_id: known.source.id,
      kind: 'tagging',
      key: [targetId, key],
      place: null,
      row_id: id,
    })
    plan.counts.tags++
    isMore = true
  }
  return isMore
}
