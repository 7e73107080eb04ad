import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { gzipSync } from 'node:zlib'
import { unzipSync } from 'fflate'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Library } from '../core/library.ts'
import { openAccounts, type Accounts } from '../features/accounts/accounts.ts'
import { setPassword } from '../features/accounts/identity.ts'
import { makePersonalToken } from '../features/accounts/personal-token-store.ts'
import { addReader } from '../features/accounts/reader-store.ts'
import { startSession } from '../features/accounts/session-store.ts'
import { importArchive } from '../features/exports/import-archive.ts'
import { EXPORTED_TABLES } from '../features/exports/tables.ts'
import { leaveFeedback } from '../features/feedback/feedback.ts'
import { testLibrary } from '../../test/support/library.ts'
import { openAccountsDb } from '../../test/support/server-database.ts'
import { exportAccount } from './export-account.ts'

const PAGE = '<html><body><p>The heron waits.</p></body></html>'
const PDF = '%PDF-1.7 a file that was handed in'

let accounts: Accounts
let close: () => Promise<void>
let readerId: string
let library: Library
/** What was handed out and must not come out again. */
let secrets: string[]
let files: Record<string, string>

beforeAll(async () => {
  const opened = await openAccountsDb()
  const { db } = opened
  close = () => opened.close()
  const pages = { fetch: () => Promise.reject(new Error('no web here')) }
  accounts = await openAccounts({ db, base: 'https://books.example.org', pages, passwordCost: 6 })
  readerId = (await addReader(accounts, { email: 'ada@example.org', name: 'Ada' })).id
  await setPassword(accounts, readerId, 'a long enough password')
  const session = await startSession(accounts, readerId)
  const { token } = await makePersonalToken(accounts, readerId, {
    name: 'my script',
    scopes: ['sources:read'],
  })
  secrets = [session, token, 'a long enough password']
  await leaveFeedback(accounts, readerId, 'Please keep the herons.')
  library = await testLibrary()
  await fill(library)
  files = await exported()
})

afterAll(() => close())

async function exported(): Promise<Record<string, string>> {
  const parts: Uint8Array[] = []
  for await (const part of exportAccount(accounts, readerId, library)) parts.push(part)
  const unpacked = unzipSync(Buffer.concat(parts))
  return Object.fromEntries(
    Object.entries(unpacked).map(([name, bytes]) => [name, Buffer.from(bytes).toString('utf8')]),
  )
}

const HIGHLIGHTS = 1_300
const TITLE = 'Über “Reiher”: 1/2\nund mehr'

