import { mkdirSync, readFileSync, readdirSync, renameSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { unzipSync } from 'fflate'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openLocal } from '../../src/app/open-local.ts'
import { readLocalConfig } from '../../src/config/local.ts'
import { addSource } from '../support/sources.ts'
import { fillHostile, HOSTILE } from '../support/hostile-library.ts'
import { openWorkspace } from '../support/run-cli.ts'

const at = openWorkspace()
let sources: number[]
let highlights: number[]

const inLibrary = async <T>(
  work: (library: Awaited<ReturnType<typeof openLocal>>['library']) => Promise<T>,
) => {
  const local = await openLocal(readLocalConfig({ ...at.env, COMMONPLACE_EMBEDDER: 'off' }))
  try {
    return await work(local.library)
  } finally {
    await local.close()
  }
}

beforeAll(async () => {
  await inLibrary(async (library) => {
    ;({ sources, highlights } = await fillHostile(library))
    for (const title of [
      'Same',
      'same',
      'SAME',
      'CON',
      'aux.',
      'Sa\u0301me',
      'S\u00e1me',
      'x'.repeat(300),
      '資'.repeat(200),
    ]) {
      const id = await addSource(library, { title })
      await library.change((change) =>
        change.insert('highlight', {
          source_id: id,
          quote: `of ${title}`,
          state: 'unanchored',
          origin: 'reader',
          created_at: change.at,
          updated_at: change.at,
        }),
      )
    }
  })
})
afterAll(() => at.remove())

const file = (...path: string[]): string => join(at.folder, ...path)
const text = (...path: string[]): string => readFileSync(file(...path), 'utf8')

