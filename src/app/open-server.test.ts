import { DatabaseSync } from '@photostructure/sqlite'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { conceptEmbedder } from '../../test/support/embedder.ts'
import { readServerConfig } from '../config/server.ts'
import type { Embedder } from '../core/outside.ts'
import type { Library } from '../core/library.ts'
import { requestCapture } from '../features/capture/capture-source.ts'
import { saveUrl } from '../features/capture/tools/save-url.ts'
import { removeReader } from '../features/accounts/library-removal-store.ts'
import { addReader, deleteReader, listReaders } from '../features/accounts/reader-store.ts'
import { listItems } from '../features/sources/tools/list-items.ts'
import { call } from '../../test/support/call.ts'
import { openServer, type OpenServer } from './open-server.ts'

let folder: string
let servers: OpenServer[]
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'commonplace-server-'))
  servers = []
})
afterEach(async () => {
  for (const server of servers) await server.close()
  rmSync(folder, { recursive: true, force: true })
})

const PAGE = `<html><head><title>On herons</title></head><body><article><h1>On herons</h1>${'<p>The heron stands in the shallows and waits for the minnows to forget it.</p>'.repeat(12)}</article></body></html>`

async function open(
  env: Record<string, string> = {},
  embedder: Embedder = conceptEmbedder([['heron']]),
): Promise<OpenServer> {
  const config = readServerConfig({ COMMONPLACE_DATA: folder, COMMONPLACE_EMBEDDER: 'off', ...env })
  const server = await openServer(config, {
    base: 'http://localhost:1',
    embedder,
    pages: {
      fetch: async (url) => ({
        url,
        status: 200,
        headers: { 'content-type': 'text/html; charset=utf-8' },
        bytes: Buffer.from(PAGE),
      }),
    },
  })
  servers.push(server)
  return server
}

const list = async (library: Library) => (await call(listItems, library))['items']

const waiting = ({ db }: Library) =>
  db
    .selectFrom('passage')
    .select((of) => of.fn.countAll<number>().as('count'))
    .where('embedded', 'is', null)
    .executeTakeFirstOrThrow()

/** The first reader and another. */
async function readersOf({ accounts, first }: OpenServer): Promise<{ first: string; second: string }> {
  const known = await listReaders(accounts.db)
  const other = known.find(({ id }) => id !== first.reader.id) ?? (await addReader(accounts, {}))
  return { first: first.reader.id, second: other.id }
}

