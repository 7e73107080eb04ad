import { serveHttp } from '../../src/mcp/protocol/http.ts'
import { fixture } from './fixture.ts'

const onError = (error: unknown, where: string): void => console.error(where, error)
const { url } = await serveHttp(fixture, { onError })
console.log(url)
