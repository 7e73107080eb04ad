import { serveStdio } from '../../src/mcp/protocol/stdio.ts'
import { createSmallApp } from './small-app.ts'

const app = createSmallApp()
await serveStdio(app, { graceMs: 60_000 })
process.stderr.write(`ended, aborted: ${app.aborted.join(' ')}\n`)
