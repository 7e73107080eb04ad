import { join, resolve } from 'node:path'
import { z } from 'zod'
import { Failure } from '../core/failure.ts'
import { libraryFolder } from './library-folder.ts'
import { readLocalConfig, type LocalConfig } from './local.ts'

const LOGS = ['events', 'requests'] as const

/** What one class of calls may take, per connection. */
export interface CallLimit {
  perMinute: number
  perDay: number
}

export interface ServerConfig {
  /** Where readers and assistants find the server: an origin, without a slash at its end. Absent: what it listens on. */
  publicUrl: string | undefined
  /** Address and port to listen on; 0 is any free port. */
  host: string
  port: number
  /** Holds the accounts and the libraries of all readers but the first. */
  dataFolder: string
  /** The library of the first reader: the one that `commonplace mcp` opens. */
  firstLibrary: string
  reads: CallLimit
  writes: CallLimit
  /** Libraries that stay open at once, beside those in use. */
  openLibraries: number
  /** Libraries whose queued work is done at once; 0 leaves it to other processes. */
  workers: number
  /** Host names that are answered beside that of the public URL and of this machine. */
  hosts: string[]
  /** Origins of browsers that may call MCP beside the server's own and those of this machine. */
  origins: string[]
  /** How many proxies stand in front, each of which adds the caller's address to `X-Forwarded-For`. */
  proxies: number
  /** Whether every request gets a line in the log, or only what went wrong. */
  log: (typeof LOGS)[number]
  /** What a server shares with a local library: embedder, hosts that may be captured. */
  local: LocalConfig
}

/** One variable: how it is read, and what to say of it. */
interface Variable<T> {
  schema: z.ZodType<T, string | undefined>
  takes: string
  about: string
}

const variable = <T>(
  takes: string,
  about: string,
  schema: z.ZodType<T, string | undefined>,
): Variable<T> => ({
  schema,
  takes,
  about,
})

const whole = (least: number, most: number, fallback: number): z.ZodType<number, string | undefined> =>
  z
    .string()
    .regex(/^\d{1,9}$/)
    .transform(Number)
    .refine((value) => value >= least && value <= most)
    .optional()
    .transform((value) => value ?? fallback)

const number = (about: string, least: number, most: number, fallback: number): Variable<number> =>
  variable(`a whole number from ${least} to ${most}`, about, whole(least, most, fallback))

const list = (takes: string, about: string, entry: RegExp): Variable<string[]> =>
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

const VARIABLES = {
  COMMONPLACE_URL: variable(
    'an address such as https://books.example.org, without a path',
    'where readers and assistants find the server',
    z
      .string()
      .transform(originOf)
      .refine((origin) => origin !== undefined)
      .optional(),
  ),
  COMMONPLACE_HOST: variable(
    'an address of this machine, such as 127.0.0.1 or 0.0.0.0',
    'what to listen on',
    z
      .string()
      .regex(/^[\w.:-]{1,255}$/)
      .default('127.0.0.1'),
  ),
  COMMONPLACE_PORT: number('the port to listen on; 0 is any free one', 0, 65_535, 3210),
  COMMONPLACE_DATA: variable(
    'a folder',
    'where accounts and libraries are kept',
    z.string().min(1).optional(),
  ),
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
    LOGS.join(', '),
    'what the log on standard error tells of',
    z.enum(LOGS).default('events'),
  ),
}

type Name = keyof typeof VARIABLES
const NAMES = Object.keys(VARIABLES) as Name[]
/** Read by the local library as well. */
const SHARED = [
  'LIBRARY',
  'ALLOW_HOSTS',
  'EMBEDDER',
  'EMBEDDER_URL',
  'EMBEDDER_MODEL',
  'EMBEDDER_KEY',
  'DEBUG',
]

