import { hash, randomBytes, timingSafeEqual } from 'node:crypto'
import type { Kysely } from 'kysely'
import { getLocal } from '../db/changes.ts'
import type { Schema } from '../db/schema.ts'
import { Failure } from './failure.ts'
import type { Library } from './library.ts'

const KEY_NAME = 'cursor_key'
const KEY_BYTES = 32
/** 132 bits of the code are enough for what a cursor guards. */
const CODE_LENGTH = 22
const LONGEST = 4_096

const keys = new WeakMap<Kysely<Schema>, Promise<Buffer>>()
/** Keys of libraries that could not be written yet. */
const unwritten = new WeakMap<Kysely<Schema>, Buffer>()

/**
 * A cursor for the page after `position` (JSON: the sort key and id of the last row). It is bound to `filter`, which is the
 * tool with everything that decides what the list holds: the same words must be given to open it again.
 */
export async function sealCursor(library: Library, filter: string, position: unknown): Promise<string> {
  const text = Buffer.from(JSON.stringify(position)).toString('base64url')
  return `${text}.${codeOf(await keyOf(library), filter, text)}`
}

/** The position that a cursor stands for. Throws `invalid_input` for one that we did not make for this list. */
export async function openCursor(library: Library, filter: string, cursor: string): Promise<unknown> {
  const [position, code, ...rest] = cursor.length > LONGEST ? [] : cursor.split('.')
  if (position !== undefined && code !== undefined && rest.length === 0) {
    const expected = Buffer.from(codeOf(await keyOf(library), filter, position))
    const given = Buffer.from(code)
    if (given.length === expected.length && timingSafeEqual(given, expected))
      return JSON.parse(Buffer.from(position, 'base64url').toString())
  }
  throw new Failure('invalid_input', 'cursor: this is no cursor of this list.', {
    hint: 'Pass nextCursor of the page before with the same other arguments, or leave cursor out to begin again.',
    details: { field: 'cursor' },
  })
}

/** SHA-3 needs no HMAC around it: with the key in front it is a code already (FIPS 202, A.2), and a list makes one a page. */
const codeOf = (key: Buffer, filter: string, position: string): string =>
  hash('sha3-256', `${key.toString('base64url')} ${filter.length} ${filter}${position}`, 'base64url').slice(
    0,
    CODE_LENGTH,
  )

function keyOf(library: Library): Promise<Buffer> {
  let key = keys.get(library.db)
  if (!key) {
    key = readOrMakeKey(library)
    keys.set(library.db, key)
    key.catch(() => keys.delete(library.db))
  }
  return key
}

async function readOrMakeKey(library: Library): Promise<Buffer> {
  const stored = await getLocal(library.db, KEY_NAME)
  if (stored !== undefined) return Buffer.from(stored, 'base64url')
  const made = unwritten.get(library.db) ?? randomBytes(KEY_BYTES)
  if (library.readOnly) return made
  const kept = library.change(async ({ db }) => {
    await db
      .insertInto('local')
      .values({ key: KEY_NAME, value: made.toString('base64url') })
      .onConflict((conflict) => conflict.column('key').doNothing())
      .execute()
    return Buffer.from((await getLocal(db, KEY_NAME))!, 'base64url')
  })
  return kept.catch(() => {
    // Locked, or a full disk: its cursors live as long as the process, or until another process has kept a key.
    unwritten.set(library.db, made)
    keys.delete(library.db)
    return made
  })
}
