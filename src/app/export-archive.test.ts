import { deflateRawSync } from 'node:zlib'
import { unzipSync, zipSync, type Zippable } from 'fflate'
import { sql } from 'kysely'
import { beforeAll, describe, expect, it } from 'vitest'
import { call } from '../../test/support/call.ts'
import { fillHostile } from '../../test/support/hostile-library.ts'
import { onPostgres, sqliteDb, libraryOn, testLibrary } from '../../test/support/library.ts'
import { addSource } from '../../test/support/sources.ts'
import type { Library } from '../core/library.ts'
import { requestCapture } from '../features/capture/capture-source.ts'
import { beginReading } from '../features/imports/begin-reading.ts'
import { goOnUnfinished } from '../features/imports/go-on.ts'
import { beginImport } from '../features/imports/import-store.ts'
import { importArchive, isLibraryArchive } from '../features/exports/import-archive.ts'
import { searchLibrary } from '../features/search/tools/search-library.ts'
import { EXPORTED_TABLES, type ExportedTable } from '../features/exports/tables.ts'
import { writeArchive } from './export-archive.ts'
import { writeZip } from './zip.ts'

const TABLES = Object.keys(EXPORTED_TABLES) as ExportedTable[]
const DERIVED = ['clock', 'clocks']

async function archiveOf(library: Library): Promise<Buffer> {
  const parts: Uint8Array[] = []
  const now = () => new Date('2026-05-01T00:00:00Z')
  for await (const part of writeArchive(library, { from: 'local', now })) parts.push(part)
  return Buffer.concat(parts)
}

/** Every row of every table that is exported, whole but for its clocks. */
async function rowsOf({ db }: Library): Promise<Record<string, Record<string, unknown>[]>> {
  const all: Record<string, Record<string, unknown>[]> = {}
  for (const table of TABLES) {
    const { rows } = await sql<
      Record<string, unknown>
    >`select * from ${sql.table(table)} order by id`.execute(db)
    all[table] = rows.map((row) =>
      Object.fromEntries(
        Object.entries(row).filter(([column]) => !DERIVED.includes(column) && column !== 'library_id'),
      ),
    )
  }
  return all
}

let library: Library
let bytes: Buffer

beforeAll(async () => {
  library = await testLibrary()
  await fillHostile(library)
  bytes = await archiveOf(library)
})

const again = (change: (files: Record<string, Uint8Array>) => void): Uint8Array => {
  const files: Zippable = unzipSync(bytes)
  change(files as Record<string, Uint8Array>)
  return zipSync(files)
}

const edit = (name: string, from: string | RegExp, to: string): Uint8Array =>
  again((files) => {
    const before = Buffer.from(files[name]!).toString('utf8')
    const after = before.replace(from, to)
    if (after === before) throw new Error(`nothing to replace in ${name}`)
    files[name] = Buffer.from(after)
  })

async function refused(file: Uint8Array): Promise<unknown> {
  const target = await testLibrary()
  const failure: unknown = await importArchive(target, file).catch((error: unknown) => error)
  for (const rows of Object.values(await rowsOf(target))) expect(rows).toEqual([])
  return failure
}

