/** The SDK's own server over an application of ours: what the protocol core is compared with. */
import { createServer, type IncomingMessage } from 'node:http'
import {
  CLIENT_CAPABILITIES_META_KEY,
  ProtocolError,
  Server,
  createMcpHandler,
  hostHeaderValidationResponse,
  isInputRequiredResult,
  localhostAllowedHostnames,
  localhostAllowedOrigins,
  originValidationResponse,
  specTypeSchemas,
  type ServerContext,
  type StandardSchemaV1Sync,
} from '@modelcontextprotocol/server'
import type { App } from '../../src/mcp/protocol/app.ts'
import { Context } from '../../src/mcp/protocol/context.ts'
import { RpcError } from '../../src/mcp/protocol/errors.ts'
import { isObject } from '../../src/mcp/protocol/messages.ts'

/** A value as the SDK's schema reads it; throws on one that it does not take. */
function checked<T>(schema: StandardSchemaV1Sync<unknown, T>, value: unknown): T {
  const read = schema['~standard'].validate(value)
  if (read.issues) throw new Error(`Not what the SDK takes: ${JSON.stringify(read.issues)}`)
  return read.value
}

function createSdkServer(app: App, modern: boolean): Server {
  const server = new Server(app.info, {
    capabilities: {
      tools: {},
      resources: modern ? {} : { subscribe: true },
      prompts: {},
      completions: {},
      logging: {},
    },
  })

  /** Runs a method of the application as one request of the SDK. */
  async function run(
    params: object,
    { mcpReq }: ServerContext,
    method: (context: Context) => unknown,
  ): Promise<unknown> {
    const envelope: unknown = mcpReq.envelope
    const capabilities = isObject(envelope) ? envelope[CLIENT_CAPABILITIES_META_KEY] : undefined
    const context = new Context(
      { kind: 'request', id: mcpReq.id, method: mcpReq.method, params: { ...params } },
      {
        revision: modern ? '2026-07-28' : '2025-11-25',
        capabilities: isObject(capabilities) ? capabilities : {},
      },
      { inputResponses: mcpReq.inputResponses ?? {}, requestState: undefined },
    )
    try {
      return await method(context)
    } catch (error) {
      if (error instanceof RpcError) throw new ProtocolError(error.code, error.message, error.data)
      throw error
    }
  }

  const listed = (key: string, items: readonly unknown[] | undefined): unknown => ({
    [key]: items ?? [],
    ...app.lists,
  })
  const { readResource, getPrompt, complete } = app
  server.setRequestHandler('tools/list', () =>
    checked(specTypeSchemas.ListToolsResult, listed('tools', app.tools)),
  )
  server.setRequestHandler('resources/list', () =>
    checked(specTypeSchemas.ListResourcesResult, listed('resources', app.resources)),
  )
  server.setRequestHandler('resources/templates/list', () =>
    checked(specTypeSchemas.ListResourceTemplatesResult, listed('resourceTemplates', app.resourceTemplates)),
  )
  server.setRequestHandler('prompts/list', () =>
    checked(specTypeSchemas.ListPromptsResult, listed('prompts', app.prompts)),
  )
  server.setRequestHandler('tools/call', async ({ params }, context) => {
    if (!app.tools.some(({ name }) => name === params.name)) throw new ProtocolError(-32602, 'Unknown tool')
    const result = await run(params, context, (own) => app.callTool(params.name, params.arguments ?? {}, own))
    return isInputRequiredResult(result) ? result : checked(specTypeSchemas.CallToolResult, result)
  })
  server.setRequestHandler('resources/read', async ({ params }, context) => {
    const result = await run(params, context, (own) => readResource?.call(app, params.uri, own))
    return checked(specTypeSchemas.ReadResourceResult, result)
  })
  server.setRequestHandler('prompts/get', async ({ params }, context) => {
    if (!app.prompts?.some(({ name }) => name === params.name))
      throw new ProtocolError(-32602, 'Unknown prompt')
    const result = await run(params, context, (own) =>
      getPrompt?.call(app, params.name, params.arguments ?? {}, own),
    )
    return isInputRequiredResult(result) ? result : checked(specTypeSchemas.GetPromptResult, result)
  })
  server.setRequestHandler('completion/complete', async ({ params }, context) => {
    const { ref, argument } = params
    const completion = await run(params, context, (own) =>
      complete?.call(app, { ref, argument, chosen: {} }, own),
    )
    return checked(specTypeSchemas.CompleteResult, { completion })
  })
  return server
}

/** Serves an application through the SDK on a free loopback port, with the guards that it leaves to its user. */
export async function serveSdk(app: App): Promise<{ url: string; close(): void }> {
  const handler = createMcpHandler(({ era }) => createSdkServer(app, era === 'modern'))
  const server = createServer(async (req, res) => {
    const request = new Request(`http://${req.headers.host ?? 'localhost'}${req.url ?? '/'}`, {
      method: req.method ?? 'GET',
      headers: Object.entries(req.headers).map(([name, value]): [string, string] => [name, String(value)]),
      ...(req.method !== 'GET' && { body: await readAll(req) }),
    })
    const refused =
      hostHeaderValidationResponse(request, localhostAllowedHostnames()) ??
      originValidationResponse(request, localhostAllowedOrigins())
    const answer = refused ?? (await handler.fetch(request))
    res.writeHead(answer.status, Object.fromEntries(answer.headers))
    res.end(Buffer.from(await answer.arrayBuffer()))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('The server has no port')
  return {
    url: `http://127.0.0.1:${address.port}/mcp`,
    close: () => {
      server.closeAllConnections()
      server.close()
    },
  }
}

async function readAll(req: IncomingMessage): Promise<Uint8Array<ArrayBuffer>> {
  const chunks: Buffer[] = []
  for await (const chunk of req) chunks.push(chunk)
  return new Uint8Array(Buffer.concat(chunks))
}
