import type { Library } from '../../core/library.ts'
import { authorsOf } from '../sources/source-store.ts'
import { titlesById } from '../sources/source-list-store.ts'
import { fullText } from './indexes.ts'
import { sourcesOf } from './passage-store.ts'
import { parseQuery } from './query.ts'
import { scorePassage } from './score-passage.ts'
import { asQuery, boundPrefix, librarySize } from './weigh-terms.ts'

/** Titles that are looked at in one go. */
const CHUNK = 5_000

/** Without marks, which a search would take for operators. */
const wordsIn = (typed: string): string[] => typed.match(/[\p{L}\p{M}\p{N}]+/gu) ?? []

/**
 * Ids of all sources in whose title and authors each word that was typed begins a word, whatever its case and accents; undefined
 * where nothing was typed.
 */
export async function sourcesTitled({ db }: Library, typed: string): Promise<number[] | undefined> {
  if (typed.trim() === '') return undefined
  const size = await librarySize(db)
  const { terms: given } = parseQuery(
    wordsIn(typed)
      .map((word) => `${word}*`)
      .join(' '),
  )
  if (given.length === 0) return []
  const terms = given.map((term) => boundPrefix(term, size))
  const needles = terms.map((term) => ({ ...term, weight: 1, optional: false }))
  const found: number[] = []
  for (let last = size; last > 0;) {
    // Heads name the site and the address too, which are not asked for.
    const heads = await fullText(db).match(
      db,
      { match: { all: terms.map(asQuery) }, in: ['head'] },
      { order: 'newest', limit: CHUNK, between: [1, last] },
    )
    const ids = (await sourcesOf(db, heads)).map(({ source_id }) => source_id)
    for (const source of await titlesById(db, ids)) {
      const body = [source.title, ...authorsOf(source)].join(' ')
      if (scorePassage(needles, { body, kind: 'text' }).coverage > 0.999) found.push(source.id)
    }
    last = heads.length < CHUNK ? 0 : Math.min(...heads) - 1
  }
  return found
}
