import type { Kysely } from 'kysely'
import { Failure } from '../../core/failure.ts'
import type { IdentityProvider } from '../../core/identity-provider.ts'
import type { Mail } from '../../core/mail.ts'
import type { Pages } from '../../core/outside.ts'
import type { ServerSchema } from '../../db/server/schema.ts'
import { Background } from './background.ts'
import { ACCOUNT_LIMITS, type AccountLimits } from './limits.ts'
import { PASSWORD_COST, type PasswordCost } from './password.ts'
import { audienceOf } from './resource.ts'
import { keyFor, newSecret } from './secrets.ts'
import { sweep } from './sweep.ts'
import { Usage } from './usage.ts'

/** Readers, their connections and whoever asks for one, as the use cases see them. */
export interface Accounts {
  readonly db: Kysely<ServerSchema>
  /** The public origin, `https://host` or `https://host:port`, from configuration and never from a request. */
  readonly base: string
  /** What every token is for. */
  readonly audience: string
  readonly pages: Pages
  readonly keys: AccountKeys
  readonly limits: AccountLimits
  readonly passwordCost: PasswordCost
  readonly usage: Usage
  readonly signUp: SignUpMode
  /** E-mail addresses of the readers who run the server, lower case. */
  readonly operators: ReadonlySet<string>
  /** Absent where the server sends no letters. */
  readonly mail: Mail | undefined
  /** Who may vouch for a reader. */
  readonly providers: readonly IdentityProvider[]
  readonly background: Background
  now(): Date
  /** Told of what went wrong where nobody waits for it. */
  onError(error: unknown, where: string): void
  /** Sends what is to be sent, writes down what is only counted yet. Does not close the database. */
  close(): Promise<void>
}

/** Who may become a reader from outside: anybody, whoever has an invitation, nobody. */
export type SignUpMode = 'open' | 'invite' | 'closed'

export interface AccountKeys {
  /** Makes a refresh token of its parent. */
  rotation: Buffer
  /** Seals forms to the session or browser that they were made for. */
  forms: Buffer
  /** Makes nonce and PKCE verifier of a provider's request of its state. */
  providers: Buffer
  /** Makes a client's registration access token of its id. */
  registration: Buffer
}

export interface AccountsParts {
  db: Kysely<ServerSchema>
  base: string
  pages: Pages
  /** Where the server's secret lies outside its database; else one is made and kept there. At least 32 characters. */
  secret?: string
  limits?: Partial<AccountLimits>
  passwordCost?: PasswordCost
  /** `closed` where left out. */
  signUp?: SignUpMode
  operators?: readonly string[]
  mail?: Mail
  providers?: readonly IdentityProvider[]
  now?: () => Date
  onError?: (error: unknown, where: string) => void
}

const SWEEP_MS = 10 * 60_000

/** Throws `invalid_input` where `base` is no origin or the secret is too short. */
export async function openAccounts(parts: AccountsParts): Promise<Accounts> {
  const { db, pages, now = () => new Date(), onError = () => {} } = parts
  const base = originOf(parts.base)
  const secret = parts.secret ?? (await keptSecret(db))
  if (secret.length < 32) {
    throw new Failure('invalid_input', 'The server’s secret is shorter than 32 characters.', {
      hint: 'Give a longer random one, or none: the server then makes its own.',
    })
  }
  const usage = new Usage(db, onError)
  const accounts: Accounts = {
    db,
    base,
    audience: audienceOf(base),
    pages,
    keys: {
      rotation: keyFor(secret, 'refresh rotation'),
      forms: keyFor(secret, 'forms'),
      providers: keyFor(secret, 'providers'),
      registration: keyFor(secret, 'registration access'),
    },
    limits: { ...ACCOUNT_LIMITS, ...parts.limits },
    passwordCost: parts.passwordCost ?? PASSWORD_COST,
    usage,
    signUp: parts.signUp ?? 'closed',
    operators: new Set(parts.operators),
    mail: parts.mail,
    providers: parts.providers ?? [],
    background: new Background(onError),
    now,
    onError,
    async close() {
      clearInterval(timer)
      await sweeping
      await accounts.background.settled()
      await parts.mail?.close()
      await usage.close()
    },
  }
  let sweeping: Promise<void> | undefined
  const timer = setInterval(() => {
    sweeping = sweep(accounts).catch((error: unknown) => onError(error, 'sweep'))
  }, SWEEP_MS)
  timer.unref()
  return accounts
}

function originOf(base: string): string {
  let origin
  try {
    const url = new URL(base)
    if (/^https?:$/.test(url.protocol) && url.pathname === '/' && !url.search && !url.hash)
      origin = url.origin
  } catch {
    // told below
  }
  if (origin !== undefined) return origin
  throw new Failure(
    'invalid_input',
    'The public address must be an origin, such as https://library.example.org.',
    {
      hint: 'Give scheme, host and port, without a path.',
    },
  )
}

/** One secret for all replicas: whoever comes first makes it. */
async function keptSecret(db: Kysely<ServerSchema>): Promise<string> {
  await db
    .insertInto('server_secret')
    .values({ name: 'root', value: newSecret() })
    .onConflict((conflict) => conflict.doNothing())
    .execute()
  const { value } = await db
    .selectFrom('server_secret')
    .select('value')
    .where('name', '=', 'root')
    .executeTakeFirstOrThrow()
  return value
}
