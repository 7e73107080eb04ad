import crypto, { createHash, createHmac, type BinaryLike, type CipherKey } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer, request, type IncomingMessage, type Server } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import type { AddressInfo } from 'node:net'
import type { S3Config } from '../../src/outside/s3-requests.ts'

export interface S3Server {
  /** What a server is told of it: the bucket is there. */
  config: S3Config
  /** Where it keeps the bucket. */
  folder: string
  /** Lets the store go away, with connections as they are; what it has stays. */
  stop(): Promise<void>
  /** Brings it back at the same address. */
  start(): Promise<void>
  close(): Promise<void>
}

interface Store {
  run(): Promise<AddressInfo>
  close(): Promise<void>
}

/** The one account that s3rver has. */
const ACCOUNT = { region: 'us-east-1', key: 'S3RVER', secret: 'S3RVER' }

/**
 * A store that speaks S3, with one bucket: s3rver, which believes any signature of the fourth version, behind a door that
 * checks it, and the body, as S3 does.
 */
export async function startS3Server(bucket = 'media'): Promise<S3Server> {
  lendDes()
  // @ts-expect-error -- the package has no types
  const { default: S3rver } = (await import('s3rver')) as {
    default: new (options: Record<string, unknown>) => Store
  }
  const folder = mkdtempSync(join(tmpdir(), 's3-'))
  const store = new S3rver({
    address: '127.0.0.1',
    port: 0,
    silent: true,
    directory: folder,
    vhostBuckets: false,
    configureBuckets: [{ name: bucket }],
  })
  const inner = (await store.run()).port
  let port = 0
  let door: Server | undefined
  const start = async (): Promise<void> => {
    door = openDoor(inner)
    await new Promise<void>((resolve) => door?.listen(port, '127.0.0.1', resolve))
    port = (door.address() as AddressInfo).port
  }
  const stop = async (): Promise<void> => {
    const closed = new Promise((resolve) => door?.close(resolve))
    door?.closeAllConnections()
    await closed
  }
  await start()
  return {
    config: { url: `http://127.0.0.1:${port}/${bucket}`, ...ACCOUNT },
    folder: join(folder, bucket),
    start,
    stop,
    async close() {
      await stop()
      await store.close()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** s3rver draws the tokens of its pages with single DES, which OpenSSL 3 has only as three times the same key. */
function lendDes(): void {
  const { createCipheriv, createDecipheriv } = crypto
  const thrice = (key: CipherKey): Buffer => Buffer.concat([key, key, key] as Buffer[])
  Object.assign(crypto, {
    createCipheriv: (name: string, key: CipherKey, iv: BinaryLike) =>
      name === 'des' ? createCipheriv('des-ede3-cbc', thrice(key), iv) : createCipheriv(name, key, iv),
    createDecipheriv: (name: string, key: CipherKey, iv: BinaryLike) =>
      name === 'des' ? createDecipheriv('des-ede3-cbc', thrice(key), iv) : createDecipheriv(name, key, iv),
  })
}

const openDoor = (inner: number): Server =>
  createServer(async (req, res) => {
    const body = await buffer(req)
    const code = faultOf(req, body)
    if (code !== undefined) {
      res.writeHead(403, { 'content-type': 'application/xml' })
      return res.end(`<?xml version="1.0"?>\n<Error><Code>${code}</Code></Error>`)
    }
    const { method, url, headers } = req
    const forwarded = request({ host: '127.0.0.1', port: inner, method, path: url, headers }, (answer) => {
      res.writeHead(answer.statusCode ?? 500, answer.headers)
      answer.pipe(res)
    })
    forwarded.on('error', () => res.destroy())
    forwarded.end(body)
  })

/** Signature Version 4, as Amazon describes it for a single chunk with its checksum. */
function faultOf(req: IncomingMessage, body: Buffer): string | undefined {
  const { headers } = req
  const signed =
    /^AWS4-HMAC-SHA256 Credential=([^/]+)\/(\d{8})\/([^/]+)\/s3\/aws4_request, SignedHeaders=([^,]+), Signature=(\w+)$/
  const [, key, day = '', region, names = '', signature] = signed.exec(headers.authorization ?? '') ?? []
  if (key === undefined) return 'AccessDenied'
  if (key !== ACCOUNT.key) return 'InvalidAccessKeyId'
  if (region !== ACCOUNT.region) return 'AuthorizationHeaderMalformed'
  const time = String(headers['x-amz-date'])
  const url = new URL(req.url ?? '/', 'http://store')
  const query = [...url.searchParams]
    .map((pair) => pair.map(encode).join('='))
    .toSorted()
    .join('&')
  const contentHash = String(headers['x-amz-content-sha256'])
  if (contentHash !== createHash('sha256').update(body).digest('hex')) return 'XAmzContentSHA256Mismatch'
  const lines = names.split(';').map((name) => `${name}:${String(headers[name]).trim()}\n`)
  const path = url.pathname
    .split('/')
    .map((part) => encode(decodeURIComponent(part)))
    .join('/')
  const canonical = [req.method, path, query, lines.join(''), names, contentHash].join('\n')
  const scope = `${day}/${region}/s3/aws4_request`
  const text = ['AWS4-HMAC-SHA256', time, scope, createHash('sha256').update(canonical).digest('hex')].join(
    '\n',
  )
  const secret = [day, region, 's3', 'aws4_request'].reduce<Buffer | string>(hmac, `AWS4${ACCOUNT.secret}`)
  if (hmac(secret, text).toString('hex') !== signature) return 'SignatureDoesNotMatch'
  const late = Math.abs(
    Date.parse(time.replace(/(....)(..)(..)T(..)(..)(..)Z/, '$1-$2-$3T$4:$5:$6Z')) - Date.now(),
  )
  return late > 15 * 60_000 ? 'RequestTimeTooSkewed' : undefined
}

const hmac = (key: Buffer | string, text: string): Buffer => createHmac('sha256', key).update(text).digest()

const encode = (text: string): string =>
  encodeURIComponent(text).replace(/[!'()*]/g, (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`)
