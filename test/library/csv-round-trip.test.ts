import { parse } from 'csv-parse/sync'
import { expect, it } from 'vitest'
import type { Library } from '../../src/core/library.ts'
import { writeHighlightCsv } from '../../src/features/exports/highlight-csv.ts'
import { writeImport } from '../../src/features/imports/write-import.ts'
import { fillHostile } from '../support/hostile-library.ts'
import { testLibrary } from '../support/library.ts'

async function csvOf({ db }: Library): Promise<string> {
  const pieces: string[] = []
  for await (const piece of writeHighlightCsv(db)) pieces.push(piece)
  return pieces.join('')
}

/** All but the ids, which another library draws anew. */
const withoutIds = (csv: string): Record<string, string>[] =>
  parse<Record<string, string>>(csv, { columns: true }).map(
    ({ source_id: _s, highlight_id: _h, ...row }) => row,
  )

it('a CSV of highlights that goes through our own import is the same again but for its ids', async () => {
  const library = await testLibrary()
  await fillHostile(library)
  const first = await csvOf(library)
  const target = await testLibrary()
  const { counts, report } = await writeImport(target, Buffer.from(first))
  expect(report.outcomes).toEqual([])
  expect(counts).toBeDefined()
  const second = await csvOf(target)
  const [before, after] = [withoutIds(first), withoutIds(second)]
  expect(after).toHaveLength(before.length)
  for (const [n, row] of before.entries()) expect(after[n]).toEqual(row)
  await writeImport(target, Buffer.from(first), { reports: true })
  expect(await csvOf(target)).toBe(second)
})
