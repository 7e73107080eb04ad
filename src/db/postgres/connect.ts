import pg from 'pg'

export interface PostgresOptions {
  /** `postgres://…`, of the role that serves. */
  url: string
  /** Of the role that owns the tables and migrates; without it `url` does both. */
  ownerUrl?: string
  /** Most connections of this process. */
  connections: number
}

/** How long a call waits for a connection, and a write for the one before it, in milliseconds: as on SQLite. */
const CONNECT_MS = 5_000
const LOCK_MS = 10_000
/** A process that stands still with a library's lock in its hand loses it. */
const IDLE_IN_TRANSACTION_MS = 60_000
/** A connection that nobody wants is kept for so long: opening one takes longer than most calls. */
const IDLE_MS = 5 * 60_000
/** Longer than any statement of ours: one that was lost on the way fails at last. */
const QUERY_MS = 120_000

/** Ids stay below 2^53 and sums are counts, so both are numbers; instants are texts in the tables. */
const types = new pg.TypeOverrides()
types.setTypeParser(pg.types.builtins.INT8, Number)
types.setTypeParser(pg.types.builtins.NUMERIC, Number)

const shared = {
  types,
  application_name: 'commonplace',
  connectionTimeoutMillis: CONNECT_MS,
  keepAlive: true,
  keepAliveInitialDelayMillis: 10_000,
} satisfies pg.ClientConfig

/**
 * Connections to serve with, each under `role` where one is given. Statements that are sent without waiting for the ones
 * before go out together. A connection that breaks leaves the pool, and the next call opens another.
 */
export function openPool({ url, connections }: PostgresOptions, role?: string): pg.Pool {
  const pool = new pg.Pool({
    ...shared,
    ...addressed(url, role),
    max: connections,
    idleTimeoutMillis: IDLE_MS,
    pipeline: true,
    query_timeout: QUERY_MS,
    lock_timeout: LOCK_MS,
    idle_in_transaction_session_timeout: IDLE_IN_TRANSACTION_MS,
  })
  // Whoever was using the connection hears of it from the query; without a listener it would end the process.
  pool.on('error', () => {})
  pool.on('connect', (client) => client.on('error', () => {}))
  return pool
}

/**
 * Our queries are short and many: compiling one or sharing it out to other processes takes longer than it runs, and what they
 * read is mostly in memory.
 */
const TUNED = '-c jit=off -c max_parallel_workers_per_gather=0 -c random_page_cost=1.1'

/** What the address itself sets for its connections goes before what we set, but for the role. */
function addressed(
  url: string,
  role: string | undefined,
): Pick<pg.ClientConfig, 'connectionString' | 'options'> {
  const address = new URL(url)
  const given = address.searchParams.get('options') ?? ''
  address.searchParams.delete('options')
  const options = `${TUNED} ${given} ${role === undefined ? '' : `-c role=${role}`}`.trim()
  return { connectionString: address.href, options }
}

/** One connection, of the role that owns the tables. */
export async function connectOwner({ url, ownerUrl }: PostgresOptions): Promise<pg.Client> {
  const client = new pg.Client({ ...shared, connectionString: ownerUrl ?? url })
  client.on('error', () => {})
  await client.connect()
  return client
}
