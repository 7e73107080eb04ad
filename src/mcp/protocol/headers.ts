import type { IncomingHttpHeaders } from 'node:http'
import { isLevel, type Caller } from './context.ts'
import { Code, RpcError } from './errors.ts'
import { isObject, metaOf, type Json } from './messages.ts'
import { LEGACY_REVISIONS, META, MODERN_REVISIONS, isModern } from './revisions.ts'

/** The parameter that `Mcp-Name` repeats, for the methods that want it. */
const NAME_SOURCE = new Map([
  ['tools/call', 'name'],
  ['prompts/get', 'name'],
  ['resources/read', 'uri'],
])

const header = (headers: IncomingHttpHeaders, name: string): string | undefined => {
  const value = headers[name]
  return typeof value === 'string' ? value.trim() : undefined
}

export const revisionHeader = (headers: IncomingHttpHeaders): string | undefined =>
  header(headers, 'mcp-protocol-version')

/** Whether the body says that it speaks a revision with per-request metadata. */
export const claimsModern = (params: Json): boolean => metaOf(params)?.[META.revision] !== undefined

/** A claim that can be served: only that makes `initialize` an (unknown) method of the newest revision. */
export const claimsServed = (params: Json): boolean => isModern(metaOf(params)?.[META.revision])

/** Reads the metadata that every request of 2026-07-28 carries; throws `-32602` or `-32022`. */
export function readMeta(params: Json): Pick<Caller, 'revision' | 'capabilities' | 'client' | 'logLevel'> {
  const meta = metaOf(params)
  if (!meta) throw badMeta('_meta is missing')
  const revision = meta[META.revision]
  if (typeof revision !== 'string') throw badMeta(`${META.revision} is missing`)
  const capabilities = meta[META.capabilities]
  if (!isObject(capabilities)) throw badMeta(`${META.capabilities} is missing`)
  if (!isModern(revision)) throw unsupported(revision, MODERN_REVISIONS)
  // The two that need not be there are hints: what is no client or no level counts as absent.
  const client = meta[META.client]
  const level = meta[META.logLevel]
  return {
    revision,
    capabilities,
    client: isObject(client) ? client : undefined,
    logLevel: isLevel(level) ? level : undefined,
  }
}

/** The headers that repeat the body must be there and agree with it; throws `-32020`. */
export function checkHeaders(headers: IncomingHttpHeaders, method: string, params: Json): void {
  agree('MCP-Protocol-Version', revisionHeader(headers), metaOf(params)?.[META.revision])
  agree('Mcp-Method', header(headers, 'mcp-method'), method)
  const source = NAME_SOURCE.get(method)
  if (source && typeof params[source] === 'string') {
    agree('Mcp-Name', decoded(header(headers, 'mcp-name')), params[source])
  }
}

/** A notification carries no metadata; what it does repeat must agree. */
export function checkNotificationHeaders(headers: IncomingHttpHeaders, method: string, params: Json): void {
  const claimed = metaOf(params)?.[META.revision]
  if (claimed !== undefined) agree('MCP-Protocol-Version', revisionHeader(headers), claimed)
  const named = header(headers, 'mcp-method')
  if (named !== undefined) agree('Mcp-Method', named, method)
}

/** `-32022` for a version that only the header names: all revisions are there to choose from. */
export const unsupportedHeader = (requested: string): RpcError =>
  unsupported(requested, [...MODERN_REVISIONS, ...LEGACY_REVISIONS])

const unsupported = (requested: string, supported: readonly string[]): RpcError =>
  new RpcError(Code.unsupportedRevision, 'Unsupported protocol version', { supported, requested }, 400)

const badMeta = (why: string): RpcError =>
  new RpcError(Code.invalidParams, `Invalid request metadata: ${why}`, undefined, 400)

function agree(name: string, given: string | undefined, body: unknown): void {
  if (given === body) return
  const why = given === undefined ? `${name} is missing` : `${name} does not match the body`
  throw new RpcError(Code.headerMismatch, `Header mismatch: ${why}`)
}

const SENTINEL = /^=\?base64\?(.*)\?=$/

/** A name that is no plain ASCII comes as `=?base64?…?=`. */
function decoded(value: string | undefined): string | undefined {
  const encoded = value && SENTINEL.exec(value)?.[1]
  if (encoded === undefined || encoded === '') return value
  const bytes = Buffer.from(encoded, 'base64')
  if (bytes.toString('base64') !== encoded) {
    throw new RpcError(Code.headerMismatch, 'Header mismatch: Mcp-Name is not valid Base64')
  }
  return bytes.toString('utf8')
}
