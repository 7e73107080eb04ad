import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { Failure } from '../core/failure.ts'
import { libraryFolder } from './library-folder.ts'
import { readLocalConfig, type LocalConfig } from './local.ts'
import {
  rowOf,
  SERVER_VARIABLES,
  serverEnvironment,
  TOGETHER,
  type ServerEnvironment,
  type ServerVariable,
} from './server-variables.ts'

/** What one class of calls may take, per connection. */
export interface CallLimit {
  perMinute: number
  perDay: number
}

/** A PostgreSQL database. */
export interface DatabaseConfig {
  url: string
  /** The same database for the role that migrates. Absent: `url` migrates as well. */
  ownerUrl?: string
  /** Connections held at once. */
  connections: number
}

/** A bucket of a store that speaks S3. */
export interface S3Config {
  /** Endpoint and bucket, `https://host/bucket`, without a slash at its end. */
  url: string
  region: string
  key: string
  secret: string
}

export interface MailConfig {
  smtpUrl: string
  /** `books@example.org` or `Books <books@example.org>`. */
  from: string
}

/** Who may vouch for a reader beside their password. */
export interface ProvidersConfig {
  google?: { clientId: string; clientSecret: string }
  /** `privateKey` is PEM. */
  apple?: { clientId: string; teamId: string; keyId: string; privateKey: string }
  /** `name` is what readers see: the issuer's host where none is given. */
  oidc?: { issuer: string; clientId: string; clientSecret: string; name: string }
}

export interface ServerConfig {
  /** Where readers and assistants find the server: an origin, without a slash at its end. Absent: what it listens on. */
  publicUrl: string | undefined
  /** Address and port to listen on; 0 is any free port. */
  host: string
  port: number
  /** Holds the accounts and the libraries of all readers but the first, as far as no other place is given for them. */
  dataFolder: string
  /** The library of the first reader: the one that `commonplace mcp` opens. */
  firstLibrary: string
  /** Absent: SQLite in the data folder. */
  database?: DatabaseConfig
  /** Absent: media lies in the data folder. */
  s3?: S3Config
  /** Absent: no mail is sent. */
  mail?: MailConfig
  signUp: ServerEnvironment['COMMONPLACE_SIGN_UP']
  /** E-mail addresses in lower case. */
  operators: string[]
  providers: ProvidersConfig
  /** What the server signs with, at least 32 characters. Absent: it makes and keeps its own. */
  secret?: string
  /** What a caller shows to read `/metrics`. Absent: there is no such address. */
  metricsToken?: string
  /** Bytes that a library may take. Absent: no limit. */
  quotaBytes?: number
  /** Bytes of one file that is sent in over HTTP. */
  uploadBytes: number
  academy: boolean
  /** AI credits that a reader gets a month. */
  credits: number
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
  log: ServerEnvironment['COMMONPLACE_LOG']
  /** What a server shares with a local library: embedder, language model, hosts that may be captured. */
  local: LocalConfig
}

/** What of the command line goes before the environment. */
export interface ServerFlags {
  library?: string | undefined
  port?: string | undefined
}

const HINT = 'Mend or unset the variable; docs/self-hosting.md lists what each takes.'
const wrong = (message: string): Failure => new Failure('invalid_input', message, { hint: HINT })

/** Variables whose value may stand in a file that `…_FILE` names. */
export const SECRET_VARIABLES: readonly string[] = [
  ...SERVER_VARIABLES.filter((name) => rowOf(name).secret),
  'COMMONPLACE_EMBEDDER_KEY',
  'COMMONPLACE_MODEL_KEY',
]
const MB = 1_000_000

/**
 * Reads the environment of `commonplace serve`, once; what the command line says goes before it. Empty variables count as
 * unset. Throws `invalid_input` with the name of the first variable that is wrong and what it takes.
 */
