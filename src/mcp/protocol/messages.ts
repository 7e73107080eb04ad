import { invalidRequest, type RpcError } from './errors.ts'

export type Id = string | number
export type Json = Record<string, unknown>

export type Request = { kind: 'request'; id: Id; method: string; params: Json }
export type Notification = { kind: 'notification'; method: string; params: Json }
/** An answer to a question of ours; one of the two is there. */
export type Response = { kind: 'response'; id: Id; result: Json | undefined; error: Json | undefined }
export type Message = Request | Notification | Response

export const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

export const isId = (value: unknown): value is Id => typeof value === 'string' || Number.isInteger(value)

const NO_PARAMS: Json = Object.freeze({})

/** Reads one parsed JSON value as a JSON-RPC 2.0 message, or throws `-32600`. */
export function toMessage(value: unknown): Message {
  if (!isObject(value) || value['jsonrpc'] !== '2.0') throw invalidRequest('expected a JSON-RPC 2.0 message')
  const { id, method, params } = value
  if (typeof method !== 'string') {
    const result = isObject(value['result']) ? value['result'] : undefined
    const error = isObject(value['error']) ? value['error'] : undefined
    if (isId(id) && (result || error)) return { kind: 'response', id, result, error }
    throw invalidRequest('method must be a string')
  }
  if (params !== undefined && !isObject(params)) throw invalidRequest('params must be an object')
  if (id === undefined) return { kind: 'notification', method, params: params ?? NO_PARAMS }
  if (!isId(id)) throw invalidRequest('id must be a string or an integer')
  return { kind: 'request', id, method, params: params ?? NO_PARAMS }
}

/** The id to answer an unreadable message under, where one can be made out. */
export const idOf = (value: unknown): Id | null => (isObject(value) && isId(value['id']) ? value['id'] : null)

export const metaOf = (params: Json): Json | undefined =>
  isObject(params['_meta']) ? params['_meta'] : undefined

/** A value as JSON, where it had to be written out anyhow: it goes into the result as it is. */
export class JsonText {
  readonly json: string

  constructor(json: string) {
    this.json = json
  }
}

/** The JSON of a result, whose `structuredContent` may be there as text. */
export function writeResult(result: object): string {
  if (!('structuredContent' in result) || !(result.structuredContent instanceof JsonText))
    return JSON.stringify(result)
  const { json } = result.structuredContent
  const rest = JSON.stringify({ ...result, structuredContent: undefined })
  return `${rest.slice(0, -1)}${rest === '{}' ? '' : ','}"structuredContent":${json}}`
}

/** `result` is already JSON, so that prepared answers are never serialised again. */
export const resultMessage = (id: Id, result: string): string =>
  `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":${result}}`

export const errorMessage = (id: Id | null, { code, message, data }: RpcError): string =>
  JSON.stringify({ jsonrpc: '2.0', id, error: { code, message, data } })

export const notificationMessage = (method: string, params: Json): string =>
  JSON.stringify({ jsonrpc: '2.0', method, params })

export const requestMessage = (id: Id, method: string, params: Json): string =>
  JSON.stringify({ jsonrpc: '2.0', id, method, params })
