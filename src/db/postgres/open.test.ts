import { randomBytes } from 'node:crypto'
import { expect, inject, test } from 'vitest'
import { freshDatabase } from '../../../test/support/postgres.ts'
import { toFailure } from '../../core/to-failure.ts'
import { connectOwner, openPool } from './connect.ts'
import { openPostgres, type Postgres } from './open.ts'

const CONNECTIONS = 3

const role = (kind: string): string => `${kind}_${randomBytes(4).toString('hex')}`

/** Says statements as a superuser. */
async function asSuperuser(url: string, ...statements: string[]): Promise<void> {
  const client = await connectOwner({ url, connections: 1 })
  try {
    for (const statement of statements) await client.query(statement)
  } finally {
    await client.end()
  }
}

function urlAs(url: string, user: string): string {
  const of = new URL(url)
  of.username = user
  return of.href
}

async function using<T>(opening: Promise<Postgres>, work: (postgres: Postgres) => Promise<T>): Promise<T> {
  const postgres = await opening
  try {
    return await work(postgres)
  } finally {
    await postgres.close()
  }
}

const whoServes = (opening: Promise<Postgres>): Promise<string> =>
  using(opening, async ({ pool }) => {
    const { rows } = await pool.query<{ name: string }>(
      'select current_user as name from (select count(*) from source) s',
    )
    return rows[0]!.name
  })

async function failureOf(opening: Promise<Postgres>) {
  const error: unknown = await opening.then(
    async (postgres) => (await postgres.close(), undefined),
    (thrown: unknown) => thrown,
  )
  return toFailure(error)
}

test('with the address of a superuser it serves under a role that sees no more than it is shown', async () => {
  const url = await freshDatabase(inject('postgresUrl'))
  expect(await whoServes(openPostgres({ url, connections: CONNECTIONS }))).toBe('commonplace_app')
  // And so it does the next time.
  expect(await whoServes(openPostgres({ url, connections: CONNECTIONS }))).toBe('commonplace_app')
})

test('the owner of the tables may be one role, and the one that serves another', async () => {
  const url = await freshDatabase(inject('postgresUrl'))
  const [owner, server] = [role('owner'), role('server')]
  const database = new URL(url).pathname.slice(1)
  await asSuperuser(
    url,
    `create role ${owner} login`,
    `create role ${server} login`,
    `alter database ${database} owner to ${owner}`,
  )
  const options = { url: urlAs(url, server), ownerUrl: urlAs(url, owner), connections: CONNECTIONS }
  expect(await whoServes(openPostgres(options))).toBe(server)
  await using(openPostgres(options), async (postgres) => {
    expect(await postgres.makeLibrary('a')).toBe(1)
  })
})

test('an owner that may make no role is told what a superuser has to do, and does it then', async () => {
  const url = await freshDatabase(inject('postgresUrl'))
  const owner = role('owner')
  await asSuperuser(
    url,
    `create role ${owner} login`,
    `alter database ${new URL(url).pathname.slice(1)} owner to ${owner}`,
  )
  const options = { url: urlAs(url, owner), connections: CONNECTIONS }
  const failure = await failureOf(openPostgres(options))
  expect(failure).toMatchObject({
    code: 'unavailable',
    hint: expect.stringContaining(`grant commonplace_app to "${owner}"`),
  })
  await asSuperuser(url, `grant commonplace_app to "${owner}"`)
  expect(await whoServes(openPostgres(options))).toBe('commonplace_app')
})

test('a role that could see past row-level security never serves', async () => {
  const url = await freshDatabase(inject('postgresUrl'))
  await whoServes(openPostgres({ url, connections: CONNECTIONS }))
  // Somebody gives the role that serves a right too many.
  const app = role('app')
  await asSuperuser(url, `create role ${app} login bypassrls`, `grant commonplace_app to ${app}`)
  expect(
    await whoServes(openPostgres({ url: urlAs(url, app), ownerUrl: url, connections: CONNECTIONS })),
  ).toBe('commonplace_app')
  await asSuperuser(
    url,
    `alter table source owner to commonplace_app`,
    `alter table library owner to commonplace_app`,
  )
  expect(await failureOf(openPostgres({ url, connections: CONNECTIONS }))).toMatchObject({
    code: 'unavailable',
    message: expect.stringContaining('owns the tables'),
  })
})

test('programs that start at once bring a new database up once', async () => {
  const url = await freshDatabase(inject('postgresUrl'))
  const all = await Promise.all(Array.from({ length: 4 }, () => openPostgres({ url, connections: 1 })))
  const numbers = await Promise.all(all.map((postgres) => postgres.makeLibrary('same')))
  expect(new Set(numbers).size).toBe(1)
  await Promise.all(all.map((postgres) => postgres.close()))
})

test('a database of a newer program is refused and stays as it is', async () => {
  const url = await freshDatabase(inject('postgresUrl'))
  await whoServes(openPostgres({ url, connections: CONNECTIONS }))
  await asSuperuser(url, `update schema_version set version = 7 where name = 'library'`, 'drop table ranking')
  expect(await failureOf(openPostgres({ url, connections: CONNECTIONS }))).toMatchObject({
    code: 'library_too_new',
    message: expect.stringContaining('version 7'),
  })
  const pool = openPool({ url, connections: 1 })
  const { rows } = await pool.query(`select version, to_regclass('ranking') as ranking from schema_version`)
  await pool.end()
  expect(rows).toEqual([{ version: 7, ranking: null }])
})

test('a step that fails leaves nothing behind, and is taken anew the next time', async () => {
  const url = await freshDatabase(inject('postgresUrl'))
  const set = (second: string) => ({
    name: 'test',
    migrations: [
      { statements: () => ['create table one (a int)'] },
      { statements: () => ['create table two (a int)', second] },
    ],
  })
  const failure = await failureOf(openPostgres({ url, connections: 1 }, [set('create tabel three (a int)')]))
  expect(failure.code).toBe('internal_error')
  await using(
    openPostgres({ url, connections: 1 }, [set('create table three (a int)')]),
    async ({ pool }) => {
      await pool.query('insert into one values (1)')
      await pool.query('insert into three values (1)')
      const { rows } = await pool.query('select name, version from schema_version order by name')
      expect(rows).toEqual([
        { name: 'library', version: 1 },
        { name: 'test', version: 2 },
      ])
    },
  )
})

test('where nobody answers, and where nobody is let in, that is said', async () => {
  const nobody = await failureOf(openPostgres({ url: 'postgres://x@127.0.0.1:1/x', connections: 1 }))
  expect(nobody).toMatchObject({ code: 'unavailable', message: 'The database does not answer.' })
  const stranger = urlAs(inject('postgresUrl'), role('stranger'))
  expect(await failureOf(openPostgres({ url: stranger, connections: 1 }))).toMatchObject({
    code: 'unavailable',
    message: 'The database does not let the server in.',
  })
})
