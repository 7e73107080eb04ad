import { spawnSync } from 'node:child_process'
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'

const project = fileURLToPath(new URL('../..', import.meta.url))
const oxlint = join(project, 'node_modules', 'oxlint', 'bin', 'oxlint')

/** A tree of its own under the project's rules, so that the faults are nobody's. */
let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'planted-'))
  copyFileSync(join(project, '.oxlintrc.json'), join(folder, '.oxlintrc.json'))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

function lint(files: Record<string, string>): { status: number | null; output: string } {
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true })
    writeFileSync(join(folder, name), content)
  }
  const { status, stdout } = spawnSync(process.execPath, [oxlint, '--deny-warnings'], {
    cwd: folder,
    encoding: 'utf8',
  })
  return { status, output: stdout }
}

const from = (path: string): string => `import { thing } from '${path}'\nexport const other = thing\n`

describe('a planted import against the arrows', () => {
  it.each([
    ['src/db/open.ts', '../core/failure.ts'],
    ['src/core/library.ts', '../features/texts/text-store.ts'],
    ['src/core/library.ts', '../outside/pages.ts'],
    ['src/features/texts/text-store.ts', '../../tools/registry.ts'],
    ['src/features/texts/tools/read-item.ts', '../../../outside/pages.ts'],
    ['src/features/texts/text-store.ts', '../../config/local.ts'],
    ['src/tools/call-tool.ts', '../jobs/queue.ts'],
    ['src/tools/call-tool.ts', '../mcp/app.ts'],
    ['src/outside/pages.ts', '../features/capture/walls.ts'],
    ['src/app/open-local.ts', '../mcp/app.ts'],
    ['src/mcp/app.ts', '../cli/print.ts'],
    ['src/mcp/protocol/stdio.ts', '../app.ts'],
    ['src/mcp/protocol/stdio.ts', '../../core/failure.ts'],
    ['src/mcp/protocol/stdio.ts', 'zod'],
    ['src/config/local.ts', '../app/open-local.ts'],
  ])('%s importing %s is refused', (file, path) => {
    const { status, output } = lint({ [file]: from(path) })
    expect(output).toContain('no-restricted-imports')
    expect(status).not.toBe(0)
  })

  it.each([
    ['src/core/library.ts', '../db/open.ts'],
    ['src/features/texts/tools/read-item.ts', '../../../core/library.ts'],
    ['src/app/open-local.ts', '../outside/pages.ts'],
    ['src/mcp/protocol/stdio.ts', 'node:stream'],
    ['src/mcp/protocol/stdio.ts', './messages.ts'],
    ['src/cli/commands/add.ts', '../../app/open-local.ts'],
  ])('%s importing %s is not', (file, path) => {
    expect(lint({ [file]: from(path) })).toMatchObject({ status: 0 })
  })
})

it('a circle of two files is refused', () => {
  const { status, output } = lint({
    'src/core/one.ts': "import { two } from './two.ts'\nexport const one = (): number => two()\n",
    'src/core/two.ts': "import { one } from './one.ts'\nexport const two = (): number => one()\n",
  })
  expect(output).toContain('no-cycle')
  expect(status).not.toBe(0)
})

it.each([
  ['no-explicit-any', 'export const value = (given: any): unknown => given\n'],
  ['ban-ts-comment', '// @ts-ignore\nexport const value = 1\n'],
  ['no-console', "console.log('to standard output')\nexport {}\n"],
])('%s is held', (rule, content) => {
  const { status, output } = lint({ 'src/core/planted.ts': content })
  expect(output).toContain(rule)
  expect(status).not.toBe(0)
})
