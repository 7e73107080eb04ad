import { openServer } from '../src/app/open-server.ts'
import { readServerConfig } from '../src/config/server.ts'
import { SCOPES } from '../src/core/define-tool.ts'
import { makePersonalToken } from '../src/features/accounts/personal-token-store.ts'
import { addReader } from '../src/features/accounts/reader-store.ts'
import { requestCapture, storeGiven } from '../src/features/capture/capture-source.ts'

import pg from 'pg'
export { startOwnPostgres } from '../test/support/postgres.ts'
export { serveWeb } from '../test/support/web-server.ts'

/** Fills the database of `env` with so many readers of so many sources each; gives a token for each reader. */
export async function fillDatabase(
  env: Record<string, string>,
  readers: number,
  sources: number,
): Promise<string[]> {
  const server = await openServer(readServerConfig(env), { base: 'http://localhost' })
  const tokens: string[] = []
  for (let n = 0; n < readers; n++) {
    const { id } = await addReader(server.accounts, {})
    const { token } = await makePersonalToken(server.accounts, id, { name: 'bench', scopes: SCOPES })
    tokens.push(token)
    await server.libraries.use(id, async ({ library }) => {
      for (let s = 0; s < sources; s++) {
        const text = `# Essay ${s}\n\nThe heron of essay ${s} stands in the shallows and waits for minnows.\n`
        const given = await storeGiven(library, Buffer.from(text), `essay-${s}.md`)
        await library.change((change) => requestCapture(change, { given }))
      }
    })
  }
  await server.work().drained()
  await server.close()
  return tokens
}

/** What was asked to be captured, past row-level security: addresses, and how many could not be. */
export async function captured(
  databaseUrl: string,
): Promise<{ urls: Set<string>; failed: number; open: number }> {
  const client = new pg.Client({ connectionString: databaseUrl })
  await client.connect()
  try {
    const { rows } = await client.query<{ url: string; state: string }>('select url, state from capture')
    const count = (...states: string[]): number => rows.filter(({ state }) => states.includes(state)).length
    return {
      urls: new Set(rows.map(({ url }) => url)),
      failed: count('failed'),
      open: count('pending', 'processing'),
    }
  } finally {
    await client.end()
  }
}