describe('commonplace export', () => {
  it('writes the very bytes that the pages of export_highlights make together', async () => {
    const ended = await at.run(['export', 'highlights.csv'])
    expect(ended).toMatchObject({ code: 0, stderr: '' })
    let pages = ''
    for (let cursor: string | null = ''; cursor !== null;) {
      const page = JSON.parse(
        (
          await at.run([
            'export-highlights',
            '--limit',
            '40',
            ...(cursor ? ['--cursor', cursor] : []),
            '--json',
          ])
        ).stdout,
      )
      pages += page.csv
      cursor = page.nextCursor
    }
    expect(text('highlights.csv')).toBe(pages)
    expect((await at.run(['export', '--format', 'csv', '-'])).stdout).toBe(pages)
    const again = await at.run(['export', 'highlights.csv'])
    expect(again).toMatchObject({ code: 2 })
    expect(again.stderr).toContain('--force')
    expect((await at.run(['export', 'highlights.csv', '--force'])).code).toBe(0)
    expect(readdirSync(at.folder).filter((name) => name.endsWith('.tmp'))).toEqual([])
  })

  it('writes one item as get_source_markdown gives it, and brings its file up to date', async () => {
    const id = String(sources[4]!)
    expect((await at.run(['export', '--source', id, 'one.md'])).code).toBe(0)
    const { markdown } = JSON.parse((await at.run(['get-source-markdown', id, '--json'])).stdout)
    expect(text('one.md')).toBe(markdown)
    expect((await at.run(['export', '--format', 'markdown', '--source', id, '-'])).stdout).toBe(markdown)
    writeFileSync(file('one.md'), `${markdown}\nMine.\n`)
    expect((await at.run(['export', '--source', id, 'one.md'])).code).toBe(0)
    expect(text('one.md')).toBe(`${markdown}\nMine.\n`)
    writeFileSync(file('two.md'), 'Somebody else’s.\n')
    expect((await at.run(['export', '--source', id, 'two.md'])).code).toBe(2)
    expect(text('two.md')).toBe('Somebody else’s.\n')
    expect((await at.run(['export', 'all.md'])).stderr).toContain('--source')
  })

  it('writes everything as one JSON document', async () => {
    expect((await at.run(['export', 'all.json'])).code).toBe(0)
    const all = JSON.parse(text('all.json'))
    expect(all).toMatchObject({ format: 'commonplace-json', version: 1 })
    // One lies in the trash.
    expect(all.sources).toHaveLength(HOSTILE.length - 1 + 9)
    expect(all.sources[0]).toMatchObject({
      id: sources[0],
      title: HOSTILE[0],
      authors: [HOSTILE[0], 'Roe, Sam', 'B; C\\'],
    })
    const marked = all.sources[0].highlights.find(({ id }: { id: number }) => id === highlights[0])
    expect(marked).toMatchObject({
      quote: HOSTILE[0],
      locator: { page: '1' },
      notes: [HOSTILE[0]],
      color: 'yellow',
    })
    const one = JSON.parse(
      (await at.run(['export', '--format', 'json', '--source', String(sources[1]), '-'])).stdout,
    )
    expect(one.sources.map(({ id }: { id: number }) => id)).toEqual([sources[1]])
  })

  it('writes a folder whose files every system takes, and finds them again wherever they went', async () => {
    const first = JSON.parse((await at.run(['export', 'notes', '--json'])).stdout)
    const names = readdirSync(file('notes'))
    expect(first).toMatchObject({ made: HOSTILE.length - 1 + 9, changed: 0, same: 0 })
    expect(names).toHaveLength(first.made)
    const keys = names.map((name) => name.normalize('NFC').toLowerCase())
    expect(new Set(keys).size).toBe(names.length)
    for (const name of names) {
      expect(Buffer.byteLength(name)).toBeLessThanOrEqual(255)
      expect(name).not.toMatch(/[<>:"/\\|?*\p{Cc}]|[. ]\.md$|^(?:con|prn|aux|nul|com\d|lpt\d)\b/iu)
      expect(name).toBe(name.normalize('NFC'))
    }
    const times = names.map((name) => statSync(file('notes', name)).mtimeMs)
    expect(JSON.parse((await at.run(['export', 'notes/', '--json'])).stdout)).toMatchObject({
      made: 0,
      changed: 0,
      same: names.length,
    })
    expect(names.map((name) => statSync(file('notes', name)).mtimeMs)).toEqual(times)

    // A reader writes into one, calls it otherwise and moves it away; its title and a highlight change.
    mkdirSync(file('notes', 'Birds'))
    renameSync(file('notes', 'Same.md'), file('notes', 'Birds', 'My heron.md'))
    const mine = `${text('notes', 'Birds', 'My heron.md')}\n## My thoughts\n\nHerons.\n`
    writeFileSync(file('notes', 'Birds', 'My heron.md'), mine)
    writeFileSync(file('notes', 'Own.md'), '# Mine alone\n')
    await inLibrary((library) =>
      library.change(async (change) => {
        const [source] = await change.db
          .selectFrom('source')
          .select('id')
          .where('title', '=', 'Same')
          .execute()
        await change.update('source', source!.id, { title: 'Otherwise' })
        const [marked] = await change.db
          .selectFrom('highlight')
          .select('id')
          .where('source_id', '=', source!.id)
          .execute()
        await change.update('highlight', marked!.id, { quote: 'changed words' })
        await change.update('highlight', highlights[0]!, { trashed_at: change.at })
        await change.update('source', sources[5]!, { trashed_at: change.at })
      }),
    )
    const next = await at.run(['export', 'notes'])
    expect(next.stdout).toContain('0 new files, 2 changed files')
    expect(next.stderr).toMatch(/no longer in the library.*\n {2}\S/)
    const heron = text('notes', 'Birds', 'My heron.md')
    expect(heron).toContain('title: "Otherwise"\n')
    expect(heron).toContain('# Otherwise\n')
    expect(heron).toContain('> changed words\n')
    expect(heron).not.toContain('of Same')
    expect(heron.endsWith('\n## My thoughts\n\nHerons.\n')).toBe(true)
    expect(text('notes', 'Own.md')).toBe('# Mine alone\n')
    expect(readdirSync(file('notes')).filter((name) => name.endsWith('.md'))).toHaveLength(names.length)
  })

  it('writes an archive that an empty library becomes the same by', async () => {
    expect((await at.run(['export', 'library.zip'])).code).toBe(0)
    const files = unzipSync(readFileSync(file('library.zip')))
    expect(Object.keys(files)).not.toContain('account.json')
    expect(JSON.parse(Buffer.from(files['manifest.json']!).toString())).toMatchObject({
      format: 'commonplace-export',
      from: 'local',
    })
  })

  it('says what it cannot do, before it writes anything', async () => {
    const before = readdirSync(at.folder)
    for (const [args, said] of [
      [['export', 'x.docx'], '.docx'],
      [['export', '-'], '--format'],
      [['export', 'x.csv', '--source', String(sources[0])], '--source'],
      [['export', 'x.csv', '--format', 'pdf'], '--format'],
      [['export', 'notes', '--format', 'csv'], 'folder'],
      [['export', '--source', '7', 'x.md'], 'no item'],
      [['export'], ''],
    ] as const) {
      const ended = await at.run(args)
      expect(ended.code).toBeGreaterThan(0)
      expect(ended.stderr).toContain(said)
    }
    expect(readdirSync(at.folder)).toEqual(before)
  })
})