export function readServerConfig(env: NodeJS.ProcessEnv, flags: ServerFlags = {}): ServerConfig {
  const set = withFiles(Object.fromEntries(Object.entries(env).filter(([, value]) => value !== '')))
  const given = parse({ ...set, ...(flags.port !== undefined && { COMMONPLACE_PORT: flags.port }) })
  checkTogether(set)
  const local = readLocalConfig(set, { library: flags.library })
  const chosen = flags.library !== undefined || set['COMMONPLACE_LIBRARY'] !== undefined
  const dataFolder = given.COMMONPLACE_DATA
    ? resolve(given.COMMONPLACE_DATA)
    : libraryFolder(set, flags.library)
  const { COMMONPLACE_SECRET: secret, COMMONPLACE_METRICS_TOKEN: metricsToken } = given
  return {
    publicUrl: given.COMMONPLACE_URL,
    host: given.COMMONPLACE_HOST,
    port: given.COMMONPLACE_PORT,
    dataFolder,
    firstLibrary: chosen ? local.library : dataFolder,
    ...storesOf(given),
    signUp: given.COMMONPLACE_SIGN_UP,
    operators: given.COMMONPLACE_OPERATORS,
    providers: providersOf(given),
    ...(secret !== undefined && { secret }),
    ...(metricsToken !== undefined && { metricsToken }),
    ...(given.COMMONPLACE_QUOTA_MB > 0 && { quotaBytes: given.COMMONPLACE_QUOTA_MB * MB }),
    uploadBytes: given.COMMONPLACE_UPLOAD_MB * MB,
    academy: given.COMMONPLACE_ACADEMY,
    credits: given.COMMONPLACE_CREDITS,
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

/** Puts what `…_FILE` names where the variable itself would stand; a line break at its end is none of it. */
function withFiles(set: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const whole = { ...set }
  for (const name of SECRET_VARIABLES) {
    const path = set[`${name}_FILE`]
    if (path === undefined) continue
    if (set[name] !== undefined) throw wrong(`${name} and ${name}_FILE are both set; give one of them.`)
    try {
      whole[name] = readFileSync(path, 'utf8').trimEnd()
    } catch (error) {
      throw new Failure('invalid_input', `${name}_FILE takes a file that can be read.`, {
        hint: HINT,
        cause: error,
      })
    }
    if (whole[name] === '') throw wrong(`${name}_FILE names an empty file.`)
  }
  return whole
}

function parse(set: NodeJS.ProcessEnv): ServerEnvironment {
  const parsed = serverEnvironment.safeParse(set)
  if (parsed.success) return parsed.data
  const at = parsed.error.issues[0]?.path[0]
  const name = SERVER_VARIABLES.find((known) => known === at)
  throw wrong(name ? `${name} takes ${rowOf(name).takes}.` : 'The environment cannot be read.')
}

/** Half of a pair is a mistake that would show only when somebody needs the other half. */
function checkTogether(set: NodeJS.ProcessEnv): void {
  const isSet = (name: ServerVariable): boolean => set[name] !== undefined
  for (const { needed, others = [] } of TOGETHER) {
    const given = [...needed, ...others].find(isSet)
    const missing = needed.find((name) => !isSet(name))
    if (given && missing)
      throw wrong(`${given} needs ${missing} as well: ${missing} takes ${rowOf(missing).takes}.`)
  }
}

function storesOf(given: ServerEnvironment): Pick<ServerConfig, 'database' | 's3' | 'mail'> {
  const { COMMONPLACE_DATABASE_URL: url, COMMONPLACE_DATABASE_OWNER_URL: ownerUrl } = given
  const { COMMONPLACE_S3_URL: bucket, COMMONPLACE_S3_KEY: key, COMMONPLACE_S3_SECRET: secret } = given
  const { COMMONPLACE_SMTP_URL: smtpUrl, COMMONPLACE_MAIL_FROM: from } = given
  return {
    ...(url && {
      database: { url, ...(ownerUrl && { ownerUrl }), connections: given.COMMONPLACE_DATABASE_CONNECTIONS },
    }),
    ...(bucket && key && secret && { s3: { url: bucket, region: given.COMMONPLACE_S3_REGION, key, secret } }),
    ...(smtpUrl && from && { mail: { smtpUrl, from } }),
  }
}

function providersOf(given: ServerEnvironment): ProvidersConfig {
  const { COMMONPLACE_GOOGLE_CLIENT_ID: googleId, COMMONPLACE_GOOGLE_CLIENT_SECRET: googleSecret } = given
  const { COMMONPLACE_APPLE_CLIENT_ID: appleId, COMMONPLACE_APPLE_TEAM_ID: teamId } = given
  const { COMMONPLACE_APPLE_KEY_ID: keyId, COMMONPLACE_APPLE_PRIVATE_KEY: privateKey } = given
  const { COMMONPLACE_OIDC_ISSUER: issuer, COMMONPLACE_OIDC_CLIENT_ID: clientId } = given
  const { COMMONPLACE_OIDC_CLIENT_SECRET: clientSecret, COMMONPLACE_OIDC_NAME: name } = given
  return {
    ...(googleId && googleSecret && { google: { clientId: googleId, clientSecret: googleSecret } }),
    ...(appleId &&
      teamId &&
      keyId &&
      privateKey && { apple: { clientId: appleId, teamId, keyId, privateKey } }),
    ...(issuer &&
      clientId &&
      clientSecret && { oidc: { issuer, clientId, clientSecret, name: name ?? new URL(issuer).hostname } }),
  }
}
