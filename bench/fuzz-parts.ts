import { openServer } from '../src/app/open-server.ts'
import { readServerConfig } from '../src/config/server.ts'
import { makePersonalToken } from '../src/features/accounts/personal-token-store.ts'
import { addReader } from '../src/features/accounts/reader-store.ts'
import { startSession } from '../src/features/accounts/session-store.ts'

/** What a stranger could have on a server: a token of one reader's, one that may do little, a browser that is signed in. */
export async function fillForFuzz(dataFolder: string) {
  const config = readServerConfig({ COMMONPLACE_DATA: dataFolder, COMMONPLACE_EMBEDDER: 'off' })
  const server = await openServer(config, { base: 'http://localhost' })
  const { accounts, first } = server
  const other = await addReader(accounts, { email: 'ada@example.org' })
  const narrow = await makePersonalToken(accounts, other.id, { name: 'narrow', scopes: ['sources:read'] })
  const session = await startSession(accounts, first.reader.id)
  await server.close()
  return { narrow: narrow.token, session }
}
