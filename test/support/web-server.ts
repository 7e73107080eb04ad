import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface WebServer {
  /** `http://127.0.0.1:PORT` */
  origin: string
  /** `127.0.0.1:PORT`, as `COMMONPLACE_ALLOW_HOSTS` takes it. */
  host: string
  close(): Promise<void>
}

/** A web site on this machine whose pages are made from their paths, at once or later; undefined is a 404. */
export async function serveWeb(
  pageOf: (path: string) => string | undefined | Promise<string | undefined>,
): Promise<WebServer> {
  const server = createServer((request, response) => void answer(request.url ?? '/', response))
  async function answer(path: string, response: ServerResponse): Promise<void> {
    const page = await pageOf(path)
    response.writeHead(page === undefined ? 404 : 200, { 'content-type': 'text/html; charset=utf-8' })
    response.end(page ?? 'Not found')
  }
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    origin: `http://127.0.0.1:${port}`,
    host: `127.0.0.1:${port}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}
