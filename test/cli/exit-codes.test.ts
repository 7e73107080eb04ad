import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { DatabaseSync } from '@photostructure/sqlite'
import { openWorkspace, type Workspace } from '../support/run-cli.ts'

let at: Workspace

beforeAll(async () => {
  at = openWorkspace()
  writeFileSync(join(at.folder, 'note.md'), '# A note\n\nThe heron stood in the shallows.\n')
  await at.run(['add', 'note.md', '--wait'])
})
afterAll(() => at.remove())

describe('exit codes', () => {
  it.each<[number, string, string[], RegExp]>([
    [0, 'the version', ['--version'], /^$/],
    [0, 'the help of a command', ['help', 'add'], /^$/],
    [2, 'no command: the help on standard error', [], /COMMAND/],
    [2, 'a command there is not', ['serch', 'heron'], /Did you mean `commonplace search`\?/],
    [2, 'a flag there is not', ['list', '--limt', '3'], /There is no flag --limt\.\nDid you mean --limit\?/],
    [2, 'a flag without its value', ['list', '--limit'], /--limit needs a value/],
    [2, 'a switch with a value', ['add', 'note.md', '--wait=perhaps'], /true or false/],
    [2, 'a value given twice', ['list', '--limit', '1', '--limit', '2'], /twice/],
    [2, 'an argument too few', ['read'], /needs an argument/],
    [2, 'an argument too many', ['tags', 'all'], /does not take "all"/],
    [
      2,
      'a value that is not allowed',
      ['list', '--reading', 'never'],
      /reading must be "unread" or "reading" or "read"/,
    ],
    [2, 'a number that is none', ['list-items', '--limit', 'many'], /limit must be/],
    [2, 'two marks', ['mark', '1', '--read', '--unread'], /in one way only/],
    [3, 'an item there is not', ['read', '42'], /There is no item "42"/],
    [3, 'the same through a tool', ['read-item', '42'], /There is no item "42"/],
    [4, 'a file there is not', ['add', 'nothing.pdf'], /There is no file/],
    [4, 'a page on a private address', ['add', 'http://127.0.0.1:9/', '--wait'], /private/],
    [5, 'a folder without a library', ['list', '--library', 'elsewhere'], /no library in .*elsewhere/],
    [6, 'a change of a library opened for reading', ['add', 'note.md', '--read-only'], /for reading only/],
    [6, 'a tool that needs an account', ['sync'], /.+\n.+/],
  ])('%i: %s', async (code, _what, args, says) => {
    const ended = await at.run(args)
    expect(ended.stderr).toMatch(says)
    expect(ended.code).toBe(code)
  })

  it('2: a variable that cannot be read, by its name', async () => {
    const ended = await at.run(['list'], { env: { COMMONPLACE_ALLOW_HOSTS: 'nas.local,10.0.0.0/99' } })
    expect(ended.stderr).toMatch(/COMMONPLACE_ALLOW_HOSTS.*10\.0\.0\.0\/99/)
    expect(ended.code).toBe(2)
  })

  it('5: a damaged library, with the way out', async () => {
    const folder = join(at.folder, 'damaged')
    mkdirSync(folder)
    writeFileSync(join(folder, 'library.db'), 'this was never a library, '.repeat(200))
    const ended = await at.run(['list', '--library', folder])
    expect(ended.code).toBe(5)
    expect(ended.stderr).toMatch(/damaged[^\n]*\n.*restore/)
  })

  it('5: a library of a newer program, unchanged', async () => {
    const folder = join(at.folder, 'newer')
    mkdirSync(folder)
    const database = new DatabaseSync(join(folder, 'library.db'))
    database.exec('pragma user_version = 4711')
    database.close()
    const ended = await at.run(['add', 'note.md', '--library', folder])
    expect(ended.code).toBe(5)
    expect(ended.stderr).toMatch(/4711[^\n]*\n.*Upgrade/)
  })

  it('130: interrupted', async () => {
    const ended = await at.run(['add', '-'], { interrupt: 'SIGINT' })
    expect(ended.code).toBe(130)
  })
})

describe('failures', () => {
  it('are two lines on standard error: what went wrong, and what to do', async () => {
    const { stdout, stderr } = await at.run(['read', '42'])
    expect(stdout).toBe('')
    expect(stderr.trimEnd().split('\n')).toHaveLength(2)
  })

  it('are the failure object on standard error with --json', async () => {
    const { code, stdout, stderr } = await at.run(['--json', 'read', '42'])
    expect(code).toBe(3)
    expect(stdout).toBe('')
    expect(JSON.parse(stderr)).toMatchObject({
      code: 'item-not-found',
      hint: expect.any(String),
      error: { code: 'item_not_found', number: -32003 },
    })
  })

  it('of a variable name it', async () => {
    const { code, stderr } = await at.run(['list'], { env: { COMMONPLACE_EMBEDDER: 'magic' } })
    expect(code).toBe(2)
    expect(stderr).toContain('COMMONPLACE_EMBEDDER')
  })
})
