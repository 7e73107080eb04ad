import { modelInWords } from './model.ts'
import { SECRET_VARIABLES, type ServerConfig, type ServerFlags } from './server.ts'
import {
  isLoopback,
  rowOf,
  SERVER_VARIABLES,
  serverEnvironment,
  type ServerVariable,
} from './server-variables.ts'

/** One line of `commonplace serve --check-config`. */
export interface Explained {
  name: string
  value: string
  /** `environment`, `file`, `command line` or `default`. */
  from: string
  about: string
}

/** Read by the local library as well. */
const SHARED = [
  'COMMONPLACE_LIBRARY',
  'COMMONPLACE_ALLOW_HOSTS',
  'COMMONPLACE_EMBEDDER',
  'COMMONPLACE_EMBEDDER_URL',
  'COMMONPLACE_EMBEDDER_MODEL',
  'COMMONPLACE_EMBEDDER_KEY',
  'COMMONPLACE_MODEL',
  'COMMONPLACE_MODEL_NAME',
  'COMMONPLACE_MODEL_URL',
  'COMMONPLACE_MODEL_KEY',
  'COMMONPLACE_YOUTUBE_URL',
  'COMMONPLACE_YOUTUBE_CLIENTS',
  'COMMONPLACE_DEBUG',
]

/** What was read and where each value comes from, and what is worth a warning. No secret stands in it. */
export function explainServerConfig(
  config: ServerConfig,
  env: NodeJS.ProcessEnv,
  flags: ServerFlags = {},
): { settings: Explained[]; warnings: string[] } {
  const { local } = config
  const flagOf: Partial<Record<string, string | undefined>> = {
    COMMONPLACE_PORT: flags.port,
    COMMONPLACE_LIBRARY: flags.library,
  }
  const explained = (name: string, value: string, about: string): Explained => ({
    name,
    value,
    from:
      flagOf[name] !== undefined
        ? 'command line'
        : env[name]
          ? 'environment'
          : SECRET_VARIABLES.includes(name) && env[`${name}_FILE`]
            ? 'file'
            : 'default',
    about,
  })
  const settings = [
    ...SERVER_VARIABLES.map((name) =>
      explained(name, shownOf(name, config, flagOf[name] ?? env[name], env), rowOf(name).about),
    ),
    explained('COMMONPLACE_LIBRARY', config.firstLibrary, "the folder of the first reader's library"),
    explained(
      'COMMONPLACE_EMBEDDER',
      'url' in local.embedder ? `${local.embedder.kind} at ${local.embedder.url}` : local.embedder.kind,
      'what search by meaning uses',
    ),
    explained(
      'COMMONPLACE_MODEL',
      modelInWords(local.model),
      'the language model that picks passages and writes digests',
    ),
    explained(
      'COMMONPLACE_ALLOW_HOSTS',
      local.allowHosts.join(', ') || 'none',
      'hosts that may be captured though they are not public',
    ),
  ]
  return { settings, warnings: warningsOf(config, env) }
}

/** The value in force, in words. */
function shownOf(
  name: ServerVariable,
  config: ServerConfig,
  given: string | undefined,
  env: NodeJS.ProcessEnv,
): string {
  const { secret, inForce } = rowOf(name)
  if (secret) return given || env[`${name}_FILE`] ? 'set' : 'not set'
  if (inForce) return inForce(config)
  const value = serverEnvironment.shape[name].parse(given || undefined)
  if (typeof value === 'boolean') return value ? 'on' : 'off'
  return (Array.isArray(value) ? value.join(', ') : String(value ?? '')) || 'none'
}

function warningsOf(config: ServerConfig, env: NodeJS.ProcessEnv): string[] {
  const warnings: string[] = []
  const known = new Set([...SERVER_VARIABLES, ...SHARED, ...SECRET_VARIABLES.map((name) => `${name}_FILE`)])
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
  if (config.signUp === 'open' && config.mail === undefined)
    warnings.push(
      'COMMONPLACE_SIGN_UP is open and COMMONPLACE_SMTP_URL is not set: addresses cannot be verified, and nobody can reset a password.',
    )
  if (config.operators.length > 0 && config.mail === undefined && Object.keys(config.providers).length === 0)
    warnings.push(
      'COMMONPLACE_OPERATORS are believed once their addresses are confirmed, and nothing here can confirm one: set COMMONPLACE_SMTP_URL or a provider.',
    )
  return warnings
}
