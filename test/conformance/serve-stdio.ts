import { serveStdio } from '../../src/mcp/protocol/stdio.ts'
import { fixture } from './fixture.ts'

await serveStdio(fixture, { onError: (error) => console.error(error) })