describe('an archive of a whole library', () => {
  it('becomes the same library: every row, every file, and the same archive again', async () => {
    expect(await isLibraryArchive(bytes)).toBe(true)
    const target = await testLibrary()
    const taken = await importArchive(target, bytes)
    const [before, after] = [await rowsOf(library), await rowsOf(target)]
    for (const table of TABLES) {
      expect([table, before[table]!.length > 0]).toEqual([table, true])
      expect([table, after[table]]).toEqual([table, before[table]])
      expect(taken.rows[EXPORTED_TABLES[table].file]).toBe(before[table]!.length)
    }
    expect(taken).toMatchObject({ media: 4, missingMedia: 0, leftOut: 0 })
    expect(unzipSync(await archiveOf(target))).toEqual(unzipSync(bytes))
  })

  it('goes from one database to the other', async () => {
    if (!onPostgres) return
    const local = libraryOn(await sqliteDb())
    await importArchive(local, bytes)
    expect(await rowsOf(local)).toEqual(await rowsOf(library))
    const back = await testLibrary()
    await importArchive(back, await archiveOf(local))
    expect(await rowsOf(back)).toEqual(await rowsOf(library))
  })

  it('is found by search, and can be changed', async () => {
    const target = await testLibrary()
    await importArchive(target, bytes)
    const { results } = await call(searchLibrary, target, { query: 'heron waits', mode: 'words' })
    expect(results).not.toHaveLength(0)
    const { db } = target
    expect(await db.selectFrom('passage').select('kind').groupBy('kind').orderBy('kind').execute()).toEqual(
      await library.db.selectFrom('passage').select('kind').groupBy('kind').orderBy('kind').execute(),
    )
    const [source] = await db.selectFrom('source').select('id').orderBy('id').execute()
    await target.change((change) => change.update('source', source!.id, { title: 'Another' }))
  })

  it('never lets an id be given out twice', async () => {
    const target = await testLibrary()
    await importArchive(target, bytes)
    const known = new Set(Object.values(await rowsOf(library)).flatMap((rows) => rows.map(({ id }) => id)))
    const numbers = new Set([...known].map((id) => Math.floor(Number(id) / 2 ** 40)))
    const made: number[] = []
    await target.change(async (change) => {
      for (let n = 0; n < 2_000; n++) made.push(await change.newId())
    })
    for (const id of made) {
      expect(known.has(id)).toBe(false)
      if (!numbers.has(0)) expect(numbers.has(Math.floor(id / 2 ** 40))).toBe(false)
    }
  })

  it('draws another number where the library counts under one of the archive', async () => {
    if (onPostgres) return
    const target = await testLibrary()
    const [own] = await library.db.selectFrom('replica').selectAll().where('current', '=', 1).execute()
    await target.db.updateTable('replica').set({ number: own!.number, counter: 0 }).execute()
    await importArchive(target, bytes)
    const numbers = await target.db.selectFrom('replica').selectAll().orderBy('current').execute()
    expect(numbers).toHaveLength(2)
    expect(numbers[0]).toMatchObject({ number: own!.number, current: 0 })
    expect(numbers[0]!.counter).toBeGreaterThan(100)
    expect(numbers[1]!.file_mark).toBe(own!.file_mark)
  })

  it('goes on with what was under way: every such row has its job', async () => {
    const busy = await testLibrary()
    const url = 'https://a.example/page'
    const { captureId, importId } = await busy.change(async (change) => {
      const requested = await requestCapture(change, { url })
      const own = await beginReading(change, requested, url)
      return { captureId: requested.captureId, importId: own.id }
    })
    const fileId = await busy.change((change) =>
      beginImport(change, { kind: 'file', file_hash: 'a'.repeat(64) }),
    )
    const target = await testLibrary()
    await importArchive(target, await archiveOf(busy), { finish: goOnUnfinished })
    const jobs = await target.db.selectFrom('job').select(['kind', 'input']).orderBy('kind').execute()
    expect(
      jobs
        .filter(({ kind }) => ['capture', 'import-file', 'read-link'].includes(kind))
        .map(({ kind, input }) => [kind, JSON.parse(input)]),
    ).toEqual([
      ['capture', { captureId }],
      ['import-file', { importId: fileId }],
      ['read-link', { importId }],
    ])
  })

  it('can be checked without being taken in', async () => {
    const target = await testLibrary()
    const steps: string[] = []
    const taken = await importArchive(target, bytes, {
      dryRun: true,
      onProgress: (_d, _t, what) => steps.push(what),
    })
    expect(taken.media).toBe(4)
    for (const rows of Object.values(await rowsOf(target))) expect(rows).toEqual([])
    expect(await target.outside.media.has((await namesOfMedia())[0]!)).toBe(false)
    expect(steps).toContain('Taking in files')
  })

  it('is refused where there is something already', async () => {
    const target = await testLibrary()
    await addSource(target, { title: 'Mine' })
    const before = await rowsOf(target)
    await expect(importArchive(target, bytes)).rejects.toMatchObject({ code: 'library_not_empty' })
    expect(await rowsOf(target)).toEqual(before)
  })

  it('leaves out what belongs to rows that are not in it, and says so', async () => {
    const file = again((files) => {
      const name = 'library/sources.jsonl'
      const lines = Buffer.from(files[name]!).toString('utf8').split('\n')
      files[name] = Buffer.from(lines.slice(1).join('\n'))
      const manifest = JSON.parse(Buffer.from(files['manifest.json']!).toString('utf8'))
      manifest.tables.sources.rows--
      files['manifest.json'] = Buffer.from(JSON.stringify(manifest))
    })
    const target = await testLibrary()
    const taken = await importArchive(target, file)
    expect(taken.leftOut).toBeGreaterThan(5)
    expect(taken.rows['sources']).toBe((await rowsOf(library))['source']!.length - 1)
  })

  it('never leaves a source with a text that is not there', async () => {
    const file = again((files) => {
      const name = 'library/texts.jsonl'
      files[name] = Buffer.from('')
      const manifest = JSON.parse(Buffer.from(files['manifest.json']!).toString('utf8'))
      manifest.tables.texts.rows = 0
      files['manifest.json'] = Buffer.from(JSON.stringify(manifest))
    })
    const target = await testLibrary()
    await importArchive(target, file)
    const sources = (await rowsOf(target))['source']!
    expect(sources).toHaveLength((await rowsOf(library))['source']!.length)
    expect(sources.map((source) => source['text_id'])).toEqual(sources.map(() => null))
  })

  it.each([
    ['cut off', () => bytes.subarray(0, bytes.length - 40)],
    ['cut in the middle', () => bytes.subarray(0, bytes.length >> 1)],
    ['no ZIP', () => Buffer.from('PK\u0003\u0004 nothing')],
    ['empty', () => new Uint8Array()],
    ['a byte changed', () => flipped()],
    ['a row of another form', () => edit('library/notes.jsonl', /"body":"[^"]*"/, '"body":7')],
    ['a state that there is not', () => edit('library/highlights.jsonl', '"anchored"', '"floating"')],
    ['an id that is none', () => edit('library/highlights.jsonl', /"id":\d+/, '"id":-4')],
    ['ids twice', () => edit('library/tags.jsonl', /^(.*\n)/, '$1$1')],
    ['a line that is no JSON', () => edit('library/tags.jsonl', '{', '{{')],
    ['a row less than stated', () => edit('library/tags.jsonl', /^.*\n/, '')],
    ['another cover', () => again((files) => void (files[coverOf(files)] = Buffer.from('other')))],
    ['a file missing', () => again((files) => void delete files[coverOf(files)])],
    ['no list of files', () => again((files) => void delete files['library/media.jsonl'])],
  ])('is refused whole when it is damaged: %s', async (_what, file) => {
    expect(await refused(file())).toMatchObject({
      code: expect.stringMatching(/^(?:damaged_file|unsupported_type)$/),
    })
  })

  it.each<[table: string, row: Record<string, unknown>]>([
    ['settings', { id: 1, key: 'timeZone', value: 'Mars/Base' }],
    ['settings', { id: 1, key: 'reviewsPerDay', value: 'lots' }],
    ['highlights', { createdAt: '2026-01-01T00:00:00+09:00' }],
    ['audit', { changes: 3 }],
    ['audit', { changes: [{}] }],
    ['captures', { failure: { code: 1 } }],
    ['captures', { warnings: { a: 1 } }],
    ['imports', { remarks: [1] }],
    ['imports', { counts: { rows: 'x' } }],
    ['imported-rows', { rows: {} }],
    ['imported-rows', { rows: [['source', -1]] }],
    ['imported-rows', { rows: [['source', 1, { nosuch: ['a', 'b'] }]] }],
    ['imported-rows', { rows: [['source', 1, { title: ['a', {}] }]] }],
  ])('is refused where the inside of a field is not what its readers know: %s %j', async (table, fields) => {
    const file = again((files) => {
      const name = `library/${table}.jsonl`
      const [first = '', ...rest] = Buffer.from(files[name]!).toString('utf8').split('\n')
      const changed = { ...(first === '' ? {} : (JSON.parse(first) as object)), ...fields }
      files[name] = Buffer.from([JSON.stringify(changed), ...rest].join('\n'))
    })
    const target = await testLibrary()
    await expect(importArchive(target, file)).rejects.toMatchObject({
      code: 'damaged_file',
      cause: { message: expect.stringMatching(new RegExp(`: (?:${Object.keys(fields).join('|')})$`)) },
    })
  })

  it('is refused where it is another format, or of a newer version', async () => {
    expect(await refused(edit('manifest.json', '"version": 1', '"version": 2'))).toMatchObject({
      code: 'library_too_new',
    })
    expect(await refused(zipSync({ 'a.txt': Buffer.from('x') }))).toMatchObject({ code: 'unsupported_type' })
    expect(await isLibraryArchive(zipSync({ 'a.txt': Buffer.from('x') }))).toBe(false)
    expect(await isLibraryArchive(bytes.subarray(0, 9_000))).toBe(false)
  })

  it('never unpacks more than a library holds, nor two files that share their bytes', async () => {
    const zeros = Buffer.alloc(80 * 2 ** 20)
    const parts: Uint8Array[] = []
    for await (const part of writeZip(
      [
        { name: 'manifest.json', content: ['{}'] },
        { name: 'library/sources.jsonl', content: [zeros] },
      ],
      new Date(),
    ))
      parts.push(part)
    expect(await refused(Buffer.concat(parts))).toMatchObject({ code: 'too_large' })
    // A directory that says less than comes out.
    const packed = deflateRawSync(zeros)
    expect(packed.length).toBeLessThan(100_000)
    const small = Buffer.concat(parts)
    const at = small.lastIndexOf(Buffer.from([0x50, 0x4b, 0x01, 0x02]))
    small.writeUInt32LE(1_000, at + 24)
    expect(await refused(small)).toMatchObject({
      code: expect.stringMatching(/damaged_file|unsupported_type/),
    })
  })

  it('never takes a name for a path', async () => {
    const file = again((files) => {
      files['../../evil.txt'] = Buffer.from('x')
      files['/etc/evil'] = Buffer.from('x')
      files['media/../../evil'] = Buffer.from('x')
    })
    const target = await testLibrary()
    await importArchive(target, file)
    expect(await rowsOf(target)).toEqual(await rowsOf(library))
  })

  it('can be interrupted, and nothing stays', async () => {
    const target = await testLibrary()
    const ended = new AbortController()
    const taking = importArchive(target, bytes, {
      signal: ended.signal,
      onProgress: (_done, _total, what) => what === 'Making the search index' && ended.abort(),
    })
    await expect(taking).rejects.toMatchObject({ code: 'cancelled' })
    for (const rows of Object.values(await rowsOf(target))) expect(rows).toEqual([])
  })
})

const coverOf = (files: Record<string, Uint8Array>): string =>
  Object.keys(files).find((name) => name.startsWith('media/covers/'))!

function flipped(): Uint8Array {
  const file = Buffer.from(bytes)
  const at = file.indexOf('library/highlights.jsonl') + 60
  file[at] = file[at]! ^ 0xff
  return file
}

async function namesOfMedia(): Promise<string[]> {
  const rows = await library.db.selectFrom('text').select('raw').where('raw', 'is not', null).execute()
  return rows.map(({ raw }) => raw!)
}
