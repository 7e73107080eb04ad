import type { Call } from '../../core/define-tool.ts'
import { Failure } from '../../core/failure.ts'
import { parseId } from '../../core/ids.ts'
import type { Library } from '../../core/library.ts'
import { codePointLength, nameKey } from '../../core/text.ts'
import { listSources, namedSources, type NamedSource } from '../sources/source-list-store.ts'
import { authorsOf, findSource } from '../sources/source-store.ts'
import { foldWords } from './fold-words.ts'
import { searchItems } from './search.ts'

/** Sources that are looked at for a title. */
const MOST = 20
/** Longest title that is good to be picked from a list; a longer one goes by its id. */
const LONGEST = 200

/** Without marks, which a search would take for operators. */
const wordsIn = (typed: string): string[] => typed.match(/[\p{L}\p{M}\p{N}]+/gu) ?? []

/** The sources whose titles and authors have all of these words, the last of them begun; best first. */
async function sourcesLike(library: Library, words: readonly string[], call: Call): Promise<NamedSource[]> {
  if (words.length === 0) return []
  const { hits } = await searchItems(library, {
    query: `${words.join(' ')}*`,
    mode: 'words',
    columns: ['head'],
    scopes: call.scopes,
    signal: call.signal,
  })
  const ids = hits.slice(0, MOST).map(({ sourceId }) => sourceId)
  const named = await namedSources(library.db, ids)
  // A search is content with some of the words, and with others that are like them.
  const folded = words.map(foldWords)
  return ids.flatMap((id) => {
    const source = named.get(id)
    if (!source) return []
    const known = ` ${foldWords([source.title, ...authorsOf(source)].join(' '))}`
    return folded.every((word) => known.includes(` ${word}`)) ? [source] : []
  })
}

/** Titles for what was typed so far; where two are of one title, or one is too long, its id. */
export async function suggestSources(library: Library, typed: string, call: Call): Promise<string[]> {
  if (!call.scopes.has('sources:read')) return []
  const values = new Set<string>()
  const words = wordsIn(typed)
  const like =
    words.length === 0
      ? await listSources(library.db, { limit: MOST })
      : await sourcesLike(library, words, call)
  for (const { id, title } of like) {
    values.add(codePointLength(title) > LONGEST || values.has(title) ? String(id) : title)
  }
  return [...values]
}

/**
 * The source that a reader means by an id or by its title, whole or in part. Throws `source_not_found`, and `invalid_input` where
 * several could be meant.
 */
export async function namedSource(
  library: Library,
  given: string,
  call: Call,
): Promise<Pick<NamedSource, 'id' | 'title'>> {
  const id = parseId(given)
  const source = id === undefined ? undefined : await findSource(library.db, id)
  if (source && source.trashed_at === null) return source
  const like = await sourcesLike(library, wordsIn(given), call)
  const wanted = nameKey(given)
  const same = like.filter(({ title }) => nameKey(title) === wanted)
  const holding = like.filter(({ title }) => nameKey(title).includes(wanted))
  const [candidates = []] = [same, holding, like].filter((some) => some.length > 0)
  const [only] = candidates
  if (only && candidates.length === 1) return only
  if (!only)
    throw new Failure('source_not_found', 'There is no source of this id or title in the library.', {
      hint: 'Give the title as list_items and search_library have it, or the id.',
    })
  throw new Failure('invalid_input', 'source: several sources could be meant.', {
    hint: 'Give the whole title, or the id of one of the candidates.',
    details: {
      candidates: candidates.slice(0, 10).map(({ id, title }) => ({ id, title: title.slice(0, LONGEST) })),
    },
  })
}