async function fill({ change, outside }: Library): Promise<void> {
  const raw = await outside.media.put(gzipSync(PAGE))
  const given = await outside.media.put(Buffer.from(PDF))
  const ofGiven = await outside.media.put(gzipSync(PDF))
  await change(async (to) => {
    const { at } = to
    const times = { created_at: at, updated_at: at }
    for (const title of [TITLE, 'A second one', 'Thrown away']) {
      const sourceId = await to.insert('source', {
        kind: 'article',
        title,
        match_key: '',
        authors: JSON.stringify(['Ada “the reader”', 'B: #2']),
        url: 'https://birds.example/heron',
        trashed_at: title === 'Thrown away' ? at : null,
        ...times,
      })
      const textId = await to.insert('text', {
        source_id: sourceId,
        markdown: `# ${title}\n\nThe heron waits.`,
        plain: 'The heron waits.',
        method: 'given',
        hash: 'x',
        words: 3,
        raw: title === 'A second one' ? ofGiven : raw,
        captured_at: at,
        state: 'good',
      })
      await to.update('source', sourceId, { text_id: textId })
    }
    const [first, second, third] = await to.db.selectFrom('source').select('id').orderBy('id').execute()
    await to.db
      .insertInto('capture')
      .values({
        id: await to.newId(),
        source_id: second!.id,
        url: null,
        given,
        given_name: '../../herons.PDF',
        state: 'completed',
        requested_at: at,
        failure: null,
        outcome: null,
        text_id: null,
        warnings: null,
        finished_at: at,
      })
      .execute()
    // A file that is gone, of two sources.
    for (const { id } of [second!, third!]) await to.update('source', id, { cover: 'f'.repeat(64) })
    const ids: number[] = []
    for (let n = 0; n < HIGHLIGHTS; n++)
      ids.push(
        await to.insert('highlight', {
          source_id: first!.id,
          quote: `heron ${n} stands\nand waits`,
          state: n % 7 === 0 ? 'unanchored' : 'anchored',
          // Many at one place, and some without one: paging must neither repeat nor skip them.
          start_offset: n % 7 === 0 ? null : Math.floor(n / 600),
          end_offset: n % 7 === 0 ? null : Math.floor(n / 600) + 5,
          locator: JSON.stringify({ page: n }),
          origin: 'reader',
          ...times,
        }),
      )
    await to.insert('note', {
      source_id: first!.id,
      highlight_id: ids[5]!,
      kind: 'comment',
      body: 'On five',
      ...times,
    })
    await to.insert('note', { source_id: first!.id, kind: 'comment', body: 'On the whole', ...times })
    await to.insert('read', {
      source_id: first!.id,
      status: 'finished',
      started_on: '2026-01',
      rating: 17,
      review: 'Tall.',
      ...times,
    })
    const tagId = await to.insert('tag', { name: 'Birds', name_key: 'birds' })
    await to.insert('tagging', { tag_id: tagId, target_id: first!.id })
    await to.erase('highlight', ids.at(-1)!)
  })
}

const rows = (file: string): Record<string, unknown>[] =>
  (files[`library/${file}.jsonl`] ?? '')
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line) as Record<string, unknown>)

const named = (pattern: RegExp): string[] => Object.keys(files).filter((name) => pattern.test(name))

