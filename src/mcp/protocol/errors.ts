/** Error codes of JSON-RPC 2.0 and of MCP. */
export const Code = {
  parse: -32700,
  invalidRequest: -32600,
  methodNotFound: -32601,
  invalidParams: -32602,
  internal: -32603,
  /** Before 2026-07-28; the same is `invalidParams` since. */
  legacyResourceNotFound: -32002,
  headerMismatch: -32020,
  missingCapability: -32021,
  unsupportedRevision: -32022,
} as const

/** A failure of the protocol itself. A tool that fails returns a result with `isError` instead. */
export class RpcError extends Error {
  readonly code: number
  readonly data: unknown
  /** HTTP status where it is not the usual one for the code. */
  readonly status: number | undefined

  constructor(code: number, message: string, data?: unknown, status?: number) {
    super(message)
    this.name = 'RpcError'
    this.code = code
    this.data = data
    this.status = status
  }
}

/** `-32602`: the method is known, its parameters are not what it takes. */
export const invalidParams = (message: string, data?: unknown): RpcError =>
  new RpcError(Code.invalidParams, message, data)

/** `-32600` with HTTP status 400: the message is not one that can be served at all. */
export const invalidRequest = (why: string): RpcError =>
  new RpcError(Code.invalidRequest, `Invalid request: ${why}`, undefined, 400)

export const methodNotFound = (method: string): RpcError =>
  new RpcError(Code.methodNotFound, `Method not found: ${clip(method)}`)

/** `-32021`, naming what the client would have to declare, such as `{ elicitation: {} }`. */
export const missingCapability = (requiredCapabilities: Record<string, unknown>): RpcError =>
  new RpcError(Code.missingCapability, 'The client did not declare a capability that this request needs', {
    requiredCapabilities,
  })

/** Thrown by `readResource`. Its code differs by revision; the dispatcher picks it. */
export class ResourceNotFound extends RpcError {
  constructor(uri: string, data: Record<string, unknown> = {}) {
    super(Code.invalidParams, `Resource not found: ${clip(uri)}`, { uri, ...data })
  }
}

/** The error as it goes to this client: one code differs by revision, and what is no `RpcError` is not shown. */
export function toRpcError(error: unknown, modern: boolean): RpcError {
  if (error instanceof ResourceNotFound && !modern) {
    return new RpcError(Code.legacyResourceNotFound, error.message, error.data)
  }
  return error instanceof RpcError ? error : new RpcError(Code.internal, 'Internal error')
}

/** Statuses of 2026-07-28; the older revisions answer every dispatched request with 200. */
export function httpStatus(error: RpcError): number {
  if (error.status !== undefined) return error.status
  switch (error.code) {
    case Code.methodNotFound:
      return 404
    case Code.headerMismatch:
    case Code.missingCapability:
    case Code.unsupportedRevision:
      return 400
    default:
      return 200
  }
}

/** A name as the client gave it, short enough to be said back. */
export const clip = (name: string): string => (name.length > 100 ? `${name.slice(0, 100)}…` : name)
