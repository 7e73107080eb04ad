import type { Library } from '../src/core/library.ts'

export { openLocal } from '../src/app/open-local.ts'
export { readLocalConfig } from '../src/config/local.ts'
export { callTool } from '../src/tools/call-tool.ts'
export { exportHighlights } from '../src/features/exports/tools/export-highlights.ts'
export { writeHighlightCsv } from '../src/features/exports/highlight-csv.ts'
export { writeArchive } from '../src/app/export-archive.ts'
export { importArchive } from '../src/features/exports/import-archive.ts'
export { exportFolder } from '../src/app/export-folder.ts'
export { allScopes } from './search-corpus.ts'

const WORDS =
  'heron river waits tall grey water reed morning light stone quiet wing patient slow mirror bank still'.split(
    ' ',
  )

const sentence = (n: number, words: number): string =>
  Array.from({ length: words }, (_, i) => WORDS[(n * 7 + i * i + i) % WORDS.length]).join(' ')

const SLICE = 5_000

/**
 * So many highlights of 30 words in as many sources as are wanted: half of them placed in a text, every fourth with a note, every
 * third with two tags. One source takes all that are more than the others have.
 */
export async function fillExports(library: Library, count: number, sources: number): Promise<void> {
  const ids = await library.change((change) =>
    change.insertMany(
      'source',
      Array.from({ length: sources }, (_, n) => ({
        kind: 'book' as const,
        title: `Book ${n}: ${sentence(n, 4)}`,
        match_key: `book ${n}`,
        authors: '["Ada Roe","Bo Li"]',
        url: `https://birds.example/${n}`,
        created_at: change.at,
        updated_at: change.at,
      })),
    ),
  )
  const tags = await library.change((change) =>
    change.insertMany(
      'tag',
      WORDS.map((name) => ({ name, name_key: name })),
    ),
  )
  for (let from = 0; from < count; from += SLICE)
    await library.change(async (change) => {
      const times = { created_at: change.at, updated_at: change.at }
      const numbers = Array.from({ length: Math.min(SLICE, count - from) }, (_, i) => from + i)
      const made = await change.insertMany(
        'highlight',
        numbers.map((n) => ({
          source_id: ids[n % ids.length]!,
          quote: sentence(n, 30),
          state: 'unanchored' as const,
          origin: 'import' as const,
          start_offset: n % 2 === 0 ? n : null,
          end_offset: n % 2 === 0 ? n + 100 : null,
          locator: `{"page":"${n % 400}"}`,
          color: 'yellow',
          ...times,
        })),
      )
      await change.insertMany(
        'note',
        numbers.flatMap((n, i) =>
          n % 4 === 0
            ? [
                {
                  source_id: ids[n % ids.length]!,
                  highlight_id: made[i]!,
                  kind: 'comment' as const,
                  body: sentence(n, 12),
                  ...times,
                },
              ]
            : [],
        ),
      )
      await change.insertMany(
        'tagging',
        numbers.flatMap((n, i) =>
          n % 3 === 0
            ? [n, n + 1].map((tag) => ({ tag_id: tags[tag % tags.length]!, target_id: made[i]! }))
            : [],
        ),
      )
      change.touched.length = 0
    })
}