describe('a server', () => {
  it('gives every library the language model that is set, and none where none is', async () => {
    const without = await open()
    await without.libraries.use(without.first.reader.id, async ({ library }) =>
      expect(library.outside.model).toBeUndefined(),
    )
    await without.close()
    servers = []
    const server = await open({ COMMONPLACE_MODEL: 'ollama', COMMONPLACE_MODEL_NAME: 'sage-1' })
    await server.libraries.use(server.first.reader.id, async ({ library }) =>
      expect(library.outside.model?.id).toBe('ollama:sage-1'),
    )
  })

  it('lends its embedder with what it learns at its first answer', async () => {
    const known = conceptEmbedder([['heron']])
    let dimensions = 0
    const server = await open(
      {},
      {
        id: known.id,
        get dimensions() {
          return dimensions
        },
        async embed(texts, options) {
          const vectors = await known.embed(texts, options)
          dimensions = vectors[0]?.length ?? 0
          return vectors
        },
        close: () => known.close(),
      },
    )
    await server.libraries.use(server.first.reader.id, async ({ library }) => {
      expect(library.outside.embedder?.dimensions).toBe(0)
      await library.outside.embedder?.embed(['heron'])
      expect(library.outside.embedder?.dimensions).toBe(known.dimensions)
    })
  })

  it('keeps the first reader in the local library and each other in a file of their own', async () => {
    const server = await open()
    server.work()
    const { first, second } = await readersOf(server)
    for (const [reader, url] of [
      [first, 'https://first.example/'],
      [second, 'https://second.example/'],
    ] as const)
      await server.libraries.use(reader, ({ library }) => call(saveUrl, library, { url }))
    expect(existsSync(join(folder, 'library.db'))).toBe(true)
    expect(existsSync(join(folder, 'libraries', second, 'library.db'))).toBe(true)
    await server.libraries.use(second, async ({ library }) => {
      expect(await call(listItems, library)).toMatchObject({ items: [{ url: 'https://second.example/' }] })
    })
  })

  it('is not ready where counts can be read but not written', async () => {
    const server = await open()
    expect(await server.ready()).toBe(true)
    const beside = new DatabaseSync(join(folder, 'runtime.db'))
    for (const write of ['insert', 'update'])
      beside.exec(
        `create trigger no_${write} before ${write} on call_count begin select raise(abort, 'no room'); end`,
      )
    expect(await server.ready()).toBe(false)
    beside.exec('drop trigger no_insert; drop trigger no_update')
    beside.close()
    expect(await server.ready()).toBe(true)
  })

  it('knows its first reader again, and gives a library to nobody else', async () => {
    const server = await open()
    const { reader, link } = server.first
    expect(link).toMatch(/^http:\/\/localhost:1\/sign-in\?link=/)
    await expect(server.libraries.use('../first', async () => {})).rejects.toMatchObject({
      code: 'not_logged_in',
    })
    await servers.pop()!.close()
    expect((await open()).first.reader).toEqual(reader)
  })

  it('does the work that a call left, in whichever library it is', async () => {
    const server = await open()
    const work = server.work()
    const readers = Object.values(await readersOf(server))
    for (const reader of readers)
      await server.libraries.use(reader, ({ library }) =>
        call(saveUrl, library, { url: 'https://a.example/' }),
      )
    await work.drained()
    for (const reader of readers)
      expect(await server.libraries.use(reader, ({ library }) => waiting(library))).toEqual({ count: 0 })
  })

  it('finds work again that another process left, though nobody calls', async () => {
    const before = await open({ COMMONPLACE_WORKERS: '0' })
    const { second } = await readersOf(before)
    before.work()
    await before.libraries.use(second, ({ library }) =>
      library.change((change) => requestCapture(change, { url: 'https://a.example/' })),
    )
    expect(await before.libraries.use(second, ({ library }) => list(library))).not.toMatchObject([
      { title: 'On herons' },
    ])
    await servers.pop()!.close()
    rmSync(join(folder, 'runtime.db'))
    const after = await open()
    await after.work().drained()
    expect(await after.libraries.use(second, ({ library }) => list(library))).toMatchObject([
      { title: 'On herons' },
    ])
  })

  it('lets go of a reader who is no more', async () => {
    const server = await open()
    const { second } = await readersOf(server)
    await server.libraries.use(second, async () => {})
    await deleteReader(server.accounts.db, second)
    await server.libraries.close(second)
    await server.work().drained()
    await expect(server.libraries.use(second, async () => {})).rejects.toMatchObject({
      code: 'not_logged_in',
    })
  })

  describe('removes a reader and all that they had', () => {
    const fill = async (server: OpenServer, reader: string): Promise<string> => {
      await server.libraries.use(reader, ({ library }) =>
        library.change((change) => requestCapture(change, { url: 'https://a.example/' })),
      )
      await server.work().drained()
      return (await server.mediaOf(reader)).put(Buffer.from('a picture'))
    }

    it('while the library is open, and leaves everybody else what is theirs', async () => {
      const server = await open()
      const { first, second } = await readersOf(server)
      await fill(server, second)
      const hash = await fill(server, first)
      expect(await server.removeLibrary(second)).toBe(true)
      expect(await server.removeLibrary(second)).toBe(false)
      expect(existsSync(join(folder, 'libraries', second))).toBe(false)
      await expect(server.libraries.use(second, async () => {})).rejects.toMatchObject({
        code: 'not_logged_in',
      })
      expect(await (await server.mediaOf(first)).has(hash)).toBe(true)
      expect(await server.libraries.use(first, ({ library }) => list(library))).toHaveLength(1)
    })

    it('even the first, whose folder holds all the others', async () => {
      const server = await open()
      const { first, second } = await readersOf(server)
      await fill(server, second)
      await fill(server, first)
      await server.removeLibrary(first, { evenLocal: true })
      expect(existsSync(join(folder, 'library.db'))).toBe(false)
      expect(existsSync(join(folder, 'media'))).toBe(false)
      await servers.pop()!.close()
      const after = await open()
      expect(after.first.reader.id).not.toBe(first)
      expect(await after.libraries.use(after.first.reader.id, ({ library }) => list(library))).toEqual([])
      expect(await after.libraries.use(second, ({ library }) => list(library))).toHaveLength(1)
    })

    it('but leaves the library that other programs of this machine open, for the next first reader', async () => {
      const server = await open()
      const { first } = await readersOf(server)
      const hash = await fill(server, first)
      expect(await server.removeLibrary(first)).toBe(true)
      await expect(server.libraries.use(first, async () => {})).rejects.toMatchObject({
        code: 'not_logged_in',
      })
      await servers.pop()!.close()
      const after = await open()
      const next = after.first.reader.id
      expect(next).not.toBe(first)
      expect(await after.libraries.use(next, ({ library }) => list(library))).toHaveLength(1)
      expect(await (await after.mediaOf(next)).has(hash)).toBe(true)
    })

    it('though the process that did it was killed when it had just begun', async () => {
      const server = await open()
      const { second } = await readersOf(server)
      await fill(server, second)
      await server.accounts.db
        .transaction()
        .execute((transaction) => removeReader(transaction, second, new Date()))
      await servers.pop()!.close()
      expect(existsSync(join(folder, 'libraries', second))).toBe(true)
      await open()
      expect(existsSync(join(folder, 'libraries', second))).toBe(false)
    })
  })
})