describe('an export', () => {
  it('holds every row of every table that is not derived, and says how many', async () => {
    const manifest = JSON.parse(files['manifest.json'] ?? '') as {
      tables: Record<string, { rows: number; inLibrary: number }>
    }
    for (const [table, { file }] of Object.entries(EXPORTED_TABLES)) {
      const { count } = await library.db
        .selectFrom(table as 'source')
        .select(({ fn }) => fn.countAll<number>().as('count'))
        .executeTakeFirstOrThrow()
      expect([file, rows(file).length]).toEqual([file, count])
      expect(new Set(rows(file).map(({ id }) => id)).size).toBe(count)
      expect(manifest.tables[file]).toEqual({ rows: count, inLibrary: count })
    }
    expect(rows('highlights')).toHaveLength(HIGHLIGHTS - 1)
    expect(rows('deleted')).toHaveLength(1)
  })

  it('names fields as they are documented, and no others', () => {
    const docs = readFileSync(new URL('../../docs/export-format.md', import.meta.url), 'utf8')
    for (const { file, fields } of Object.values(EXPORTED_TABLES)) {
      const section = docs.split(`### \`${file}.jsonl\``)[1]?.split('\n###')[0] ?? ''
      const names = Object.values(fields).flatMap((field) =>
        field === null ? [] : [typeof field === 'string' ? field : field.json],
      )
      expect([file, names.filter((name) => !section.includes(`\`${name}\``))]).toEqual([file, []])
      for (const row of rows(file)) expect(Object.keys(row)).toEqual(names)
    }
    expect(rows('highlights')[0]).toMatchObject({ quote: 'heron 0 stands\nand waits', locator: { page: 0 } })
    expect(rows('reads')[0]).toMatchObject({ ratingInQuarterStars: 17, startedOn: '2026-01' })
    expect(rows('sources')[0]).toMatchObject({ title: TITLE, authors: ['Ada “the reader”', 'B: #2'] })
  })

  it('says who the reader is, and gives nothing away that opens anything', () => {
    expect(JSON.parse(files['account.json'] ?? '')).toMatchObject({
      reader: { email: 'ada@example.org', name: 'Ada' },
      tokens: [{ name: 'my script', scopes: ['sources:read'] }],
      feedback: [{ body: 'Please keep the herons.' }],
      sessions: [expect.anything()],
    })
    const all = JSON.stringify(files)
    for (const secret of secrets) {
      expect(all).not.toContain(secret)
      expect(all).not.toContain(createHash('sha256').update(secret).digest('base64url'))
    }
    expect(all).not.toContain('scrypt')
  })

  it('has the text of each source, under a name that every system takes', () => {
    expect(named(/^texts\//)).toHaveLength(2)
    const [file = ''] = named(/^texts\/Über-Reiher-1-2-und-mehr-\d+\.md$/)
    expect(files[file]).toContain(`title: ${JSON.stringify(TITLE)}\n`)
    expect(files[file]).toContain('authors: ["Ada “the reader”","B: #2"]\n')
    expect(files[file]).toContain('\n---\n\n# Über “Reiher”: 1/2\n')
  })

  it('has every highlight once, in the order of the text, with what was written on it', () => {
    expect(named(/^notes\//)).toHaveLength(1)
    const notes = files[named(/^notes\//)[0] ?? ''] ?? ''
    const quoted = [...notes.matchAll(/^> heron (\d+) stands\n> and waits$/gm)].map(([, n]) => Number(n))
    expect(quoted).toHaveLength(HIGHLIGHTS - 1)
    const placed = Array.from({ length: HIGHLIGHTS - 1 }, (_, n) => n)
    expect(quoted).toEqual([...placed.filter((n) => n % 7 !== 0), ...placed.filter((n) => n % 7 === 0)])
    expect(notes).toMatch(/^> heron 5 stands\n> and waits\n\npage 5 · \d{4}-\d\d-\d\d\n\nOn five$/m)
    for (const part of [
      'Tags: Birds',
      'On the whole',
      '- finished, 2026-01 to ?, 4.25 of 5 stars',
      '  Tall.',
    ])
      expect(notes).toContain(part)
  })

  it('has pages and files as they came, each once, and names what is missing', () => {
    expect(named(/^media\/originals\/\d+\.html$/).map((name) => files[name])).toEqual([PAGE])
    expect(named(/^media\/given\/\d+\.pdf$/).map((name) => files[name])).toEqual([PDF])
    expect(named(/^media\//)).toHaveLength(2)
    const media = rows('media')
    expect(media.map(({ kind, file }) => [kind, file === null])).toEqual([
      ['given', false],
      ['original', false],
      ['original', false],
      ['original', false],
      ['cover', true],
      ['cover', true],
    ])
    const manifest = JSON.parse(files['manifest.json'] ?? '') as { media: object }
    expect(manifest.media).toEqual({ files: 2, bytes: PAGE.length + PDF.length, missing: ['f'.repeat(64)] })
  })

  it('is taken in by an empty library, as one of its own', async () => {
    const parts: Uint8Array[] = []
    for await (const part of exportAccount(accounts, readerId, library)) parts.push(part)
    const target = await testLibrary()
    const { rows: taken, missingMedia } = await importArchive(target, Buffer.concat(parts))
    expect(taken).toMatchObject({ highlights: HIGHLIGHTS - 1, sources: 3, deleted: 1 })
    expect(missingMedia).toBe(1)
    const all = (of: Library) =>
      of.db
        .selectFrom('highlight')
        .select(['id', 'quote', 'start_offset', 'locator', 'created_at', 'updated_at'])
        .orderBy('id')
        .execute()
    expect(await all(target)).toEqual(await all(library))
  })

  it('is refused to a reader who is gone', async () => {
    await expect(exportAccount(accounts, 'nobody', library).next()).rejects.toMatchObject({
      code: 'not_logged_in',
    })
  })
})
