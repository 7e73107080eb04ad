import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openWorkspace, type Workspace } from '../support/run-cli.ts'

let at: Workspace
let first: string

beforeAll(async () => {
  at = openWorkspace()
  const words = ['The heron stood', 'until the tide turned', 'It waited']
  writeFileSync(join(at.folder, 'note.md'), `# Herons\n\n${words.join('. ')}.\n`)
  const { items } = JSON.parse((await at.run(['add', 'note.md', '--wait', '--json'])).stdout)
  for (const quote of words) await at.run(['add-highlight', items[0].item.id, '--quote', quote])
  first = String(JSON.parse((await at.run(['review', '--json'])).stdout).highlights[0].id)
})
afterAll(() => at.remove())

const json = async (...args: string[]) => JSON.parse((await at.run([...args, '--json'])).stdout)

describe('review', () => {
  it('lists the highlights of the day where nobody can be asked', async () => {
    const { stdout, code } = await at.run(['review'])
    expect(code).toBe(0)
    for (const words of ['Herons', 'The heron stood', 'It waited', '3 highlights to go over today.'])
      expect(stdout).toContain(words)
  })

  it('leaves out what was answered, and keeps the number of a day', async () => {
    expect(await json('review-highlight', first, '--rating', 'good')).toMatchObject({ interval_days: 3 })
    expect(await json('review')).toMatchObject({ answered_today: 1, left_today: 2 })
    expect(await json('review', '--each-day', '2')).toMatchObject({ left_today: 1 })
    expect(await json('review')).toMatchObject({ answered_today: 1, left_today: 1 })
    expect(await json('review', '--limit', '3')).toMatchObject({ left_today: 2 })
    expect((await at.run(['log'])).stdout).toContain('added 1 answer · Herons')
  })

  it.each(['0', '51', 'ten'])('refuses %s as a number of highlights', async (number) => {
    expect((await at.run(['review', '--limit', number])).code).toBe(2)
    expect((await at.run(['review', '--each-day', number])).code).toBe(2)
  })
})
