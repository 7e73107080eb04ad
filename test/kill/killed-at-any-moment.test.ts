import { execFile, spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { DatabaseSync } from '@photostructure/sqlite'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { MAIN, startMcp } from '../support/mcp-process.ts'
import { serveWeb, type WebServer } from '../support/web-server.ts'

const ROUNDS = 50

/** Not the synchronous kind: the pages come from this process. */
const run = promisify(execFile)

/** mulberry32: the moments are random and can be had again. */
function randomFrom(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
}

const word = (n: number): string => `marker${n.toString(36).padStart(4, '0')}`

const essay = (n: number): string =>
  Array.from(
    { length: 12 },
    (_, i) =>
      `<p>Paragraph ${i} of the essay about ${word(n)} says what a reader keeps and why it is worth keeping, in words of its own ` +
      `that stand nowhere else but in this essay, so that they can be found again by anyone who looks for them.</p>`,
  ).join('')

const page = (n: number): string =>
  `<!doctype html><html lang="en"><head><title>Essay ${n}</title></head><body><article><h1>Essay ${n}</h1>${essay(n)}</article></body></html>`

let folder: string
let web: WebServer
let env: Record<string, string>

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'killed-'))
  web = await serveWeb((path) => (/^\/\d+$/.test(path) ? page(Number(path.slice(1))) : undefined))
  env = { COMMONPLACE_ALLOW_HOSTS: web.host }
})
afterAll(async () => {
  await web.close()
  rmSync(folder, { recursive: true, force: true })
})

interface Acknowledged {
  /** Item ids of pages that were answered as captured, by the number of the page. */
  captured: Map<number, string>
  /** Comments that were answered, by item. */
  comments: { id: string; body: string }[]
  /** Item ids that `add` printed. */
  added: string[]
}

/** Saves pages and comments over MCP until the kill. */
async function serveUntilKilled(
  library: string,
  first: number,
  afterMs: number,
  known: Acknowledged,
): Promise<number> {
  const begun = performance.now()
  const server = await startMcp(library, { env })
  const kill = setTimeout(() => server.child.kill('SIGKILL'), afterMs)
  const work = [0, 1, 2].map(async (offset) => {
    const n = first + offset
    const saved = await server.call('save_url', { url: `${web.origin}/${n}`, note: `note of ${n}` })
    if (!saved || saved['isError'] || saved['state'] !== 'captured') return
    const { id } = saved['item'] as { id: string }
    known.captured.set(n, id)
    const body = `comment on ${n}`
    const commented = await server.call('add_comment', { id, body })
    if (commented && !commented['isError']) known.comments.push({ id, body })
  })
  await Promise.race([Promise.all(work), server.exited])
  const took = performance.now() - begun
  await server.exited
  clearTimeout(kill)
  return took
}

/** Adds a folder of files from the command line until the kill. */
async function addUntilKilled(
  library: string,
  first: number,
  afterMs: number,
  known: Acknowledged,
): Promise<void> {
  const files = join(folder, `files-${first}`)
  mkdirSync(files)
  for (let n = first; n < first + 3; n++) writeFileSync(join(files, `${n}.html`), page(n))
  const child = spawn(process.execPath, [MAIN, 'add', files, '--wait', '--json', '--library', library], {
    stdio: ['ignore', 'pipe', 'ignore'],
    env: { ...process.env, ...env },
  })
  let printed = ''
  child.stdout.on('data', (chunk) => (printed += chunk))
  const kill = setTimeout(() => child.kill('SIGKILL'), afterMs)
  await new Promise((resolve) => child.once('close', resolve))
  clearTimeout(kill)
  for (const [, id] of printed.matchAll(/"id":\s*"(\d+)"/g)) known.added.push(id!)
}

function examine(library: string, known: Acknowledged): void {
  const db = new DatabaseSync(join(library, 'library.db'), { timeout: 10_000 })
  const rows = (sql: string): Record<string, unknown>[] => db.prepare(sql).all() as Record<string, unknown>[]
  try {
    expect(rows('pragma integrity_check')).toEqual([{ integrity_check: 'ok' }])
    expect(rows('pragma foreign_key_check')).toEqual([])
    expect(
      rows('select id from source where text_id is not null and text_id not in (select id from text)'),
    ).toEqual([])
    expect(rows(`select id from capture where state = 'completed' and text_id is null`)).toEqual([])
    expect(
      rows(
        `select id from source where text_id is not null and id not in (select source_id from passage where kind = 'text')`,
      ),
    ).toEqual([])
    expect(
      rows(`select id from capture where state in ('pending', 'processing') and id not in
      (select json_extract(input, '$.captureId') from job where state in ('pending', 'running'))`),
    ).toEqual([])
    const texts = new Map(
      rows(`select source.id, text.plain from source join text on text.id = source.text_id`).map((row) => [
        String(row['id']),
        String(row['plain']),
      ]),
    )
    for (const [n, id] of known.captured) expect(texts.get(id)).toContain(word(n))
    for (const id of known.added) expect(texts.has(id)).toBe(true)
    const notes = new Set(
      rows('select source_id, body from note').map((row) => `${row['source_id']} ${row['body']}`),
    )
    for (const { id, body } of known.comments) expect(notes).toContain(`${id} ${body}`)
    for (const [n, id] of known.captured) expect(notes).toContain(`${id} note of ${n}`)
  } finally {
    db.close()
  }
}

it(
  `nothing acknowledged is lost and nothing is half there, killed at ${ROUNDS} random moments`,
  { timeout: 600_000 },
  async () => {
    const seed = Number(process.env['SEED'] ?? 20_261_130)
    const random = randomFrom(seed)
    const library = join(folder, 'library')
    const known: Acknowledged = { captured: new Map(), comments: [], added: [] }
    // How long a round takes here and now says how far apart the moments may lie; embedding goes on after the answers.
    const whole = await serveUntilKilled(library, 0, 10_000, known)
    // A machine that has become slower meanwhile gets rounds beyond, each longer, until enough was acknowledged.
    for (let round = 1; round <= ROUNDS || known.captured.size + known.added.length <= 10; round++) {
      const afterMs = 10 + random() * whole * 1.5 * Math.max(1, round / ROUNDS)
      if (round % 3 === 2) await addUntilKilled(library, round * 3, afterMs, known)
      else await serveUntilKilled(library, round * 3, afterMs, known)
      examine(library, known)
    }
    await run(process.execPath, [MAIN, 'work', '--library', library], { env: { ...process.env, ...env } })
    examine(library, known)
    const db = new DatabaseSync(join(library, 'library.db'))
    const left = db
      .prepare(`select state, count(*) as count from job where state <> 'completed' group by state`)
      .all()
    const bare = db.prepare('select count(*) as count from passage where embedded is null').get() as {
      count: number
    }
    const passages = db.prepare('select count(*) as count from passage').get() as { count: number }
    const vectors = db.prepare('select count(*) as count from vector').get() as { count: number }
    db.close()
    expect(left).toEqual([])
    expect({ bare: bare.count, vectors: vectors.count }).toEqual({ bare: 0, vectors: passages.count })
    expect(known.captured.size + known.added.length).toBeGreaterThan(10)
    for (const n of [...known.captured.keys()].slice(-5)) {
      const search = [MAIN, 'search-library', word(n), '--json', '--library', library]
      const { stdout } = await run(process.execPath, search, { env: { ...process.env, ...env } })
      expect(stdout).toContain(known.captured.get(n))
    }
  },
)
