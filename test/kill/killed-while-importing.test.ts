import { spawn } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from '@photostructure/sqlite'
import { expect, it } from 'vitest'
import { kindleClippings } from '../../bench/imports-parts.ts'
import { openWorkspace, PROGRAM } from '../support/run-cli.ts'

it('an import that is killed is finished by the next, with nothing twice', { timeout: 120_000 }, async () => {
  const at = openWorkspace()
  try {
    const file = join(at.folder, 'clippings.txt')
    writeFileSync(file, kindleClippings(20_000))
    const marked = (): number => {
      try {
        const database = new DatabaseSync(join(at.library, 'library.db'), { readOnly: true })
        const { count } = database.prepare('select count(*) as count from highlight').get() as {
          count: number
        }
        database.close()
        return count
      } catch {
        return 0
      }
    }
    const env = { ...at.env, COMMONPLACE_EMBEDDER: 'off' }
    const child = spawn(process.execPath, [PROGRAM, 'import', file], { env, stdio: 'ignore' })
    const gone = new Promise((resolve) => child.on('close', resolve))
    await expect.poll(marked, { timeout: 60_000, interval: 5 }).toBeGreaterThan(0)
    child.kill('SIGKILL')
    await gone
    const before = marked()
    expect(before).toBeLessThan(20_000)
    const ended = await at.run(['import', file], { env: { COMMONPLACE_EMBEDDER: 'off' } })
    expect(ended.code).toBe(0)
    expect(ended.stdout).toContain('It was cut short the last time')
    expect(ended.stdout).toContain('200 sources, 20,000 highlights')
    expect(marked()).toBe(20_000)
    const { imports } = JSON.parse((await at.run(['import', '--list', '--json'])).stdout)
    expect(imports).toMatchObject([{ status: 'completed' }])
  } finally {
    at.remove()
  }
})
