import { execFileSync } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openWorkspace, type Workspace } from '../support/run-cli.ts'

let at: Workspace
let server: Server
let site: string

const page = (title: string, words: string) =>
  `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>${title}</title></head><body><article><h1>${title}</h1><p>${words.repeat(20)}</p></article></body></html>`

beforeAll(async () => {
  at = openWorkspace()
  server = createServer((request, response) => {
    const found = request.url === '/tides'
    response.writeHead(found ? 200 : 404, { 'content-type': 'text/html; charset=utf-8' })
    response.end(
      found
        ? page('On tides', 'Twice a day the water forgets the shore and comes back. ')
        : page('Not found', 'Nothing. '),
    )
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  site = `http://127.0.0.1:${typeof address === 'object' && address ? address.port : 0}`
  Object.assign(at.env, { COMMONPLACE_ALLOW_HOSTS: site.replace('http://', '') })
})
afterAll(async () => {
  await new Promise((resolve) => server.close(resolve))
  at.remove()
})

const addJson = async (args: readonly string[], input?: string) => {
  const ended = await at.run(['add', ...args, '--json'], input === undefined ? {} : { input })
  return { ...ended, json: JSON.parse(ended.stdout) }
}

describe('add', () => {
  it('captures a page, and adds nothing the second time', async () => {
    const first = await addJson([`${site}/tides`, '--wait', '--tag', 'sea', '--note', 'for the boat'])
    expect(first.code).toBe(0)
    expect(first.json.items).toMatchObject([
      { state: 'captured', created: true, item: { title: 'On tides', kind: 'article' } },
    ])
    const second = await addJson([`${site}/tides`, '--wait', '--tag', 'sea', '--note', 'for the boat'])
    expect(second.json.items).toMatchObject([
      { state: 'unchanged', created: false, item: { id: first.json.items[0].item.id } },
    ])
    const { stdout } = await at.run(['read', first.json.items[0].item.id, '--json'])
    expect(JSON.parse(stdout).annotations).toMatchObject([{ kind: 'note', comments: ['for the boat'] }])
    expect(JSON.parse((await at.run(['tags', '--json'])).stdout).tags).toContainEqual({
      name: 'sea',
      count: 1,
    })
  })

  it('says of each what came of it, and ends with 4 where one failed', async () => {
    writeFileSync(join(at.folder, 'fine.txt'), 'Words enough for one file.\n')
    const { code, json } = await addJson(['fine.txt', `${site}/gone`, 'absent.pdf', '--wait'])
    expect(code).toBe(4)
    expect(json.items).toMatchObject([
      { given: 'fine.txt', state: 'captured' },
      { given: `${site}/gone`, state: 'failed', failure: { code: 'page-not-found' } },
      { given: 'absent.pdf', state: 'failed', failure: { code: 'file-not-found' } },
    ])
  })

  it('reads standard input, and keeps the address that it came from', async () => {
    const { code, json } = await addJson(
      ['-', '--url', 'https://example.org/from-a-pipe', '--wait'],
      page('Through a pipe', 'It came as a stream. '),
    )
    expect(code).toBe(0)
    expect(json.items).toMatchObject([
      { state: 'captured', item: { title: 'Through a pipe', url: 'https://example.org/from-a-pipe' } },
    ])
    expect((await at.run(['add', '-', '--wait'], { input: '' })).code).toBe(4)
  })

  it('takes what can be read in a folder and says what it left out and why', async () => {
    const folder = join(at.folder, 'shelf')
    mkdirSync(join(folder, 'deep', 'deeper'), { recursive: true })
    mkdirSync(join(folder, 'saved_files'))
    writeFileSync(join(folder, 'saved.html'), page('A saved page', 'Kept from the web. '))
    writeFileSync(join(folder, 'saved_files', 'frame.html'), page('A frame', 'Not an article. '))
    writeFileSync(join(folder, 'deep', 'deeper', 'essay.md'), '# An essay\n\nSomething about rain.\n')
    writeFileSync(join(folder, 'picture.png'), Buffer.from('89504e470d0a1a0a', 'hex'))
    writeFileSync(join(folder, 'empty.txt'), '')
    writeFileSync(join(folder, '.hidden.md'), 'secret')
    const { code, json } = await addJson(['shelf', '--wait'])
    expect(code).toBe(0)
    expect(json.items.map((item: { item: { title: string } }) => item.item.title)).toEqual([
      'An essay',
      'A saved page',
    ])
    expect(json.leftOut).toEqual([
      { path: join('shelf', '.hidden.md'), reason: 'hidden' },
      { path: join('shelf', 'saved_files'), reason: 'parts of a saved page' },
      { path: join('shelf', 'empty.txt'), reason: 'empty' },
      { path: join('shelf', 'picture.png'), reason: 'no page, book or text' },
    ])
  })

  it.skipIf(process.platform === 'win32')('waits for no pipe and reads no device', async () => {
    execFileSync('mkfifo', [join(at.folder, 'pipe')])
    for (const path of ['pipe', '/dev/zero', '/dev/null']) {
      const { code, json } = await addJson([path, '--wait'])
      expect(code).toBe(4)
      expect(json.items).toMatchObject([{ state: 'failed', failure: { code: 'unsupported-type' } }])
    }
  })

  it('does not take an empty word for the folder one stands in', async () => {
    for (const word of ['', ' ']) {
      const { code, stdout } = await at.run(['add', word, '--wait'])
      expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
    }
  })

  it('without --wait stores the file at once and captures it in the background, which ends by itself', async () => {
    const file = join(at.folder, 'later.md')
    writeFileSync(file, '# For later\n\nThe kettle was still warm.\n')
    const { code, stdout } = await at.run(['add', 'later.md'])
    expect(code).toBe(0)
    expect(stdout).toContain('in the background')
    writeFileSync(file, 'gone')
    await expect
      .poll(async () => (await at.run(['search', 'kettle', '--json'])).stdout, {
        timeout: 25_000,
        interval: 400,
      })
      .toContain('For later')
    await expect
      .poll(() => readFileSync(join(at.library, 'work.log'), 'utf8'), { timeout: 20_000, interval: 400 })
      .toMatch(/Done: \d+/)
  })
})
