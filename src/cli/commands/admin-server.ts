import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline/promises'
import { inspect } from 'node:util'
import { openAdministered, type Administered } from '../../app/open-server.ts'
import { ACCOUNTS_FILE } from '../../app/server-on-sqlite.ts'
import { readServerConfig, type ServerConfig } from '../../config/server.ts'
import { Failure } from '../../core/failure.ts'
import { findReadersNamed, type ListedReader } from '../../features/accounts/reader-list-store.ts'
import { emailKey, LOCAL_LIBRARY } from '../../features/accounts/reader-store.ts'
import type { Context } from '../command.ts'
import { usage } from '../flags.ts'
import { oneLine, STYLE } from '../print.ts'

/** What a part of `admin` is given: the server that it looks after, and the words behind the part's own. */
export interface Administering extends Context {
  server: Administered
  serverConfig: ServerConfig
  words: readonly string[]
}

/** Opens what `serve` serves with the same configuration, beside servers that run, for the length of `work`. */
export async function withServer<T>(
  context: Context,
  words: readonly string[],
  work: (administering: Administering) => Promise<T>,
): Promise<T> {
  const { env, args, err, readOnly } = context
  if (readOnly) {
    throw new Failure('read_only', 'A server cannot be looked after for reading only.', {
      hint: 'Leave --read-only out; the parts that only list change nothing.',
    })
  }
  const serverConfig = serverConfigOf(env, args.one('library'))
  const { publicUrl, port, local } = serverConfig
  const server = await openAdministered(serverConfig, {
    base: publicUrl ?? `http://localhost:${port}`,
    onError: (error, where) => {
      if (local.debug) err.line({ text: `${where}: ${oneLine(inspect(error))}`, style: STYLE.dim })
    },
  })
  try {
    return await work({ ...context, server, serverConfig, words })
  } finally {
    await server.close()
  }
}

/** The configuration of a server that is there: a mistyped folder is said instead of made. */
export function serverConfigOf(env: NodeJS.ProcessEnv, library: string | undefined): ServerConfig {
  const config = readServerConfig(env, { library })
  if (config.database || existsSync(join(config.dataFolder, ACCOUNTS_FILE))) return config
  throw new Failure('unavailable', `There is no server in ${config.dataFolder} yet.`, {
    hint: 'Run this with the variables that `commonplace serve` has (COMMONPLACE_DATA, COMMONPLACE_DATABASE_URL), and start the server once before.',
  })
}

/** The reader that a word names: their e-mail, their id, a beginning of it that is theirs alone, or `first`. */
export async function readerNamed(
  { server }: Pick<Administering, 'server'>,
  word: string | undefined,
): Promise<ListedReader> {
  if (word === undefined)
    throw usage('Say which reader: their e-mail, their id or its beginning, or `first`.')
  const { db } = server.accounts
  const first =
    word === 'first'
      ? await db.selectFrom('reader').select('id').where('library', '=', LOCAL_LIBRARY).executeTakeFirst()
      : undefined
  const found = await findReadersNamed(db, emailKey(word), first?.id ?? word)
  const exact = found.find(({ id, email }) => id === (first?.id ?? word) || email === emailKey(word))
  const reader = exact ?? (word.length >= 3 && found.length === 1 ? found[0] : undefined)
  if (reader) return reader
  if (found.length > 1 && word.length >= 3)
    throw usage(`The ids of ${found.length} readers begin with ${word}.`, 'Give more of it.')
  throw new Failure('item_not_found', `There is no reader ${JSON.stringify(word)}.`, {
    hint: '`commonplace admin users` lists them. An e-mail, an id or at least three letters of its beginning are taken.',
  })
}

/** How a reader is called in a sentence. */
export const called = ({ email, name, id }: Pick<ListedReader, 'email' | 'name' | 'id'>): string =>
  oneLine(email ?? name ?? id)

/** Ends unless the operator types `word`, or said `--yes`. Throws `invalid_input` where nobody can be asked. */
export async function confirm({ args, err, signal }: Context, question: string, word: string): Promise<void> {
  if (args.on('yes')) return
  if (!process.stdin.isTTY || !err.tty) {
    throw usage('Nobody is there to confirm it.', 'Add --yes if you mean it. Nothing was changed.')
  }
  err.paragraph(question)
  const lines = createInterface({ input: process.stdin, output: process.stderr })
  try {
    const typed = await lines.question(`Type ${word} to go on: `, { signal })
    if (typed.trim() === word) return
  } finally {
    lines.close()
  }
  throw usage('That was something else.', 'Nothing was changed.')
}
