import { createWriteStream, existsSync, statSync } from 'node:fs'
import { rename, rm, stat } from 'node:fs/promises'
import { resolve } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { exportAccount, exportName } from '../../app/export-account.ts'
import type { Accounts } from '../../features/accounts/accounts.ts'
import { makeSignInLink } from '../../features/accounts/identity.ts'
import {
  listReadersForOperator,
  waysIn,
  type ListedReader,
} from '../../features/accounts/reader-list-store.ts'
import { addReader } from '../../features/accounts/reader-store.ts'
import { makeResetLink } from '../../features/accounts/reset-password.ts'
import { restoreReader, suspendReader } from '../../features/accounts/suspension.ts'
import { allowanceOf } from '../../features/allowances/allowance-store.ts'
import { creditsOf } from '../../features/credits/credits.ts'
import { countSources } from '../../features/sources/source-count-store.ts'
import { toFailure } from '../../core/to-failure.ts'
import { EXIT } from '../exit-code.ts'
import { usage } from '../flags.ts'
import { oneLine, STYLE } from '../print.ts'
import { startProgress } from '../progress.ts'
import { count, size, when } from '../when.ts'
import { called, confirm, readerNamed, type Administering } from './admin-server.ts'

/** What lies in a library; nulls where it was never opened or cannot be. */
interface Holdings {
  sources: number | null
  bytes: number | null
  /** Why it cannot be opened. */
  trouble?: string
}

export async function adminUsers(on: Administering): Promise<number> {
  const [verb = 'list', ...rest] = on.words
  const run = Object.hasOwn(VERBS, verb) ? VERBS[verb] : undefined
  if (!run)
    throw usage(
      `admin users does not know ${JSON.stringify(verb)}.`,
      `It knows ${Object.keys(VERBS).join(', ')}.`,
    )
  return run({ ...on, words: rest })
}

const VERBS: Record<string, (on: Administering) => Promise<number>> = {
  list,
  show,
  add,
  link: handsOut(
    'signInLink',
    makeSignInLink,
    (who) => `Whoever opens this is ${who}; it signs in once, within a day:`,
  ),
  reset: handsOut(
    'resetLink',
    makeResetLink,
    (who) => `Whoever opens this sets the password of ${who}, once, within a day:`,
  ),
  suspend,
  restore,
  delete: remove,
  export: exportTo,
}

/** One library that is damaged, or a reader who was deleted just now, must not keep all others from being listed. */
async function holdingsOf({ server }: Administering, reader: ListedReader): Promise<Holdings> {
  if (!server.hasLibrary(reader)) return { sources: null, bytes: null }
  try {
    const { mediaBytes, textBytes } = await server.storageOf(reader.id)
    const sources = await server.libraries.use(reader.id, ({ library }) => countSources(library.db))
    return { sources, bytes: mediaBytes + textBytes }
  } catch (error) {
    return { sources: null, bytes: null, trouble: toFailure(error).message }
  }
}

async function list(on: Administering): Promise<number> {
  const { server, out, err, json, signal } = on
  const readers = await listReadersForOperator(server.accounts.db)
  const now = server.accounts.now()
  const progress = startProgress(err, 'Looking into the libraries…')
  const holdings: Holdings[] = []
  try {
    for (const reader of readers) {
      signal.throwIfAborted()
      progress.say(`Looking into ${holdings.length + 1} of ${readers.length} libraries…`)
      holdings.push(await holdingsOf(on, reader))
    }
  } finally {
    progress.stop()
  }
  if (json) {
    out.json({ readers: readers.map((reader, n) => readerJson(reader, holdings[n])) })
    return EXIT.ok
  }
  out.table(
    [
      { title: 'READER', flexible: true, least: 18 },
      { title: 'ID' },
      { title: 'CREATED', spare: true },
      { title: 'LAST USED' },
      { title: 'SOURCES', align: 'right' },
      { title: 'SIZE', align: 'right' },
      { title: '', spare: true },
    ],
    readers.map((reader, n) => {
      const held = holdings[n]
      return [
        called(reader),
        { text: reader.id.slice(0, 8), style: STYLE.dim },
        reader.createdAt.slice(0, 10),
        reader.lastUsedAt === null ? 'never' : when(reader.lastUsedAt, now),
        held?.sources?.toLocaleString('en') ?? '–',
        typeof held?.bytes === 'number' ? size(held.bytes) : '–',
        {
          text: [
            server.isLocal(reader) ? 'first' : '',
            reader.suspendedAt === null ? '' : 'suspended',
            reader.email !== null && reader.emailVerifiedAt === null ? 'address not verified' : '',
            held?.trouble ?? '',
          ]
            .filter(Boolean)
            .join(', '),
          style: reader.suspendedAt === null ? STYLE.dim : STYLE.warning,
        },
      ]
    }),
  )
  return EXIT.ok
}

