import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { displayWidth } from '../../src/cli/measure.ts'
import { PROGRAM, openWorkspace, type Workspace } from '../support/run-cli.ts'

let at: Workspace
let id: string
const ESCAPE = '\u001b'

beforeAll(async () => {
  at = openWorkspace()
  writeFileSync(
    join(at.folder, 'page.html'),
    `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Evil ${ESCAPE}[2J\u202etitle 資料庫遷移前一定要先備份 and a very long rest that no terminal has room for</title></head>
     <body><article><h1>Evil title 資料庫遷移前一定要先備份 and a very long rest that no terminal has room for</h1><p>${'A sentence that is long enough to be wrapped somewhere. '.repeat(12)}</p>
     <p>See <a href="https://example.org/more">the rest</a>.</p></article></body></html>`,
  )
  const { stdout } = await at.run(['add', 'page.html', '--wait', '--json'])
  id = JSON.parse(stdout).items[0].item.id
})
afterAll(() => at.remove())

describe('output that goes to a file or a program', () => {
  it('has no colours and no control codes, whatever a page is called', async () => {
    for (const args of [
      ['list'],
      ['read', id],
      ['search', 'sentence'],
      ['help'],
      ['doctor'],
      ['list', '--json'],
    ]) {
      const { code, stdout } = await at.run(args)
      expect(code).toBe(0)
      expect(stdout).not.toContain(ESCAPE)
      expect(stdout).not.toContain('\u202e')
    }
  })

  it('is not cut', async () => {
    const { stdout } = await at.run(['list'])
    expect(stdout).toContain('no terminal has room for')
  })

  it('may be read in part: a reader that goes away is no failure', async () => {
    const { stdout, stderr } = await at.shell(
      'commonplace completion zsh | head -c 1; echo " ${PIPESTATUS[0]}"',
    )
    expect(stdout).toBe('# 0\n')
    expect(stderr).toBe('')
  })

  it('is one JSON document with --json', async () => {
    for (const args of [
      ['list'],
      ['search', 'sentence'],
      ['read', id],
      ['tags'],
      ['jobs'],
      ['trash'],
      ['doctor'],
      ['config'],
      ['connect'],
    ]) {
      const { code, stdout } = await at.run([...args, '--json'])
      expect(code).toBe(0)
      expect(JSON.parse(stdout)).toBeTypeOf('object')
    }
  })

  it('gives links as numbers with their addresses at the end', async () => {
    const { stdout } = await at.run(['read', id])
    expect(stdout).toContain('See the rest[1].')
    expect(stdout).toMatch(/Links\n\[1\] https:\/\/example\.org\/more\n/)
  })
})

const hasScript = process.platform === 'linux' && spawnSync('script', ['--version']).status === 0

describe.skipIf(!hasScript)('output at a terminal', () => {
  const terminal = async (columns: number, line: string) => {
    const { stdout } = await at.shell(
      `script -qec 'stty cols ${columns}; ${line.replace('commonplace', `"${process.execPath}" "${PROGRAM}"`)}' /dev/null </dev/null`,
    )
    return stdout.replaceAll('\r', '')
  }
  const bare = (text: string) =>
    text
      .split(ESCAPE)
      .map((part, index) => (index === 0 ? part : part.replace(/^\[[0-9;]*[mK]/, '')))
      .join('')

  it('has colours, and none with NO_COLOR or --no-color', async () => {
    expect(await terminal(80, 'TERM=xterm commonplace list')).toContain(`${ESCAPE}[`)
    expect(await terminal(80, 'TERM=xterm NO_COLOR=1 commonplace list')).not.toContain(`${ESCAPE}[`)
    expect(await terminal(80, 'TERM=xterm commonplace list --no-color')).not.toContain(`${ESCAPE}[`)
  })

  it.each([40, 64, 120])('fits %i columns', async (columns) => {
    for (const command of ['list', `read ${id} --no-pager`, 'search sentence', 'help']) {
      const lines = bare(await terminal(columns, `TERM=xterm commonplace ${command}`)).split('\n')
      expect(lines.length).toBeGreaterThan(2)
      const wide = lines.filter((line) => displayWidth(line) > columns && !line.includes('://'))
      expect(wide).toEqual([])
    }
  })

  it('goes through the pager', async () => {
    expect(await terminal(80, `PAGER="tr a-z A-Z" commonplace read ${id}`)).toContain(
      'A SENTENCE THAT IS LONG ENOUGH',
    )
    expect(await terminal(80, `PAGER=no-such-pager-at-all commonplace read ${id}`)).toContain(
      'A sentence that is long enough',
    )
  })
})
