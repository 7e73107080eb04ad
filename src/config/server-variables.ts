import { createPrivateKey } from 'node:crypto'
import { z } from 'zod'
import { isHost } from './host-name.ts'
import type { ServerConfig } from './server.ts'

/** What stands beside the schema of a variable. */
export interface VariableRow {
  /** What a value has to be, to follow "takes". */
  takes: string
  /** What it is for, in `--check-config`. */
  about: string
  /** Is never shown, and may be given as the file `…_FILE` names. */
  secret: boolean
  /** What is in force where a value of its own would not tell. */
  inForce?: (config: ServerConfig) => string
}

const ROWS = z.registry<VariableRow>()

/** One row: what the variable takes and is for, and how it is read. */
function variable<T extends z.ZodType<unknown, string | undefined>>(
  takes: string,
  about: string,
  schema: T,
  more: Partial<VariableRow> = {},
): T {
  const plain: z.ZodType = schema
  plain.register(ROWS, { takes, about, secret: false, ...more })
  return schema
}

const number = (about: string, least: number, most: number, fallback: number) =>
  variable(
    `a whole number from ${least} to ${most}`,
    about,
    z
      .string()
      .regex(/^\d{1,9}$/)
      .transform(Number)
      .refine((value) => value >= least && value <= most)
      .optional()
      .transform((value) => value ?? fallback),
  )

const list = (takes: string, about: string, entry: RegExp) =>
  variable(
    takes,
    about,
    z
      .string()
      .transform((text) =>
        text
          .split(',')
          .map((part) => part.trim().toLowerCase())
          .filter(Boolean),
      )
      .refine((entries) => entries.every((part) => entry.test(part)))
      .optional()
      .transform((entries) => entries ?? []),
  )

const word = (takes: string, about: string, form: RegExp, more: Partial<VariableRow> = {}) =>
  variable(takes, about, z.string().regex(form).optional(), more)

/** An address: `fits` says whether its parts are what is wanted, `as` what is kept of it. */
const address = (
  takes: string,
  about: string,
  fits: (url: URL) => boolean,
  more: Partial<VariableRow> = {},
  as: (url: URL, text: string) => string = (_url, text) => text,
) =>
  variable(
    takes,
    about,
    z
      .string()
      .refine((text) => URL.canParse(text) && fits(new URL(text)))
      .transform((text) => as(new URL(text), text))
      .optional(),
    more,
  )

const EMAIL = /^[^\s@<>,"]{1,64}@[^\s@<>,"]{1,255}$/
const SECRET = { secret: true }
/** What providers hand out: printable, without spaces. */
const TOKEN = /^[!-~]{1,4096}$/

const isWeb = ({ protocol }: URL): boolean => protocol === 'https:' || protocol === 'http:'
const isBare = ({ search, hash, username, password }: URL): boolean =>
  search === '' && hash === '' && username === '' && password === ''
const isPostgres = ({ protocol, hostname, pathname }: URL): boolean =>
  (protocol === 'postgres:' || protocol === 'postgresql:') && hostname !== '' && pathname.length > 1

/** `…\n…` in one line, as `.env` files have it, is a key as well. */
const privateKey = z
  .string()
  .transform((text) => text.replaceAll('\\n', '\n'))
  .refine((pem) => {
    try {
      return createPrivateKey(pem).asymmetricKeyType === 'ec'
    } catch {
      return false
    }
  })
  .optional()

/**
 * Every variable that only a server reads, in the order in which they are explained. A row is all there is to a variable: how
 * it is read, what it takes, what is said of it and whether it may be shown.
 */
