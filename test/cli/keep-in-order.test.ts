import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openWorkspace, type Workspace } from '../support/run-cli.ts'

let at: Workspace
let id: string

beforeAll(async () => {
  at = openWorkspace()
  writeFileSync(
    join(at.folder, 'note.md'),
    '# Herons\n\nThe heron stood in the shallows until the tide turned.\n',
  )
  id = JSON.parse((await at.run(['add', 'note.md', '--wait', '--json'])).stdout).items[0].item.id
})
afterAll(() => at.remove())

const json = async (...args: string[]) => JSON.parse((await at.run([...args, '--json'])).stdout)

describe('mark, tag, trash, restore', () => {
  it('sets where the reader stands', async () => {
    expect((await json('list', '--reading', 'unread')).total).toBe(1)
    expect((await at.run(['mark', id, '--read'])).stdout).toContain('is read')
    expect((await json('list', '--reading', 'read')).total).toBe(1)
    await at.run(['mark', id, '--unread'])
    expect((await json('list', '--reading', 'read')).total).toBe(0)
  })

  it('puts tags on and takes them off', async () => {
    expect((await json('tag', id, '+birds', '+to read')).tags).toEqual(['birds', 'to read'])
    expect((await json('tag', id, '-Birds')).tags).toEqual(['to read'])
    expect((await at.run(['tag', id, 'birds'])).stderr).toContain('Write +birds or -birds')
  })

  it('moves a highlight with its note to the trash and takes it out again', async () => {
    const { highlight } = await json(
      'add-highlight',
      id,
      '--quote',
      'until the tide turned',
      '--comment',
      'Patience.',
    )
    await at.run(['delete-highlight', highlight.id])
    expect((await json('search', 'patience in:notes')).results).toEqual([])
    expect((await json('trash')).highlights).toMatchObject([
      { id: highlight.id, quote: 'until the tide turned' },
    ])
    expect((await at.run(['trash'])).stdout).toContain('“until the tide turned” in Herons')
    expect((await at.run(['get-highlight', highlight.id])).code).toBe(3)
    expect((await at.run(['restore', highlight.id])).stdout).toContain('is back in the library')
    expect((await json('get-highlight', highlight.id)).content).toBe('until the tide turned')
    expect((await json('search', 'patience in:notes')).results).toHaveLength(1)
  })

  it('moves an item to the trash and takes it out again', async () => {
    await at.run(['trash', id])
    expect((await json('list')).total).toBe(0)
    expect((await json('trash')).items).toMatchObject([{ id, title: 'Herons' }])
    expect((await at.run(['read', id])).stderr).toContain('commonplace restore')
    await at.run(['restore', id])
    expect((await json('list')).total).toBe(1)
    expect((await json('search', 'shallows')).results).toHaveLength(1)
  })

  it('prints where the original is when nothing can open it', async () => {
    const { code, stdout } = await at.run(['open', id, '--print'])
    expect(code).toBe(0)
    expect(stdout.trim()).toMatch(/note\.md$/)
  })
})

describe('log', () => {
  it('shows who changed what, and what stood there before', async () => {
    const { stdout } = await at.run(['log'])
    expect(stdout).toMatch(/cli +restore +took back 1 item · Herons/)
    expect(stdout).toMatch(/cli +trash +threw away 1 item · Herons/)
    expect(stdout).toMatch(/cli +tag +added 2 tags/)
    const { entries } = await json('log', '--limit', '1')
    expect(entries).toMatchObject([
      { connection: 'cli', tool: 'restore', changes: [{ table: 'source', op: 'update' }] },
    ])
    expect(entries[0].changes[0].before.trashed_at).toMatch(/^\d{4}-/)
    expect((await json('log', '--limit', '1', '--offset', '1')).entries[0].tool).toBe('trash')
  })
})

describe('tools as commands', () => {
  it('take their inputs as flags in either spelling, the first one without', async () => {
    const markdown = (await at.run(['read-item', id, '--max-chars', '8'])).stdout
    expect(markdown).toBe('# Herons\n')
    expect((await at.run(['read-item', '--id', id, '--maxChars=8'])).stdout).toBe(markdown)
    expect((await at.run(['read_item', id, '--max-chars', '8'])).stdout).toBe(markdown)
  })

  it('answer with the output of the tool', async () => {
    const added = await json(
      'add-highlight',
      id,
      '--quote',
      'stood in the shallows',
      '--comment',
      '- patience',
    )
    expect(JSON.stringify(added)).toContain('stood in the shallows')
    expect((await at.run(['read', id])).stdout).toMatch(/┃ stood in the shallows\n {4}- patience\n/)
  })

  it('explain themselves from their declarations', async () => {
    const { code, stdout } = await at.run(['add-highlight', '--help'])
    expect(code).toBe(0)
    expect(stdout).toContain('commonplace add-highlight ID --quote TEXT')
    expect(stdout).toContain('--occurrence N')
  })
})
