/** Messages as a client writes them, for the tests of the protocol core. */

export const V = 'io.modelcontextprotocol/protocolVersion'
export const CAPABILITIES = 'io.modelcontextprotocol/clientCapabilities'
export const LOG_LEVEL = 'io.modelcontextprotocol/logLevel'

/** What every request of 2026-07-28 carries. */
export const meta = { [V]: '2026-07-28', [CAPABILITIES]: {} }

export const rpc = (method: string, params: object = {}, id: unknown = 1) => ({
  jsonrpc: '2.0',
  id,
  method,
  params,
})

export const notification = (method: string, params: object = {}) => ({ jsonrpc: '2.0', method, params })

export const callTool = (name: string, args: object = {}, more: object = {}, id: unknown = 1) =>
  rpc('tools/call', { name, arguments: args, ...more }, id)

/** The headers that repeat the body of a request of 2026-07-28. */
export const modernHeaders = (method: string, name?: string): Record<string, string> => ({
  'mcp-protocol-version': '2026-07-28',
  'mcp-method': method,
  ...(name !== undefined && { 'mcp-name': name }),
})

export const era = (revision: string): Record<string, string> => ({ 'mcp-protocol-version': revision })

export interface Answer {
  status: number
  /** Parsed where it is JSON, text otherwise. */
  body: unknown
  type: string | null
  headers: Headers
}

/** Posts one message, or text as it stands. */
export async function post(
  url: string,
  body: unknown,
  headers: Record<string, string> = {},
  init: RequestInit = {},
): Promise<Answer> {
  const answer = await fetch(url, {
    method: 'POST',
    body: typeof body === 'string' ? body : JSON.stringify(body),
    headers: { 'content-type': 'application/json', ...headers },
    ...init,
  })
  const text = await answer.text()
  const type = answer.headers.get('content-type')
  return {
    status: answer.status,
    type,
    headers: answer.headers,
    body: type === 'application/json' ? JSON.parse(text) : text,
  }
}

/** The messages of an event stream. */
export const events = (body: unknown): unknown[] =>
  [...String(body).matchAll(/^data: (.*)$/gm)].map(([, data = '']) => JSON.parse(data))