export const serverEnvironment = z.object({
  COMMONPLACE_URL: address(
    'an address such as https://books.example.org, without a path',
    'where readers and assistants find the server',
    (url) => isWeb(url) && isBare(url) && url.pathname === '/',
    { inForce: ({ publicUrl, port }) => publicUrl ?? `http://localhost:${port}` },
    (url) => url.origin,
  ),
  COMMONPLACE_HOST: variable(
    'an address or name of this machine, such as 127.0.0.1 or 0.0.0.0',
    'what to listen on',
    z.string().refine(isHost).default('127.0.0.1'),
  ),
  COMMONPLACE_PORT: number('the port to listen on; 0 is any free one', 0, 65_535, 3210),
  COMMONPLACE_DATA: variable('a folder', 'where accounts and libraries are kept', z.string().optional(), {
    inForce: ({ dataFolder }) => dataFolder,
  }),
  COMMONPLACE_DATABASE_URL: address(
    'an address such as postgres://name:password@host:5432/database',
    'the PostgreSQL database; without it SQLite in COMMONPLACE_DATA',
    isPostgres,
    SECRET,
  ),
  COMMONPLACE_DATABASE_OWNER_URL: address(
    'an address such as postgres://name:password@host:5432/database',
    'the same database for the role that makes and changes tables',
    isPostgres,
    SECRET,
  ),
  COMMONPLACE_DATABASE_CONNECTIONS: number('connections to PostgreSQL held at once', 1, 1_000, 10),
  COMMONPLACE_S3_URL: address(
    'an endpoint with its bucket, such as https://s3.example.org/bucket',
    'where media is kept; without it in COMMONPLACE_DATA',
    (url) => isWeb(url) && isBare(url) && /^\/[^/]+\/?$/.test(url.pathname),
    {},
    (url) => url.href.replace(/\/$/, ''),
  ),
  COMMONPLACE_S3_REGION: variable(
    'the name of a region, such as eu-central-1',
    'region of the media store',
    z
      .string()
      .regex(/^[\w-]{1,64}$/)
      .default('us-east-1'),
  ),
  COMMONPLACE_S3_KEY: word('an access key', 'access key of the media store', TOKEN, SECRET),
  COMMONPLACE_S3_SECRET: word('a secret key', 'secret key of the media store', TOKEN, SECRET),
  COMMONPLACE_SMTP_URL: address(
    'an address such as smtps://name:password@mail.example.org',
    'the server that mail is handed to',
    ({ protocol, hostname }) => (protocol === 'smtp:' || protocol === 'smtps:') && hostname !== '',
    SECRET,
  ),
  COMMONPLACE_MAIL_FROM: variable(
    'a sender such as books@example.org or Books <books@example.org>',
    'whom mail comes from',
    z
      .string()
      .refine((text) => EMAIL.test(/^[^<>\r\n"]{0,100}<([^<>]+)>$/.exec(text)?.[1] ?? text))
      .optional(),
  ),
  COMMONPLACE_SIGN_UP: variable(
    'open, invite or closed',
    'who may make an account',
    z.enum(['open', 'invite', 'closed']).default('closed'),
  ),
  COMMONPLACE_OPERATORS: list('e-mail addresses by commas', 'whose accounts may run the server', EMAIL),
  COMMONPLACE_GOOGLE_CLIENT_ID: word('a client ID', 'sign-in with Google', TOKEN),
  COMMONPLACE_GOOGLE_CLIENT_SECRET: word('a client secret', 'sign-in with Google', TOKEN, SECRET),
  COMMONPLACE_APPLE_CLIENT_ID: word('a services ID, such as org.example.books', 'sign-in with Apple', TOKEN),
  COMMONPLACE_APPLE_TEAM_ID: word('the ten characters of a team', 'sign-in with Apple', /^[A-Z\d]{10}$/),
  COMMONPLACE_APPLE_KEY_ID: word('the ten characters of a key', 'sign-in with Apple', /^[A-Z\d]{10}$/),
  COMMONPLACE_APPLE_PRIVATE_KEY: variable(
    "what the key's .p8 file holds (PEM, elliptic curve)",
    'sign-in with Apple',
    privateKey,
    SECRET,
  ),
  COMMONPLACE_OIDC_ISSUER: address(
    'the issuer of an OpenID provider, such as https://login.example.org/realms/home',
    'sign-in with another provider',
    (url) => isBare(url) && (url.protocol === 'https:' || (isWeb(url) && isLoopback(url.hostname))),
  ),
  COMMONPLACE_OIDC_CLIENT_ID: word('a client ID', 'sign-in with another provider', TOKEN),
  COMMONPLACE_OIDC_CLIENT_SECRET: word('a client secret', 'sign-in with another provider', TOKEN, SECRET),
  COMMONPLACE_OIDC_NAME: word(
    'up to 40 characters',
    'what the other provider is called on the sign-in page',
    /^[^<>\r\n]{1,40}$/,
  ),
  COMMONPLACE_SECRET: word(
    'at least 32 characters without spaces',
    'what the server signs with; without it, made and kept with the accounts',
    /^[!-~]{32,4096}$/,
    SECRET,
  ),
  COMMONPLACE_METRICS_TOKEN: word(
    'at least 16 characters without spaces',
    'what a reader of /metrics shows; without it there is no such address',
    /^[!-~]{16,4096}$/,
    SECRET,
  ),
  COMMONPLACE_QUOTA_MB: number('megabytes that a library may take; 0 is no limit', 0, 999_999_999, 0),
  COMMONPLACE_UPLOAD_MB: number('megabytes of one file that is sent in', 1, 2_000, 200),
  COMMONPLACE_ACADEMY: variable(
    'on or off',
    'whether readers have the Academy',
    z
      .enum(['on', 'off'])
      .default('on')
      .transform((state) => state === 'on'),
  ),
  COMMONPLACE_CREDITS: number('AI credits that a reader gets a month', 0, 999_999_999, 500),
  COMMONPLACE_READS_PER_MINUTE: number('calls that read, per connection', 1, 1_000_000, 60),
  COMMONPLACE_READS_PER_DAY: number('calls that read, per connection', 1, 100_000_000, 2_000),
  COMMONPLACE_WRITES_PER_MINUTE: number('calls that write, per connection', 1, 1_000_000, 30),
  COMMONPLACE_WRITES_PER_DAY: number('calls that write, per connection', 1, 100_000_000, 500),
  COMMONPLACE_OPEN_LIBRARIES: number('libraries kept open', 1, 10_000, 256),
  COMMONPLACE_WORKERS: number('libraries whose queued work is done at once', 0, 64, 8),
  COMMONPLACE_HOSTS: list(
    'host names by commas, without ports',
    'names answered beside that of COMMONPLACE_URL',
    /^(\[[\da-f:]+\]|[\w.-]{1,253})$/,
  ),
  COMMONPLACE_ORIGINS: list(
    'origins by commas, such as https://inspector.example.org',
    'web pages that may call MCP',
    /^https?:\/\/[\w.-]+(:\d{1,5})?$/,
  ),
  COMMONPLACE_PROXIES: number('proxies in front of the server', 0, 10, 0),
  COMMONPLACE_LOG: variable(
    'events or requests',
    'what the log on standard error tells of',
    z.enum(['events', 'requests']).default('events'),
  ),
})

export type ServerVariable = keyof typeof serverEnvironment.shape
export type ServerEnvironment = z.output<typeof serverEnvironment>

export const SERVER_VARIABLES = serverEnvironment.keyof().options

/** What is said of a variable. */
export function rowOf(name: ServerVariable): VariableRow {
  const row = ROWS.get(serverEnvironment.shape[name])
  if (!row) throw new TypeError(`${name} has no row`)
  return row
}

/** Variables that are set together or not at all; `others` may be added to them. */
export const TOGETHER: { needed: ServerVariable[]; others?: ServerVariable[] }[] = [
  { needed: ['COMMONPLACE_DATABASE_URL'], others: ['COMMONPLACE_DATABASE_OWNER_URL'] },
  {
    needed: ['COMMONPLACE_S3_URL', 'COMMONPLACE_S3_KEY', 'COMMONPLACE_S3_SECRET'],
    others: ['COMMONPLACE_S3_REGION'],
  },
  { needed: ['COMMONPLACE_SMTP_URL', 'COMMONPLACE_MAIL_FROM'] },
  { needed: ['COMMONPLACE_GOOGLE_CLIENT_ID', 'COMMONPLACE_GOOGLE_CLIENT_SECRET'] },
  {
    needed: [
      'COMMONPLACE_APPLE_CLIENT_ID',
      'COMMONPLACE_APPLE_TEAM_ID',
      'COMMONPLACE_APPLE_KEY_ID',
      'COMMONPLACE_APPLE_PRIVATE_KEY',
    ],
  },
  {
    needed: ['COMMONPLACE_OIDC_ISSUER', 'COMMONPLACE_OIDC_CLIENT_ID', 'COMMONPLACE_OIDC_CLIENT_SECRET'],
    others: ['COMMONPLACE_OIDC_NAME'],
  },
]

export const isLoopback = (host: string): boolean => /^(localhost|127(\.\d{1,3}){3}|\[?::1\]?)$/.test(host)