const environment = z.object({
  COMMONPLACE_URL: VARIABLES.COMMONPLACE_URL.schema,
  COMMONPLACE_HOST: VARIABLES.COMMONPLACE_HOST.schema,
  COMMONPLACE_PORT: VARIABLES.COMMONPLACE_PORT.schema,
  COMMONPLACE_DATA: VARIABLES.COMMONPLACE_DATA.schema,
  COMMONPLACE_READS_PER_MINUTE: VARIABLES.COMMONPLACE_READS_PER_MINUTE.schema,
  COMMONPLACE_READS_PER_DAY: VARIABLES.COMMONPLACE_READS_PER_DAY.schema,
  COMMONPLACE_WRITES_PER_MINUTE: VARIABLES.COMMONPLACE_WRITES_PER_MINUTE.schema,
  COMMONPLACE_WRITES_PER_DAY: VARIABLES.COMMONPLACE_WRITES_PER_DAY.schema,
  COMMONPLACE_OPEN_LIBRARIES: VARIABLES.COMMONPLACE_OPEN_LIBRARIES.schema,
  COMMONPLACE_WORKERS: VARIABLES.COMMONPLACE_WORKERS.schema,
  COMMONPLACE_HOSTS: VARIABLES.COMMONPLACE_HOSTS.schema,
  COMMONPLACE_ORIGINS: VARIABLES.COMMONPLACE_ORIGINS.schema,
  COMMONPLACE_PROXIES: VARIABLES.COMMONPLACE_PROXIES.schema,
  COMMONPLACE_LOG: VARIABLES.COMMONPLACE_LOG.schema,
})

/**
 * Reads the environment of `commonplace serve`, once; what the command line says goes before it. Empty variables count as
 * unset. Throws `invalid_input` with the name of the first variable that is wrong and what it takes.
 */
export function readServerConfig(
  env: NodeJS.ProcessEnv,
  flags: { library?: string | undefined; port?: string | undefined } = {},
): ServerConfig {
  const set = Object.fromEntries(Object.entries(env).filter(([, value]) => value !== ''))
  const parsed = environment.safeParse({
    ...set,
    ...(flags.port !== undefined && { COMMONPLACE_PORT: flags.port }),
  })
  if (!parsed.success) {
    const name = String(parsed.error.issues[0]?.path[0]) as Name
    throw new Failure('invalid_input', `${name} takes ${VARIABLES[name].takes}.`, {
      hint: 'Mend or unset the variable; docs/self-hosting.md lists what each takes.',
    })
  }
  const given = parsed.data
  const local = readLocalConfig(set, { library: flags.library })
  const chosen = flags.library !== undefined || set['COMMONPLACE_LIBRARY'] !== undefined
  const dataFolder = given.COMMONPLACE_DATA
    ? resolve(given.COMMONPLACE_DATA)
    : libraryFolder(set, flags.library)
  return {
    publicUrl: given.COMMONPLACE_URL,
    host: given.COMMONPLACE_HOST,
    port: given.COMMONPLACE_PORT,
    dataFolder,
    firstLibrary: chosen ? local.library : dataFolder,
    reads: { perMinute: given.COMMONPLACE_READS_PER_MINUTE, perDay: given.COMMONPLACE_READS_PER_DAY },
    writes: { perMinute: given.COMMONPLACE_WRITES_PER_MINUTE, perDay: given.COMMONPLACE_WRITES_PER_DAY },
    openLibraries: given.COMMONPLACE_OPEN_LIBRARIES,
    workers: given.COMMONPLACE_WORKERS,
    hosts: given.COMMONPLACE_HOSTS,
    origins: given.COMMONPLACE_ORIGINS,
    proxies: given.COMMONPLACE_PROXIES,
    log: given.COMMONPLACE_LOG,
    local,
  }
}

/** One line of `commonplace serve --check-config`. */
export interface Explained {
  name: string
  value: string
  /** `environment`, `command line` or `default`. */
  from: string
  about: string
}

