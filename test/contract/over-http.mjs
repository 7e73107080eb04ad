#!/usr/bin/env node
// Starts a server with a reader and a token, and hands both to another program: `node test/contract/over-http.mjs COMMAND
// [ARG...]`, where `URL` and `TOKEN` among the arguments are the address of MCP and the token. Ends as that program does.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { bundle } from '../../scripts/bundle.mjs'

const { startServer } = await bundle('test/http/serve.ts')
const server = await startServer()
try {
  const token = await server.tokenFor(await server.newReader())
  const values = { URL: `${server.base}/mcp`, TOKEN: token }
  const [command, ...args] = process.argv.slice(2).map((word) => values[word] ?? word)
  const child = spawn(command, args, { stdio: 'inherit' })
  const [code] = await once(child, 'exit')
  process.exitCode = code ?? 1
} finally {
  await server.close()
}
