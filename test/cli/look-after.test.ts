import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from '@photostructure/sqlite'
import { afterAll, beforeEach, describe, expect, it } from 'vitest'
import { openWorkspace, type Workspace } from '../support/run-cli.ts'

let at: Workspace
const opened: Workspace[] = []

beforeEach(async () => {
  at = openWorkspace()
  opened.push(at)
  writeFileSync(join(at.folder, 'one.md'), '# One\n\nA first text about rivers.\n')
  await at.run(['add', 'one.md', '--wait'])
  await at.settled()
})
afterAll(() => {
  for (const each of opened) each.remove()
})

const json = async (...args: string[]) => JSON.parse((await at.run([...args, '--json'])).stdout)
const titles = async (): Promise<string[]> =>
  (await json('list')).items.map(({ title }: { title: string }) => title)

describe('backup and restore', () => {
  it('bring back everything, keep what stood there, and never give an id out twice', async () => {
    const [before] = (await json('list')).items
    expect((await at.run(['backup', 'copy.tar.gz'])).code).toBe(0)
    expect((await at.run(['backup', 'copy.tar.gz'])).stderr).toContain('is there already')
    writeFileSync(join(at.folder, 'two.md'), '# Two\n\nA second text about hills.\n')
    const [two] = (await json('add', 'two.md', '--wait')).items
    await at.settled()

    const restored = await json('restore', 'copy.tar.gz')
    expect(restored).toMatchObject({ items: 1 })
    expect(await titles()).toEqual(['One'])
    expect((await json('list')).items[0].id).toBe(before.id)
    expect((await at.run(['open', before.id, '--print'])).stdout).toContain('one.md')

    const [again] = (await json('add', 'two.md', '--wait')).items
    expect(Math.floor(Number(again.item.id) / 2 ** 40)).not.toBe(Math.floor(Number(two.item.id) / 2 ** 40))
    await at.settled()

    await json('restore', restored.kept)
    expect((await titles()).toSorted()).toEqual(['One', 'Two'])
    expect((await at.run(['doctor'])).code).toBe(0)
  })

  it('change nothing for a backup that is not whole', async () => {
    await at.run(['backup', 'copy.tar.gz'])
    const whole = readFileSync(join(at.folder, 'copy.tar.gz'))
    writeFileSync(join(at.folder, 'half.tar.gz'), whole.subarray(0, whole.length / 2))
    writeFileSync(join(at.folder, 'none.tar.gz'), 'no backup at all')
    for (const file of ['half.tar.gz', 'none.tar.gz']) {
      const ended = await at.run(['restore', file])
      expect(ended.code).toBe(4)
      expect(ended.stderr).toMatch(/no whole backup.*\n.*Nothing was changed/)
    }
    expect((await at.run(['restore', 'absent.tar.gz'])).code).toBe(3)
    expect(await titles()).toEqual(['One'])
    expect(readdirSync(at.library).filter((name) => name.startsWith('.restore'))).toEqual([])
  })

  it('wait for nobody: a library that another program has open is left alone', async () => {
    await at.run(['backup', 'copy.tar.gz'])
    const other = new DatabaseSync(join(at.library, 'library.db'), { timeout: 5_000 })
    other.prepare('select count(*) from source').get()
    const ended = await at.run(['restore', 'copy.tar.gz'])
    other.close()
    expect(ended.code).toBe(5)
    expect(ended.stderr).toContain('has the library open')
  })

  it('bring back a library whose file is destroyed, which is kept too', async () => {
    await at.run(['backup', 'copy.tar.gz'])
    for (const suffix of ['-wal', '-shm']) rmSync(join(at.library, `library.db${suffix}`), { force: true })
    writeFileSync(join(at.library, 'library.db'), 'rubbish '.repeat(1_000))
    const sick = await at.run(['doctor'])
    expect(sick.code).toBe(5)
    expect(sick.stdout).toContain('damaged')
    const { kept } = await json('restore', 'copy.tar.gz')
    expect(readFileSync(kept, 'utf8')).toContain('rubbish')
    expect(await titles()).toEqual(['One'])
  })
})

describe('doctor', () => {
  it('finds a fresh library well', async () => {
    const { code, stdout } = await at.run(['doctor', '--json'])
    expect(JSON.parse(stdout).findings.filter(({ state }: { state: string }) => state === 'bad')).toEqual([])
    expect(code).toBe(0)
  })

  it('finds a word index that lost something, and mends it', async () => {
    const database = new DatabaseSync(join(at.library, 'library.db'), { timeout: 5_000 })
    database.exec(`insert into passage_words (passage_words) values ('delete-all')`)
    database.close()
    expect((await json('search', 'rivers', '--mode', 'words')).results).toEqual([])
    expect((await at.run(['doctor'])).stdout).toMatch(/✗ word index .*\n.*doctor --fix/)
    expect((await at.run(['doctor', '--fix'])).code).toBe(0)
    expect((await json('search', 'rivers', '--mode', 'words')).results).toHaveLength(1)
    expect((await at.run(['doctor'])).code).toBe(0)
  })

  it('names the items whose files are gone', async () => {
    rmSync(join(at.library, 'media'), { recursive: true })
    const { code, stdout } = await at.run(['doctor'])
    expect(code).toBe(1)
    expect(stdout).toMatch(/✗ files and covers .*“One”/)
  })
})

describe('completion', () => {
  it('is a script that the shell takes, and completes commands, flags and choices', async () => {
    const complete = async (line: string) => {
      const words = line.split(' ')
      const { stdout } = await at.shell(
        `eval "$(commonplace completion bash)"; COMP_WORDS=(${words.map((word) => `'${word}'`).join(' ')}); COMP_CWORD=${words.length - 1}; _commonplace; printf '%s\\n' "\${COMPREPLY[@]}"`,
      )
      return stdout.trim().split('\n')
    }
    expect(await complete('commonplace sea')).toEqual(['search', 'search-highlights', 'search-library'])
    expect(await complete('commonplace list --r')).toEqual(['--reading', '--read-only'])
    expect(await complete('commonplace list --reading un')).toEqual(['unread'])
    expect(await complete('commonplace --library x mark --dr')).toEqual(['--dropped'])
    expect((await at.run(['completion', 'powershell'])).code).toBe(2)
  })
})

describe('welcome', () => {
  it('captures the samples, finds one by meaning, adds nothing the second time, and takes them out again', async () => {
    const first = await json('welcome')
    expect(first.added).toBe(3)
    expect(first.samples.map(({ kind }: { kind: string }) => kind).toSorted()).toEqual([
      'article',
      'book',
      'pdf',
    ])
    expect(first.search.results[0].matched).toMatch(/meaning|both/)
    expect(first.assistants.map(({ id }: { id: string }) => id)).toEqual([
      'claude-code',
      'claude-desktop',
      'cursor',
      'vscode',
      'gemini-cli',
      'goose',
    ])
    expect((await json('welcome')).added).toBe(0)
    expect((await json('list')).total).toBe(4)
    expect(await json('welcome', '--remove')).toEqual({ removed: 3 })
    expect(await titles()).toEqual(['One'])
    expect(existsSync(join(at.library, 'library.db'))).toBe(true)
  })
})