/** What was read and where each value comes from, and what is worth a warning. */
export function explainServerConfig(
  config: ServerConfig,
  env: NodeJS.ProcessEnv,
  flags: { library?: string | undefined; port?: string | undefined } = {},
): { settings: Explained[]; warnings: string[] } {
  const { local } = config
  const shown: Record<Name, string> = {
    COMMONPLACE_URL: config.publicUrl ?? `http://localhost:${config.port}`,
    COMMONPLACE_HOST: config.host,
    COMMONPLACE_PORT: String(config.port),
    COMMONPLACE_DATA: config.dataFolder,
    COMMONPLACE_READS_PER_MINUTE: String(config.reads.perMinute),
    COMMONPLACE_READS_PER_DAY: String(config.reads.perDay),
    COMMONPLACE_WRITES_PER_MINUTE: String(config.writes.perMinute),
    COMMONPLACE_WRITES_PER_DAY: String(config.writes.perDay),
    COMMONPLACE_OPEN_LIBRARIES: String(config.openLibraries),
    COMMONPLACE_WORKERS: String(config.workers),
    COMMONPLACE_HOSTS: config.hosts.join(', ') || 'none',
    COMMONPLACE_ORIGINS: config.origins.join(', ') || 'none',
    COMMONPLACE_PROXIES: String(config.proxies),
    COMMONPLACE_LOG: config.log,
  }
  const sourceOf = (name: string, flag?: string): string =>
    flag !== undefined ? 'command line' : env[name] ? 'environment' : 'default'
  const settings = [
    ...NAMES.map((name) => ({
      name,
      value: shown[name],
      from: sourceOf(name, name === 'COMMONPLACE_PORT' ? flags.port : undefined),
      about: VARIABLES[name].about,
    })),
    {
      name: 'COMMONPLACE_LIBRARY',
      value: join(config.firstLibrary, 'library.db'),
      from: sourceOf('COMMONPLACE_LIBRARY', flags.library),
      about: "the first reader's library",
    },
    {
      name: 'COMMONPLACE_EMBEDDER',
      value:
        'url' in local.embedder ? `${local.embedder.kind} at ${local.embedder.url}` : local.embedder.kind,
      from: sourceOf('COMMONPLACE_EMBEDDER'),
      about: 'what search by meaning uses',
    },
    {
      name: 'COMMONPLACE_ALLOW_HOSTS',
      value: local.allowHosts.join(', ') || 'none',
      from: sourceOf('COMMONPLACE_ALLOW_HOSTS'),
      about: 'hosts that may be captured though they are not public',
    },
  ]
  return { settings, warnings: warningsOf(config, env) }
}

function warningsOf(config: ServerConfig, env: NodeJS.ProcessEnv): string[] {
  const warnings: string[] = []
  const known = new Set([...NAMES, ...SHARED.map((name) => `COMMONPLACE_${name}`)])
  for (const name of Object.keys(env))
    if (name.startsWith('COMMONPLACE_') && !known.has(name))
      warnings.push(`${name} is no variable of Commonplace.`)
  const { publicUrl } = config
  if (publicUrl === undefined && !isLoopback(config.host))
    warnings.push('COMMONPLACE_URL is not set: others are sent to localhost and will not get there.')
  if (publicUrl?.startsWith('http:') && !isLoopback(new URL(publicUrl).hostname))
    warnings.push(
      'COMMONPLACE_URL is not https: assistants refuse to connect, and tokens can be read on the way.',
    )
  if (config.local.allowHosts.length > 0 && publicUrl !== undefined)
    warnings.push(
      'COMMONPLACE_ALLOW_HOSTS holds for all readers: each of them can read what those hosts serve.',
    )
  return warnings
}

const isLoopback = (host: string): boolean => /^(localhost|127(\.\d{1,3}){3}|\[?::1\]?)$/.test(host)

/** `https://Books.example.org/` → `https://books.example.org`; undefined where it is more than an origin. */
function originOf(text: string): string | undefined {
  if (!URL.canParse(text)) return undefined
  const { protocol, origin, pathname, search, hash, username, password } = new URL(text)
  const plain = pathname === '/' && search === '' && hash === '' && username === '' && password === ''
  return plain && (protocol === 'https:' || protocol === 'http:') ? origin : undefined
}
