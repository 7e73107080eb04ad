import type { IncomingMessage } from 'node:http'

/** Past the limit this many times over, a body is not read to its end even to answer it politely. */
const PATIENCE = 4

/**
 * The whole body, or `undefined` when it is over the limit (in bytes). What is over it is read on and dropped for a
 * while: a client that is still sending when the connection closes would lose the answer.
 */
export function readBody(req: IncomingMessage, limit: number): Promise<Buffer | undefined> {
  return new Promise((resolve, reject) => {
    if (Number(req.headers['content-length']) > limit * PATIENCE) {
      resolve(undefined)
      return
    }
    let chunks: Buffer[] = []
    let size = 0
    req.on('data', (chunk: Buffer) => {
      size += chunk.length
      if (size <= limit) {
        chunks.push(chunk)
        return
      }
      chunks = []
      if (size <= limit * PATIENCE) return
      req.pause()
      resolve(undefined)
    })
    req.on('end', () => {
      if (size > limit) resolve(undefined)
      else resolve(chunks.length === 1 ? chunks[0] : Buffer.concat(chunks))
    })
    req.on('error', reject)
    req.on('close', () => {
      if (req.complete) return
      const left = new Error('The client left before its request was whole')
      reject(Object.assign(left, { code: 'ECONNRESET' }))
    })
  })
}
