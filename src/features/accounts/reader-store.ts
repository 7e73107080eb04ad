import { Failure } from '../../core/failure.ts'
import { isTaken } from '../../db/postgres/postgres-error.ts'
import type { ServerDb } from '../../db/server/schema.ts'
import type { Accounts } from './accounts.ts'
import { newName } from './secrets.ts'

/** The library that `commonplace mcp` opens: the first reader's. */
export const LOCAL_LIBRARY = 'local'

export interface Reader {
  id: string
  email: string | null
  /** When they last proved that the address is theirs (ISO 8601); null where they never did. */
  emailVerifiedAt: string | null
  name: string | null
  /** `local`, or the id of a library of their own. */
  library: string
}

export interface NewReader {
  email?: string
  name?: string
  library?: string
}

const COLUMNS = [
  'reader.id',
  'reader.email',
  'reader.email_verified_at as emailVerifiedAt',
  'reader.name',
  'reader.library',
] as const
/** What stands for a reader in a query that joins them. */
export const READER_COLUMNS = COLUMNS

/** E-mail addresses are told apart without regard to case: no provider in use gives out two that differ by it alone. */
export const emailKey = (email: string): string => email.trim().normalize('NFC').toLowerCase()

/** Adds a reader with a library of their own. Throws `invalid_input` where the e-mail is taken or is none. */
export async function addReader(accounts: Accounts, given: NewReader): Promise<Reader> {
  const reader = await insertReader(accounts.db, {
    email: given.email === undefined ? null : checkedEmail(given.email),
    emailVerifiedAt: null,
    name: given.name ?? null,
    at: accounts.now().toISOString(),
    ...(given.library !== undefined && { library: given.library }),
  })
  if (reader) return reader
  throw taken()
}

export interface ReaderRow {
  email: string | null
  emailVerifiedAt: string | null
  name: string | null
  library?: string
  /** When they came, ISO 8601. */
  at: string
}

/** Adds a reader, or gives undefined where the e-mail or the library is taken. */
export async function insertReader(db: ServerDb, row: ReaderRow): Promise<Reader | undefined> {
  const id = newName()
  const { email, emailVerifiedAt, name, library = id } = row
  const added = await db
    .insertInto('reader')
    .values({ id, email, email_verified_at: emailVerifiedAt, name, library, created_at: row.at })
    .onConflict((conflict) => conflict.doNothing())
    .returning('id')
    .executeTakeFirst()
  return added && { id, email, emailVerifiedAt, name, library }
}

/** A name as others gave it, in one line; null where nothing is left of it. */
export function shownName(name: string | undefined): string | null {
  const line = [...(name ?? '').replaceAll(/[\s\p{Cc}\p{Cf}]+/gu, ' ').trim()].slice(0, 80).join('')
  return line === '' ? null : line
}

export const findReader = (db: ServerDb, id: string): Promise<Reader | undefined> =>
  db.selectFrom('reader').select(COLUMNS).where('id', '=', id).executeTakeFirst()

export const findReaderByEmail = (db: ServerDb, email: string): Promise<Reader | undefined> =>
  db.selectFrom('reader').select(COLUMNS).where('email', '=', emailKey(email)).executeTakeFirst()

export const findReaderByLibrary = (db: ServerDb, library: string): Promise<Reader | undefined> =>
  db.selectFrom('reader').select(COLUMNS).where('library', '=', library).executeTakeFirst()

export const listReaders = (db: ServerDb): Promise<Reader[]> =>
  db.selectFrom('reader').select(COLUMNS).orderBy('created_at').orderBy('id').execute()

/** A reader and the hash of their password, by e-mail. */
export const findCredential = (
  db: ServerDb,
  email: string,
): Promise<(Reader & { hash: string | null }) | undefined> =>
  db
    .selectFrom('reader')
    .leftJoin('credential', (join) =>
      join.onRef('credential.reader_id', '=', 'reader.id').on('credential.kind', '=', 'password'),
    )
    .select([...COLUMNS, 'credential.hash'])
    .where('reader.email', '=', emailKey(email))
    .executeTakeFirst()

/** The hash of a reader's password, if they have one. */
export async function findPassword(db: ServerDb, readerId: string): Promise<string | undefined> {
  const row = await db
    .selectFrom('credential')
    .select('hash')
    .where('reader_id', '=', readerId)
    .where('kind', '=', 'password')
    .executeTakeFirst()
  return row?.hash
}

export async function keepPassword(db: ServerDb, readerId: string, hash: string, at: string): Promise<void> {
  await db
    .insertInto('credential')
    .values({ reader_id: readerId, kind: 'password', hash, created_at: at })
    .onConflict((conflict) => conflict.columns(['reader_id', 'kind']).doUpdateSet({ hash, created_at: at }))
    .execute()
}

/**
 * `verifiedAt` is when the reader proved that the address is theirs (ISO 8601), null where they did not. Throws `invalid_input`
 * where the e-mail is none or another reader's.
 */
export async function setEmail(
  db: ServerDb,
  readerId: string,
  email: string,
  verifiedAt: string | null,
): Promise<void> {
  const key = checkedEmail(email)
  const changed = await db
    .updateTable('reader')
    .set({ email: key, email_verified_at: verifiedAt })
    .where('id', '=', readerId)
    .where(({ not, exists, selectFrom }) =>
      not(
        exists(
          selectFrom('reader as other')
            .select('other.id')
            .where('other.email', '=', key)
            .where('other.id', '!=', readerId),
        ),
      ),
    )
    .returning('id')
    .executeTakeFirst()
    // Two that take it at once do not see each other.
    .catch((error: unknown) => {
      throw isTaken(error) ? taken() : error
    })
  if (!changed) throw taken()
}

/** The address as it is kept. Throws `invalid_input` where it is none, or one that only a quoted form could hold. */
export function checkedEmail(email: string): string {
  const key = emailKey(email)
  if (/^[^\s\p{Cc}@<>(),;:\\"[\]]{1,64}@[^\s\p{Cc}@<>(),;:\\"[\]]{1,190}$/u.test(key)) return key
  throw new Failure('invalid_input', 'That is not an e-mail address.', {
    hint: 'Give one such as ada@example.org.',
  })
}

const taken = (): Failure =>
  new Failure('invalid_input', 'There is a reader with this e-mail or library already.', {
    hint: 'Sign in, or take another address.',
  })

/** Deletes the reader and, by foreign keys, every session, link, connection and token of theirs at once. */
export async function deleteReader(db: ServerDb, readerId: string): Promise<boolean> {
  const deleted = await db.deleteFrom('reader').where('id', '=', readerId).returning('id').executeTakeFirst()
  return deleted !== undefined
}
