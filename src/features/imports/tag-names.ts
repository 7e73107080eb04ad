import { codePointLength, indexOfCodePoint, nameKey } from '../../core/text.ts'
import { oneLine } from './names.ts'
import type { ImportedHighlight, ImportedItem } from './imported.ts'

const LONGEST = 100

/** What a favourite and an archived thing bear here, where there are no such lists. */
const FAVOURITE = 'favourite'
const ARCHIVED = 'archived'

/** Names of the tags that a source gets: its own, its folder as one with slashes, and whether it was a favourite or put away. */
export function sourceTags({
  tags,
  folder,
  reading,
}: Pick<ImportedItem, 'tags' | 'folder' | 'reading'>): string[] {
  const path = folder.map((name) => oneLine(name).replaceAll('/', '∕')).filter((name) => name !== '')
  // Of a path that is too long the inner folders say more than the outer ones.
  while (path.length > 1 && codePointLength(path.join('/')) > LONGEST) path.shift()
  return usable([
    ...tags,
    ...(path.length > 0 ? [path.join('/')] : []),
    ...(reading.favourite ? [FAVOURITE] : []),
    ...(reading.archived ? [ARCHIVED] : []),
  ])
}

export const highlightTags = ({ tags, favourite }: Pick<ImportedHighlight, 'tags' | 'favourite'>): string[] =>
  usable([...tags, ...(favourite ? [FAVOURITE] : [])])

/** Every name that an item has use for. */
export const tagNames = (item: ImportedItem): string[] => [
  ...sourceTags(item),
  ...item.highlights.flatMap(highlightTags),
]

function usable(names: readonly string[]): string[] {
  if (names.length === 0) return []
  const byKey = new Map<string, string>()
  for (const name of names) {
    const shown = cut(oneLine(name).normalize('NFC').toWellFormed())
    const key = nameKey(shown)
    if (key !== '' && !byKey.has(key)) byKey.set(key, shown)
  }
  return [...byKey.values()]
}

const cut = (name: string): string =>
  codePointLength(name) <= LONGEST ? name : `${name.slice(0, indexOfCodePoint(name, LONGEST - 1)).trimEnd()}…`
