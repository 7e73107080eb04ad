import { setTimeout as sleep } from 'node:timers/promises'
import { AwsV4Signer } from 'aws4fetch'
import { Failure } from '../core/failure.ts'

/** An S3-speaking store: where its bucket is, and who we are to it. */
export interface S3Config {
  /** The bucket as a path of the endpoint: `https://s3.example.org/bucket`. */
  url: string
  region: string
  key: string
  secret: string
}

export interface S3Patience {
  /** Milliseconds within which the store must answer, and may be silent while it answers. */
  timeoutMs?: number
  /** How often a request is made before the store counts as gone. */
  attempts?: number
  /** Milliseconds before the second attempt, doubled with each further one, half of it by chance. */
  delayMs?: number
}

export interface Sent {
  body?: { bytes: Uint8Array; hash: string }
  range?: string
}

/** An answer of the store, whole. */
export interface Answer {
  status: number
  headers: Headers
  bytes: Uint8Array
}

export interface S3Requests {
  /** The answer of a store that is there and lets us in: a success or 404. Throws `unavailable`. */
  ask(method: string, url: string, sent?: Sent): Promise<Answer>
  /** Some bytes of an object. Throws `unavailable` where they do not come. */
  stretch(url: string, start: number, end: number): AsyncGenerator<Uint8Array>
}

/** A slow line takes this long for each mebibyte that is sent. */
const SEND_MS_PER_MIB = 20_000

/**
 * Signed requests to an S3-speaking store. What fails on the way or on the store's side is asked for again; then, and where the
 * store refuses us, `unavailable` with what to mend.
 */
export function createS3Requests(
  config: S3Config,
  { attempts = 4, delayMs = 200, timeoutMs = 15_000 }: S3Patience = {},
): S3Requests {
  /** Signing keys by day. */
  const cache = new Map<string, ArrayBuffer>()

  /** One request and its answer, whose body is given on in parts. Throws what `fetch` throws. */
  async function send(
    method: string,
    url: string,
    { body, range }: Sent = {},
  ): Promise<{ status: number; headers: Headers; parts: AsyncGenerator<Uint8Array> }> {
    const signed = await new AwsV4Signer({
      method,
      url,
      service: 's3',
      region: config.region,
      accessKeyId: config.key,
      secretAccessKey: config.secret,
      cache,
      headers: { 'x-amz-content-sha256': body?.hash ?? EMPTY_HASH },
    }).sign()
    if (range !== undefined) signed.headers.set('range', range)
    const silence = new AbortController()
    const giveUp = () => silence.abort(new DOMException('The store is silent', 'TimeoutError'))
    const sendMs = ((body?.bytes.length ?? 0) / 1024 ** 2) * SEND_MS_PER_MIB
    let timer = setTimeout(giveUp, timeoutMs + sendMs)
    try {
      const response = await fetch(signed.url, {
        method,
        headers: signed.headers,
        signal: silence.signal,
        // A bucket that is elsewhere is told; a signature holds for one address alone.
        redirect: 'manual',
        ...(body && { body: body.bytes }),
      })
      const parts = async function* (): AsyncGenerator<Uint8Array> {
        try {
          for await (const part of response.body ?? []) {
            clearTimeout(timer)
            // Whoever takes the parts may be slow: that is not the store's silence.
            yield part
            timer = setTimeout(giveUp, timeoutMs)
          }
        } finally {
          clearTimeout(timer)
        }
      }
      return { status: response.status, headers: response.headers, parts: parts() }
    } catch (error) {
      clearTimeout(timer)
      throw error
    }
  }

  async function once(method: string, url: string, sent?: Sent): Promise<Answer> {
    const { status, headers, parts } = await send(method, url, sent)
    const chunks: Uint8Array[] = []
    for await (const part of parts) chunks.push(part)
    return { status, headers, bytes: new Uint8Array(Buffer.concat(chunks)) }
  }

  async function ask(method: string, url: string, sent?: Sent): Promise<Answer> {
    for (let attempt = 1; ; attempt++) {
      let cause: unknown
      try {
        const answer = await once(method, url, sent)
        if (answer.status < 300) return answer
        const code = codeOf(answer)
        if (answer.status === 404 && code !== 'NoSuchBucket') return answer
        const refusal = refusalOf(answer.status, code)
        if (refusal) throw refusal
        cause = new Error(`${answer.status} ${code}`)
      } catch (error) {
        if (error instanceof Failure) throw error
        cause = error
      }
      if (attempt >= attempts) throw gone(cause)
      await sleep(delayMs * 2 ** (attempt - 1) * (0.5 + Math.random() / 2))
    }
  }

  async function* stretch(url: string, start: number, end: number): AsyncGenerator<Uint8Array> {
    try {
      const { status, parts } = await send('GET', url, { range: `bytes=${start}-${end}` })
      if (status !== 206) {
        // Begun, or else its end would let go of nothing.
        await parts.next()
        await parts.return(undefined)
        throw new Error(`${status} for a range`)
      }
      yield* parts
    } catch (error) {
      throw gone(error)
    }
  }

  return { ask, stretch }
}

const EMPTY_HASH = 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855'

/** What kind of error the store says it is: `NoSuchBucket`, `AccessDenied`. */
const codeOf = ({ bytes }: Answer): string =>
  elementOf(Buffer.from(bytes.subarray(0, 8_192)).toString('utf8'), 'Code') ?? ''

/** The text of the first element of that name. */
export function elementOf(xml: string, name: string): string | undefined {
  const text = new RegExp(`<${name}>([^<]*)</${name}>`).exec(xml)?.[1]
  return text
    ?.replaceAll('&quot;', '"')
    .replaceAll('&apos;', "'")
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&amp;', '&')
}

/** The failure where asking again would be answered the same; undefined for what may pass. */
function refusalOf(status: number, code: string): Failure | undefined {
  if (status >= 500 || status === 408 || status === 429 || code === 'RequestTimeout') return undefined
  const cause = new Error(`${status} ${code}`)
  if (code === 'NoSuchBucket') {
    return new Failure('unavailable', 'The media store has no such bucket.', {
      hint: 'Whoever runs this server makes the bucket that COMMONPLACE_S3_URL names, or mends the address.',
      cause,
    })
  }
  if (code === 'RequestTimeTooSkewed') {
    return new Failure('unavailable', 'The media store refuses us: its clock and ours differ.', {
      hint: 'Whoever runs this server sets the clock of one of the two.',
      cause,
    })
  }
  if (status === 301 || status === 307 || code === 'AuthorizationHeaderMalformed') {
    return new Failure('unavailable', 'The media store says that its bucket is in another place.', {
      hint: 'Whoever runs this server mends COMMONPLACE_S3_REGION or COMMONPLACE_S3_URL.',
      cause,
    })
  }
  if (status === 401 || status === 403) {
    return new Failure('unavailable', 'The media store does not let this server in.', {
      hint:
        'Whoever runs this server checks COMMONPLACE_S3_KEY and COMMONPLACE_S3_SECRET, and that the key may list ' +
        'the bucket, read, write and delete in it.',
      cause,
    })
  }
  return new Failure('unavailable', 'The media store does not take what this server asks for.', {
    hint: 'Whoever runs this server checks that COMMONPLACE_S3_URL is the address of a bucket of an S3-speaking store.',
    cause,
  })
}

const gone = (cause: unknown): Failure =>
  new Failure('unavailable', 'The media store cannot be reached.', {
    hint: 'Try again in a few minutes. Nothing was lost.',
    cause,
  })