const readerJson = (reader: ListedReader, held: Holdings | undefined) => ({
  id: reader.id,
  email: reader.email,
  emailVerifiedAt: reader.emailVerifiedAt,
  name: reader.name,
  createdAt: reader.createdAt,
  lastUsedAt: reader.lastUsedAt,
  suspendedAt: reader.suspendedAt,
  sources: held?.sources ?? null,
  bytes: held?.bytes ?? null,
  ...(held?.trouble !== undefined && { trouble: held.trouble }),
})

async function show(on: Administering): Promise<number> {
  const { server, out, json, words } = on
  const { accounts } = server
  const reader = await readerNamed(on, words[0])
  const held = await holdingsOf(on, reader)
  const ways = await waysIn(accounts.db, reader.id)
  const allowance = await allowanceOf(accounts.db, reader.id, server.configured)
  const credits = await creditsOf(accounts, reader.id, server.configured)
  if (json) {
    out.json({ ...readerJson(reader, held), signIn: ways, allowance, credits })
    return EXIT.ok
  }
  const now = accounts.now()
  const rows: [string, string][] = [
    ['Id', reader.id],
    [
      'E-mail',
      reader.email === null
        ? 'none'
        : `${oneLine(reader.email)}, ${reader.emailVerifiedAt === null ? 'not verified' : 'verified'}`,
    ],
    ['Name', oneLine(reader.name ?? 'none')],
    ['Created', reader.createdAt.slice(0, 10)],
    ['Last used', reader.lastUsedAt === null ? 'never' : when(reader.lastUsedAt, now)],
    [
      'State',
      reader.suspendedAt === null ? 'may sign in' : `suspended since ${reader.suspendedAt.slice(0, 10)}`,
    ],
    [
      'Signs in by',
      [
        ways.password ? 'password' : '',
        ways.providers > 0 ? count(ways.providers, 'provider') : '',
        ways.passkeys > 0 ? count(ways.passkeys, 'passkey') : '',
      ]
        .filter(Boolean)
        .join(', ') || 'link only',
    ],
    [
      'Let in',
      [
        count(ways.browsers, 'browser'),
        count(ways.connections, 'connection'),
        count(ways.tokens, 'token'),
      ].join(', '),
    ],
    [
      'Library',
      held.trouble !== undefined
        ? held.trouble
        : held.sources === null || held.bytes === null
          ? 'empty'
          : `${count(held.sources, 'source')}, ${size(held.bytes)}${
              allowance.quotaBytes > 0 ? ` of ${size(allowance.quotaBytes)}` : ', no limit'
            }`,
    ],
    ['Academy', allowance.academy ? 'on' : 'off'],
    ['AI credits', `${credits.left} of ${credits.allowance + credits.granted} left in ${credits.month}`],
  ]
  out.table(
    [{ title: '' }, { title: '', flexible: true }],
    rows.map(([what, text]) => [{ text: what, style: STYLE.dim }, text]),
  )
  return EXIT.ok
}

async function add({ server, args, out, json, words }: Administering): Promise<number> {
  const email = args.one('email') ?? words[0]
  if (email === undefined) throw usage('Give the address of the new reader: --email ada@example.org.')
  const name = args.one('name')
  const reader = await addReader(server.accounts, { email, ...(name !== undefined && { name }) })
  const signInLink = await makeSignInLink(server.accounts, reader.id)
  if (json) out.json({ id: reader.id, email: reader.email, signInLink })
  else {
    out.line(`${called(reader)} is a reader now. Give them this link; it signs them in once, within a day:`)
    out.line(signInLink)
  }
  return EXIT.ok
}

