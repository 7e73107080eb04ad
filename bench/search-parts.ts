import { SCOPES } from '../src/core/define-tool.ts'
import type { Library } from '../src/core/library.ts'
import type { Embedder } from '../src/core/outside.ts'
import { foldWords } from '../src/features/search/fold-words.ts'
import { isCommonWord } from '../src/features/search/common-words.ts'
import { embedPassages } from '../src/features/search/jobs/embed-passages.ts'
import { testLibrary } from '../test/support/library.ts'
import { addTestSource } from '../test/support/search.ts'

export { createBuiltInEmbedder } from '../src/outside/embeddings.ts'
export { searchItems } from '../src/features/search/search.ts'

export const allScopes = new Set(SCOPES)

export const memoryLibrary = (embedder: Embedder): Promise<Library> => testLibrary({ embedder })

/** One article a text; answers with their ids. */
export async function addTexts(library: Library, texts: readonly string[]): Promise<number[]> {
  const ids: number[] = []
  for (const [i, text] of texts.entries()) ids.push(await addTestSource(library, { title: `No. ${i}`, text }))
  return ids
}

export const embedAll = (library: Library): Promise<void> =>
  embedPassages.run(
    library,
    {},
    { id: 1, attempt: 1, signal: new AbortController().signal, progress: async () => {} },
  )

/** A stream of numbers from 0 to 1 that is the same every time (a linear congruential generator). */
export function seeded(seed: number): () => number {
  let state = seed
  return () => (state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0) / 2 ** 32
}

/** Questions of four words of a passage: consecutive informative ones, or any, by turns; with the passage's number. */
export function exactQueries(passages: readonly string[], count: number): [string, number][] {
  const random = seeded(7)
  const queries: [string, number][] = []
  while (queries.length < count) {
    const i = Math.floor(random() * passages.length)
    const words = [...new Set(foldWords(passages[i]!).split(' '))].filter(
      (word) => word.length > 2 && !isCommonWord(word),
    )
    if (words.length < 4) continue
    const from = Math.floor(random() * (words.length - 3))
    const chosen =
      queries.length % 2 === 0
        ? words.slice(from, from + 4)
        : words.toSorted(() => random() - 0.5).slice(0, 4)
    queries.push([chosen.join(' '), i])
  }
  return queries
}
