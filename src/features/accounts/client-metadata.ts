import { faultOfRedirectUri, isWebOnly } from './redirect-uri.ts'

export const AUTH_METHODS = ['none', 'client_secret_basic', 'client_secret_post'] as const
export type AuthMethod = (typeof AUTH_METHODS)[number]

/** What we keep of what a client says about itself, in the words of RFC 7591. */
export interface ClientMetadata {
  client_name: string
  redirect_uris: string[]
  application_type: 'web' | 'native'
  grant_types: string[]
  response_types: string[]
  token_endpoint_auth_method: AuthMethod
  client_uri?: string
}

export interface MetadataFault {
  error: 'invalid_client_metadata' | 'invalid_redirect_uri'
  description: string
}

const MAX_REDIRECT_URIS = 20
const MAX_NAME = 120

/**
 * Reads a registration or a client's metadata document. Keeps what we understand, mends what real assistants get wrong and
 * drops the rest: Cursor says `web` and sends `cursor://`, most send no type at all, VS Code asks for the device grant, Claude
 * names scopes of its own.
 */
export function readClientMetadata(given: unknown): ClientMetadata | MetadataFault {
  if (!isRecord(given)) return { error: 'invalid_client_metadata', description: 'a JSON object is expected' }
  const uris = given['redirect_uris']
  if (!Array.isArray(uris) || uris.length === 0 || uris.length > MAX_REDIRECT_URIS) {
    return {
      error: 'invalid_redirect_uri',
      description: `redirect_uris: 1 to ${MAX_REDIRECT_URIS} are expected`,
    }
  }
  const checked: string[] = []
  for (const uri of uris as unknown[]) {
    const fault = faultOfRedirectUri(uri)
    if (fault !== undefined || typeof uri !== 'string') {
      return {
        error: 'invalid_redirect_uri',
        description: `redirect_uris: ${fault}: ${printable(String(uri), 200)}`,
      }
    }
    checked.push(uri)
  }
  const home = given['client_uri']
  return {
    client_name:
      nameOf(given['client_name']) ?? (new URL(checked[0]!).host.slice(0, MAX_NAME) || 'An assistant'),
    redirect_uris: checked,
    // The client's own word is worth nothing here, and `native` is what frees the port of a loopback address.
    application_type: isWebOnly(checked) ? 'web' : 'native',
    grant_types: ['authorization_code', 'refresh_token'],
    response_types: ['code'],
    token_endpoint_auth_method:
      AUTH_METHODS.find((method) => method === given['token_endpoint_auth_method']) ?? 'none',
    ...(typeof home === 'string' && /^https:\/\/\S{1,500}$/.test(home) && { client_uri: home }),
  }
}

export const isMetadataFault = (read: ClientMetadata | MetadataFault): read is MetadataFault =>
  'error' in read

/** A name as it is shown: one line, no characters that turn the direction of what follows. */
function nameOf(given: unknown): string | undefined {
  if (typeof given !== 'string') return undefined
  const name = printable(given, MAX_NAME).trim()
  return name === '' ? undefined : name
}

const printable = (text: string, max: number): string =>
  [...text.toWellFormed().replaceAll(/[\s\p{Cc}\p{Cf}]+/gu, ' ')].slice(0, max).join('')

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
