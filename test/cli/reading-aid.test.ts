import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { MODEL_KEY, serveModel, type AskedQuestion, type ModelReply } from '../support/model-server.ts'
import { openWorkspace } from '../support/run-cli.ts'
import { serveWeb } from '../support/web-server.ts'

const PARAGRAPHS = Array.from(
  { length: 12 },
  (_, n) =>
    `<p>Harbour number ${n + 2} froze in that winter, and its merchants sold the salt they had never paid for. ` +
    `A promise made on ice in town ${n + 2} is worth what the thaw leaves of it, wrote the keeper there. ` +
    `Weather of kind ${n + 2} teaches patience to whoever has ships at sea and debts at home.</p>`,
)
const PAGE = `<!doctype html><title>Winter on the quay</title><article><h1>Winter on the quay</h1>${PARAGRAPHS.join('')}</article>`
const PROMISE = 'A promise made on ice in town 7 is worth what the thaw leaves of it, wrote the keeper there.'

async function workspaceWithModel(
  form: AskedQuestion['form'],
  reply: (question: AskedQuestion, turn: number) => ModelReply,
) {
  const server = await serveModel(reply)
  const site = await serveWeb((path) => (path === '/quay' ? PAGE : undefined))
  const work = openWorkspace()
  onTestFinished(async () => {
    await work.settled()
    work.remove()
    await Promise.all([server.close(), site.close()])
  })
  const env = {
    COMMONPLACE_MODEL: form,
    COMMONPLACE_MODEL_URL: server.url,
    COMMONPLACE_MODEL_NAME: 'sage-1',
    COMMONPLACE_MODEL_KEY: MODEL_KEY,
    COMMONPLACE_ALLOW_HOSTS: site.host,
    COMMONPLACE_EMBEDDER: 'off',
  }
  Object.assign(work.env, env)
  const run = (args: string[]) => work.run(args, { env })
  /** Adds the page by add_source and gives what its import came to. */
  const read = async () => {
    const added = await run([
      'add-source',
      '--url',
      `${site.origin}/quay`,
      '--confirm',
      '--user-intent',
      'keep it',
      '--json',
    ])
    expect(added.stderr).toBe('')
    const { import_id: id } = JSON.parse(added.stdout)
    for (;;) {
      await run(['work'])
      const { stdout } = await run(['get-import', String(id), '--json'])
      const entry = JSON.parse(stdout)
      if (/completed|failed/.test(entry.status)) return { stdout, entry }
    }
  }
  return { server, work, run, read }
}

it.each(['openai', 'anthropic', 'google', 'ollama'] as const)(
  'a model of %s picks the passages of a page and digests it',
  async (form) => {
    const { server, run, read, work } = await workspaceWithModel(form, ({ schema }) => {
      const asked = JSON.stringify(schema)
      if (asked.includes('"passages"'))
        return { json: { passages: [PROMISE, 'An invented passage of the model.'] } }
      if (asked.includes('"word"')) return { json: { word: 'harbour' } }
      return { json: { sentences: ['Promises on ice are worth little.'] } }
    })
    expect((await read()).entry.status).toBe('completed')
    const question = server.asked[0]
    expect(question).toMatchObject({ form, model: 'sage-1' })
    expect(question?.material).toContain(PROMISE)
    const marked = await run(['search-highlights', '--query', 'promise', '--json'])
    expect(marked.stdout).toContain(PROMISE)
    expect(marked.stdout).not.toContain('invented')

    const [item] = JSON.parse((await run(['list', '--json'])).stdout).items
    const digest = await run(['read', item.id, '--digest'])
    expect(digest.stdout).toContain('Promises on ice are worth little.')
    expect(digest.stdout).toContain(`${form}:sage-1`)

    const doctor = await run(['doctor', '--model'])
    expect(doctor.stdout).toMatch(/sage-1.*, answers/)
    const shown = [await run(['config']), await run(['config', '--json']), doctor, digest, marked]
    expect(JSON.stringify(shown)).not.toContain(MODEL_KEY)
    expect((await work.shell(`cat ${work.library}/work.log 2>/dev/null; true`)).stdout).not.toContain(
      MODEL_KEY,
    )
  },
  120_000,
)

it('a model that does not work leaves the passages to what is built in, which is said', async () => {
  const { run, read, server } = await workspaceWithModel('openai', () => ({ status: 401 }))
  const { entry, stdout } = await read()
  expect(entry.status).toBe('completed')
  expect(server.asked).toHaveLength(1)
  expect(stdout).toMatch(/without the language model: the language model's provider refused the key/)
  expect(stdout).not.toContain(MODEL_KEY)
  const doctor = await run(['doctor', '--model'])
  expect(doctor.code).toBe(1)
  expect(doctor.stdout).toMatch(/refused the key/)
  expect(doctor.stdout).not.toContain(MODEL_KEY)
}, 120_000)

it('a configuration that cannot be followed is said before anything else', async () => {
  const work = openWorkspace()
  onTestFinished(() => work.remove())
  writeFileSync(join(work.folder, 'page.txt'), 'The harbour froze.')
  for (const [env, says] of [
    [{ COMMONPLACE_MODEL: 'anthropic' }, /needs a key/],
    [{ COMMONPLACE_MODEL: 'ollama' }, /needs the name of a model/],
    [{ COMMONPLACE_MODEL_KEY: MODEL_KEY }, /needs COMMONPLACE_MODEL as well/],
    [{ COMMONPLACE_MODEL: 'openai', COMMONPLACE_MODEL_KEY: `${MODEL_KEY}\nx` }, /COMMONPLACE_MODEL_KEY/],
    [
      { COMMONPLACE_MODEL: 'openai', COMMONPLACE_MODEL_URL: `http://u:${MODEL_KEY}@h/v1` },
      /without a name, password or query/,
    ],
  ] as [Record<string, string>, RegExp][]) {
    const { code, stderr } = await work.run(['list'], { env })
    expect(code).not.toBe(0)
    expect(stderr).toMatch(says)
    expect(stderr).not.toContain(MODEL_KEY)
  }
}, 60_000)
