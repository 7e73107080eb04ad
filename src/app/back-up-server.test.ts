import { chmodSync, cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { readServerConfig, type ServerConfig } from '../config/server.ts'
import { makePersonalToken } from '../features/accounts/personal-token-store.ts'
import { authenticate } from '../features/accounts/authenticate.ts'
import { addReader } from '../features/accounts/reader-store.ts'
import { addNoteOnce } from '../features/notes/note-store.ts'
import { backUpServer, dumpCommand, dumpServer } from './back-up-server.ts'
import { openServer, type OpenServer } from './open-server.ts'

let root: string
let config: ServerConfig
let servers: OpenServer[]
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'commonplace-back-up-server-'))
  config = configOf(join(root, 'data'))
  servers = []
})
afterEach(async () => {
  for (const server of servers) await server.close()
  rmSync(root, { recursive: true, force: true })
})

const configOf = (folder: string): ServerConfig =>
  readServerConfig({ COMMONPLACE_DATA: folder, COMMONPLACE_EMBEDDER: 'off' })

async function start(of = config): Promise<OpenServer> {
  const server = await openServer(of, { base: 'http://localhost:1' })
  servers.push(server)
  return server
}

/** A source with a note and a file. */
async function fill(server: OpenServer, readerId: string, text: string): Promise<void> {
  await server.libraries.use(readerId, async ({ library }) => {
    const cover = await library.outside.media.put(Buffer.from(`a picture of ${text}`))
    await library.change(async (change) => {
      const { at } = change
      const sourceId = await change.insert('source', {
        kind: 'article',
        title: text,
        match_key: '',
        authors: '[]',
        cover,
        created_at: at,
        updated_at: at,
      })
      await addNoteOnce(change, { sourceId, body: `A note on ${text}` })
    })
  })
}

const contentOf = (server: OpenServer, readerId: string) =>
  server.libraries.use(readerId, async ({ library: { db, outside } }) => {
    const sources = await db.selectFrom('source').select(['title', 'cover']).orderBy('id').execute()
    const notes = await db.selectFrom('note').select('body').orderBy('id').execute()
    const files = await Promise.all(
      sources.map(async ({ cover }) => Buffer.from((await outside.media.get(cover ?? '')) ?? []).toString()),
    )
    return { titles: sources.map(({ title }) => title), notes: notes.map(({ body }) => body), files }
  })

describe('a backup of a server on SQLite', () => {
  it('is taken while it works, and a server that is started on it goes on from there', async () => {
    const server = await start()
    const first = server.first.reader.id
    const ada = await addReader(server.accounts, { email: 'ada@example.org' })
    const idle = await addReader(server.accounts, { email: 'idle@example.org' })
    await fill(server, first, 'herons')
    await fill(server, ada.id, 'storks')
    const { token } = await makePersonalToken(server.accounts, ada.id, {
      name: 'mine',
      scopes: ['sources:read'],
    })
    const made = await backUpServer(config, join(root, 'saved'), { now: new Date() })
    expect(made).toMatchObject({ readers: 3, libraries: 2, media: 2, mediaElsewhere: false })
    await fill(server, ada.id, 'cranes')

    cpSync(join(root, 'saved'), join(root, 'restored'), { recursive: true })
    const restored = await start(configOf(join(root, 'restored')))
    expect(await contentOf(restored, first)).toEqual({
      titles: ['herons'],
      notes: ['A note on herons'],
      files: ['a picture of herons'],
    })
    expect((await contentOf(restored, ada.id)).titles).toEqual(['storks'])
    expect(await contentOf(restored, idle.id)).toEqual({ titles: [], notes: [], files: [] })
    expect((await authenticate(restored.accounts, `Bearer ${token}`))?.readerId).toBe(ada.id)
    expect((await contentOf(server, ada.id)).titles).toEqual(['storks', 'cranes'])
  })

  it('never is half a one: what cannot be copied leaves nothing, and nothing is written over', async () => {
    const server = await start()
    await fill(server, server.first.reader.id, 'herons')
    const damaged = await addReader(server.accounts, {})
    const folder = join(config.dataFolder, 'libraries', damaged.id)
    mkdirSync(folder, { recursive: true })
    writeFileSync(join(folder, 'library.db'), 'this is no database at all '.repeat(100))
    await expect(backUpServer(config, join(root, 'saved'), { now: new Date() })).rejects.toThrow()
    expect(readdirSync(root)).toEqual(['data'])
    rmSync(folder, { recursive: true })
    await backUpServer(config, join(root, 'saved'), { now: new Date() })
    await expect(backUpServer(config, join(root, 'saved'), { now: new Date() })).rejects.toMatchObject({
      code: 'invalid_input',
    })
  })

  it('ends with nothing where it is interrupted', async () => {
    const server = await start()
    await fill(server, server.first.reader.id, 'herons')
    const abort = new AbortController()
    const saving = backUpServer(config, join(root, 'saved'), {
      now: new Date(),
      signal: abort.signal,
      onLibrary: () => abort.abort(),
    })
    await expect(saving).rejects.toThrow()
    expect(readdirSync(root)).toEqual(['data'])
  })
})

describe('a dump of PostgreSQL', () => {
  const database = { url: 'postgres://app:s%20ecret@db.example:6543/books?sslmode=require', connections: 1 }

  it('is made by pg_dump, with the password in no word of the command', () => {
    const { words, env } = dumpCommand(database, '/srv/a.dump')
    expect(words).toEqual(['pg_dump', '--format=custom', '--no-owner', '--file=/srv/a.dump'])
    expect(env).toEqual({
      PGHOST: 'db.example',
      PGPORT: '6543',
      PGUSER: 'app',
      PGPASSWORD: 's ecret',
      PGDATABASE: 'books',
      PGSSLMODE: 'require',
    })
    const owner = { ...database, ownerUrl: 'postgres://owner@db.example/books' }
    expect(dumpCommand(owner, 'x').env).toMatchObject({ PGUSER: 'owner', PGPORT: '5432' })
  })

  it('that cannot be made says the command, and leaves nothing behind', async () => {
    const path = process.env['PATH']
    process.env['PATH'] = join(root, 'bin')
    try {
      const error = await dumpServer(database, join(root, 'a.dump')).catch((failure: unknown) => failure)
      expect(error).toMatchObject({ code: 'unavailable', message: 'There is no pg_dump on this machine.' })
      expect(error).toHaveProperty(
        'hint',
        expect.stringMatching(
          /PGHOST=db\.example PGPORT=6543 PGUSER=app PGDATABASE=books .*pg_dump --format=custom/,
        ),
      )
      expect(JSON.stringify(error)).not.toContain('ecret')
      mkdirSync(join(root, 'bin'))
      const program = join(root, 'bin', 'pg_dump')
      writeFileSync(
        program,
        '#!/bin/sh\necho half > "${3#--file=}"\necho "pg_dump: error: no room" >&2\nexit 1\n',
      )
      chmodSync(program, 0o755)
      process.env['PATH'] = [join(root, 'bin'), path].join(delimiter)
      await expect(dumpServer(database, join(root, 'a.dump'))).rejects.toMatchObject({
        message: 'pg_dump failed: pg_dump: error: no room',
      })
      expect(readdirSync(root)).toEqual(['bin'])
    } finally {
      process.env['PATH'] = path
    }
  })
})
