import type { IncomingMessage, ServerResponse } from 'node:http'
import { contentTag, isUnchanged } from './conditional.ts'
import { codingFor, compressWell, LEAST_BYTES, type Coding } from './content-encoding.ts'

/** Answers a GET with what is the same for everybody as long as the process runs: each form is made once, when it is wanted. */
export function fixedAnswer(
  text: string,
  headers: Record<string, string>,
): (req: IncomingMessage, res: ServerResponse) => Promise<void> {
  const plain = Buffer.from(text)
  const etag = `W/"${contentTag(plain)}"`
  const packed = new Map<Coding, Promise<Buffer>>()
  const common = { ...headers, etag, 'cache-control': 'no-cache', vary: 'Accept-Encoding' }

  return async (req, res) => {
    if (isUnchanged(req, etag)) return void res.writeHead(304, common).end()
    const coding = plain.length < LEAST_BYTES ? undefined : codingFor(req)
    let body: Buffer = plain
    if (coding !== undefined) {
      const made = packed.get(coding) ?? compressWell(plain, coding)
      packed.set(coding, made)
      body = await made
    }
    res.writeHead(200, {
      ...common,
      'content-length': body.length,
      ...(coding !== undefined && { 'content-encoding': coding }),
    })
    res.end(body)
  }
}
