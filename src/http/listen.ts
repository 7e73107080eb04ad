import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'

export interface Listening {
  port: number
  /** Takes over from now on; requests before are told to come again. */
  serve(app: (req: IncomingMessage, res: ServerResponse) => void): void
  /** Takes no connection any more; unfinished answers may take `graceMs`. */
  close(graceMs: number): Promise<void>
}

/** A request may take so long to arrive: 6 MiB over a slow line, and no slower. */
const REQUEST_MS = 120_000
/** And a file: 200 MB over a line of 2 Mbit/s. */
const UPLOAD_MS = 15 * 60_000
const UPLOADS = /^\/api\/files(?:\?|$)/
const HEADERS_MS = 20_000
/** Longer than proxies keep a connection, so that none is closed under a request that it just sent. */
const KEEP_ALIVE_MS = 75_000

/**
 * Listens, before there is anything to serve: the port may have to be known first. Rejects where the address is taken.
 * `requestMs` is how long a request may take to arrive that is no file.
 */
export async function listen(
  host: string,
  port: number,
  { requestMs = REQUEST_MS }: { requestMs?: number } = {},
): Promise<Listening> {
  let app = (_req: IncomingMessage, res: ServerResponse): void => {
    res.writeHead(503, { 'retry-after': '1', 'content-length': 0 }).end()
  }
  const begun = new Set<ServerResponse>()
  let closing = false
  const server = createServer(
    {
      requestTimeout: UPLOAD_MS,
      headersTimeout: HEADERS_MS,
      keepAliveTimeout: KEEP_ALIVE_MS,
      connectionsCheckingInterval: 5_000,
    },
    (req, res) => {
      boundArrival(req, requestMs)
      begun.add(res)
      res.once('close', () => begun.delete(res))
      if (closing) res.setHeader('connection', 'close')
      app(req, res)
    },
  )
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, host, () => {
      server.off('error', reject)
      resolve()
    })
  })
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('The server has no port')
  return {
    port: address.port,
    serve: (next) => void (app = next),
    close: (graceMs) =>
      new Promise((resolve) => {
        // A caller who keeps a connection and goes on asking would have one of its answers cut off when the time has passed.
        closing = true
        for (const res of begun) if (!res.headersSent) res.setHeader('connection', 'close')
        const late = setTimeout(() => server.closeAllConnections(), graceMs)
        server.close(() => {
          clearTimeout(late)
          resolve()
        })
        server.closeIdleConnections()
      }),
  }
}

/** Node has one bound for all requests, which is that of files; whatever else is slower than it may be loses its connection. */
function boundArrival(req: IncomingMessage, ms: number): void {
  const { 'content-length': length, 'transfer-encoding': encoding } = req.headers
  if ((length === undefined || length === '0') && encoding === undefined) return
  if (UPLOADS.test(req.url ?? '')) return
  const late = setTimeout(() => req.socket.destroy(), ms)
  late.unref()
  req.once('close', () => clearTimeout(late))
}