/** A verb that prints a link for a reader, `field` in JSON. */
function handsOut(
  field: string,
  make: (accounts: Accounts, readerId: string) => Promise<string>,
  words: (who: string) => string,
): (on: Administering) => Promise<number> {
  return async (on) => {
    const { server, out, json } = on
    const reader = await unsuspended(on, on.words[0])
    const made = await make(server.accounts, reader.id)
    if (json) out.json({ id: reader.id, [field]: made })
    else {
      out.line(words(called(reader)))
      out.line(made)
    }
    return EXIT.ok
  }
}

/** The reader of that name. Throws where a link would let them in no further. */
async function unsuspended(on: Administering, word: string | undefined): Promise<ListedReader> {
  const reader = await readerNamed(on, word)
  if (reader.suspendedAt === null) return reader
  throw usage(`${called(reader)} is suspended.`, `First \`commonplace admin users restore ${word}\`.`)
}

async function suspend(on: Administering): Promise<number> {
  const { server, out, json, words } = on
  const reader = await readerNamed(on, words[0])
  await suspendReader(server.accounts, reader.id)
  if (json) out.json({ id: reader.id, suspended: true })
  else
    out.line(
      `${called(reader)} is suspended: signed out everywhere, and no assistant or token of theirs is answered.`,
    )
  return EXIT.ok
}

async function restore(on: Administering): Promise<number> {
  const { server, out, json, words } = on
  const reader = await readerNamed(on, words[0])
  await restoreReader(server.accounts, reader.id)
  if (json) out.json({ id: reader.id, suspended: false })
  else out.line(`${called(reader)} may sign in again; assistants and tokens work as before.`)
  return EXIT.ok
}

async function remove(on: Administering): Promise<number> {
  const { server, out, json, words } = on
  const reader = await readerNamed(on, words[0])
  const keeps = server.isLocal(reader)
  await confirm(
    on,
    keeps
      ? `This deletes the account of ${called(reader)} with all connections and tokens, at once and for ever. The library stays: it is the one that the command line of this machine opens.`
      : `This deletes ${called(reader)} with their whole library, pages and files included, at once and for ever. \`commonplace admin users export\` saves it first.`,
    reader.email ?? reader.id,
  )
  await server.removeLibrary(reader.id)
  if (json) out.json({ id: reader.id, deleted: true, libraryKept: keeps })
  else
    out.line(
      keeps
        ? `The account of ${called(reader)} is deleted. The library stays where it is.`
        : `${called(reader)} is deleted, with everything that was theirs.`,
    )
  return EXIT.ok
}

async function exportTo(on: Administering): Promise<number> {
  const { server, out, err, json, words, signal } = on
  const reader = await readerNamed(on, words[0])
  const [, given] = words
  if (given === undefined) throw usage('Say where to: a file or a folder.')
  const name = exportName(server.accounts.now())
  const target = existsSync(given) && statSync(given).isDirectory() ? resolve(given, name) : resolve(given)
  if (existsSync(target))
    throw usage(`${target} is there already.`, 'Give another name; nothing is written over.')
  const partial = `${target}.partial-${process.pid}`
  const progress = startProgress(err, `Packing what is ${called(reader)}’s…`)
  try {
    await server.libraries.use(reader.id, async ({ library }) => {
      const archive = exportAccount(server.accounts, reader.id, library)
      await pipeline(
        Readable.from(archive, { objectMode: false }),
        createWriteStream(partial, { mode: 0o600, flags: 'wx', flush: true }),
        { signal },
      )
    })
    await rename(partial, target)
  } finally {
    progress.stop()
    await rm(partial, { force: true })
  }
  const { size: bytes } = await stat(target)
  if (json) out.json({ id: reader.id, path: target, bytes })
  else out.line(`${target} (${size(bytes)}).`)
  return EXIT.ok
}
