import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http'
import type { RpcError } from './errors.ts'
import { memo } from './memo.ts'
import { errorMessage, type Id } from './messages.ts'

const KEEP_ALIVE_MS = 15_000

/** Packs a body for whoever asks for that; undefined where it goes as it is. */
export type Packer = (req: IncomingMessage, body: string) => Promise<PackedBody> | undefined

export interface PackedBody {
  /** As `Content-Encoding` names it. */
  coding: string
  bytes: Buffer
}

/** One HTTP answer: JSON, unless something has to be sent before the result; then a stream of events. */
export class Reply {
  /** Called when the client goes before the answer is out. */
  onDisconnect: (() => void) | undefined
  /** Whether the client takes messages before the last one. */
  readonly canStream: boolean
  readonly #req: IncomingMessage
  readonly #res: ServerResponse
  readonly #jsonless: boolean
  readonly #pack: Packer | undefined
  #headers: OutgoingHttpHeaders = {}
  #timer: NodeJS.Timeout | undefined

  constructor(req: IncomingMessage, res: ServerResponse, pack?: Packer) {
    const { events, json } = accepted(req.headers.accept ?? '*/*')
    this.#req = req
    this.#res = res
    this.#pack = pack
    this.canStream = events
    this.#jsonless = events && !json
    res.once('close', () => {
      clearInterval(this.#timer)
      if (!res.writableFinished) this.onDisconnect?.()
    })
  }

  allowOrigin(origin: string): void {
    this.#headers = {
      'access-control-allow-origin': origin,
      'access-control-expose-headers': 'WWW-Authenticate, Mcp-Protocol-Version',
      vary: 'Origin',
    }
  }

  preflight(): void {
    this.#finish(204, {
      'access-control-allow-methods': 'POST, OPTIONS',
      'access-control-allow-headers':
        'Authorization, Content-Type, Accept, Mcp-Protocol-Version, Mcp-Session-Id, Mcp-Method, Mcp-Name, Last-Event-ID',
      'access-control-max-age': '86400',
    })
  }

  notAllowed(): void {
    this.#finish(405, { allow: 'POST, OPTIONS' })
  }

  accepted(): void {
    this.#finish(202, {})
  }

  /** The last message, as an error. */
  error(status: number, id: Id | null, error: RpcError): void {
    // A body that is not worth reading on ends its connection with the answer.
    if (!this.#req.complete) this.#headers['connection'] = 'close'
    this.message(status, errorMessage(id, error))
  }

  /** The last message. */
  message(status: number, line: string): void {
    if (this.#res.destroyed) return
    if (this.#jsonless && status === 200 && !this.#res.headersSent) this.#open()
    if (this.#res.headersSent) {
      this.#res.end(frame(line))
      return
    }
    this.#headers['content-type'] = 'application/json'
    const packing = this.#pack?.(this.#req, line)
    if (!packing) return this.#finish(status, {}, line)
    packing.then(
      ({ coding, bytes }) =>
        this.#finish(status, { 'content-encoding': coding, vary: this.#varying() }, bytes),
      // An answer that cannot be packed is sent as it is.
      () => this.#finish(status, {}, line),
    )
  }

  #varying(): string {
    const { vary } = this.#headers
    return typeof vary === 'string' ? `${vary}, Accept-Encoding` : 'Accept-Encoding'
  }

  /** A message before the last one. A client that reads too slowly loses it: all of these are hints. */
  event(line: string): void {
    if (this.#res.destroyed || this.#res.writableNeedDrain) return
    if (!this.#res.headersSent) this.#open()
    this.#res.write(frame(line))
  }

  #open(): void {
    this.#res.writeHead(200, {
      ...this.#headers,
      'content-type': 'text/event-stream',
      'cache-control': 'no-cache',
      'x-accel-buffering': 'no',
    })
    this.#timer = setInterval(() => this.#res.write(':\n\n'), KEEP_ALIVE_MS).unref()
  }

  #finish(status: number, headers: OutgoingHttpHeaders, body?: string | Buffer): void {
    if (this.#res.headersSent) return
    Object.assign(this.#headers, headers)
    if (status !== 204) this.#headers['content-length'] = body === undefined ? 0 : Buffer.byteLength(body)
    this.#res.writeHead(status, this.#headers)
    this.#res.end(body)
  }
}

/** What real clients send: often only one of the two that the specification asks for, or anything at all. */
const accepted = memo((accept) => ({
  events: /text\/event-stream|text\/\*|\*\/\*/i.test(accept),
  json: /application\/|\*\/\*/i.test(accept),
}))

const frame = (line: string): string => `event: message\ndata: ${line}\n\n`
