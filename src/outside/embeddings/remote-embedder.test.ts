import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { afterEach, describe, expect, it } from 'vitest'
import { createRemoteEmbedder } from './remote-embedder.ts'

interface Asked {
  url: string | undefined
  key: string | undefined
  body: { model: string; input: string[]; dimensions?: number; encoding_format?: string }
}

let server: Server | undefined
afterEach(() => {
  server?.closeAllConnections()
  server?.close()
})

type Answer = (asked: Asked, response: ServerResponse, count: number) => void

/** A server on this machine and what it was asked. */
async function serve(answer: Answer): Promise<{ url: string; asked: Asked[] }> {
  const asked: Asked[] = []
  const started = createServer((request, response) => {
    const receive = async (): Promise<void> => {
      const body: Asked['body'] = JSON.parse(await read(request))
      asked.push({ url: request.url, key: request.headers.authorization, body })
      answer(asked.at(-1)!, response, asked.length)
    }
    void receive()
  })
  server = started
  await new Promise<void>((resolve) => started.listen(0, '127.0.0.1', resolve))
  const address = started.address()
  if (address === null || typeof address === 'string') throw new Error('no port')
  return { url: `http://127.0.0.1:${address.port}`, asked }
}

async function read(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(Buffer.from(chunk))
  return Buffer.concat(chunks).toString()
}

/** A vector that names its text: its length against a constant. */
const row = (text: string): number[] => [text.length, 10]
const json = (response: ServerResponse, value: unknown, status = 200, headers = {}): void => {
  response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(value))
}
const openAi: Answer = ({ body }, response) => {
  const data = body.input.map((text, index) => ({ object: 'embedding', index, embedding: row(text) }))
  json(response, { object: 'list', data: data.toReversed(), model: body.model })
}

describe('remote embedder', () => {
  it('speaks the form of OpenAI, in any order of the rows', async () => {
    const { url, asked } = await serve(openAi)
    const embedder = createRemoteEmbedder({ kind: 'openai', url: `${url}/v1`, model: 'small', apiKey: 'k' })
    expect(embedder).toMatchObject({ id: 'openai:small', dimensions: 0 })
    const [three, five] = await embedder.embed(['abc', 'abcde'])
    expect(three![0]! / three![1]!).toBeCloseTo(0.3)
    expect(five![0]! / five![1]!).toBeCloseTo(0.5)
    expect(Math.hypot(...five!)).toBeCloseTo(1)
    expect(embedder.dimensions).toBe(2)
    expect(asked).toEqual([
      {
        url: '/v1/embeddings',
        key: 'Bearer k',
        body: { model: 'small', input: ['abc', 'abcde'], encoding_format: 'float' },
      },
    ])
  })

  it('speaks the form of Ollama', async () => {
    const { url, asked } = await serve(({ body }, response) =>
      json(response, { model: body.model, embeddings: body.input.map(row) }),
    )
    const embedder = createRemoteEmbedder({ kind: 'ollama', url, model: 'nomic', dimensions: 2 })
    expect(embedder).toMatchObject({ id: 'ollama:nomic:2', dimensions: 2 })
    expect(await embedder.embed(['abc'])).toHaveLength(1)
    expect(asked).toEqual([
      { url: '/api/embed', key: undefined, body: { model: 'nomic', input: ['abc'], dimensions: 2 } },
    ])
  })

  it.each([
    ['', '/v1/embeddings'],
    ['/', '/v1/embeddings'],
    ['/openai/v1/', '/openai/v1/embeddings'],
    ['/deployments/x/embeddings?api-version=1', '/deployments/x/embeddings?api-version=1'],
  ])('finds the endpoint of %j', async (path, endpoint) => {
    const { url, asked } = await serve(openAi)
    await createRemoteEmbedder({ kind: 'openai', url: url + path, model: 'm' }).embed(['a'])
    expect(asked[0]!.url).toBe(endpoint)
  })

  it('asks in batches, keeps the order and sends no broken or empty text', async () => {
    const { url, asked } = await serve(openAi)
    const texts = ['', 'lone \ud83d', ...Array.from({ length: 150 }, (_, i) => 'x'.repeat(i + 1))]
    const vectors = await createRemoteEmbedder({ kind: 'openai', url, model: 'm' }).embed(texts)
    expect(asked.map(({ body }) => body.input.length)).toEqual([64, 64, 24])
    expect(asked[0]!.body.input.slice(0, 2)).toEqual([' ', 'lone \ufffd'])
    for (let i = 2; i < texts.length; i++)
      expect(vectors[i]![0]! / vectors[i]![1]!).toBeCloseTo((i - 1) / 10, 4)
  })

  it.each([429, 503])('asks once more after status %i', async (status) => {
    const { url, asked } = await serve((request, response, count) =>
      count === 1 ? json(response, {}, status, { 'retry-after': '0' }) : openAi(request, response, count),
    )
    expect(await createRemoteEmbedder({ kind: 'openai', url, model: 'm' }).embed(['a'])).toHaveLength(1)
    expect(asked).toHaveLength(2)
  })

  it.each([
    [429, 'rate_limited', 2],
    [500, 'unavailable', 2],
    [401, 'unavailable', 1],
    [404, 'unavailable', 1],
    [307, 'unavailable', 2],
  ])('fails on status %i with %s after %i requests', async (status, code, requests) => {
    const headers = { 'retry-after': '0', location: '/elsewhere' }
    const { url, asked } = await serve((_, response) => json(response, { error: 'secret' }, status, headers))
    const failed = createRemoteEmbedder({ kind: 'openai', url, model: 'm' }).embed(['a'])
    const failure: unknown = await failed.catch((error: unknown) => error)
    expect(failure).toMatchObject({ code })
    expect(String(failure)).not.toContain('secret')
    expect(asked.map(({ url }) => url)).toEqual(Array(requests).fill('/v1/embeddings'))
  })

  it.each<[string, unknown, string[]?]>([
    ['no list', { data: 'x' }],
    ['too few rows', { data: [] }],
    ['rows without numbers', { data: [{ index: 0, embedding: ['1'] }] }],
    ['an index beyond the list', { data: [{ index: 4, embedding: [1, 2] }] }],
    ['the same index twice', { data: [1, 1].map((index) => ({ index, embedding: [1, 2] })) }, ['a', 'b']],
    ['another number of dimensions', { embeddings: [[1, 2, 3]] }],
    ['the zero vector', { embeddings: [[0, 0]] }],
    ['nothing', null],
  ])('refuses an answer with %s', async (_, answer, texts = ['a']) => {
    const { url } = await serve((_, response) => json(response, answer))
    const embedder = createRemoteEmbedder({ kind: 'openai', url, model: 'm', dimensions: 2 })
    await expect(embedder.embed(texts)).rejects.toMatchObject({ code: 'unavailable' })
  })

  it('says so when nobody answers, or not in time', async () => {
    const nobody = createRemoteEmbedder({ kind: 'ollama', url: 'http://127.0.0.1:9', model: 'm' })
    await expect(nobody.embed(['a'])).rejects.toMatchObject({ code: 'unavailable' })
    const { url } = await serve(() => {})
    const slow = createRemoteEmbedder({ kind: 'ollama', url, model: 'm', deadlineMs: 50 })
    await expect(slow.embed(['a'])).rejects.toMatchObject({ code: 'timed_out' })
  })

  it('stops by a signal and when it is closed', async () => {
    const { url } = await serve(() => {})
    const stop = new AbortController()
    const embedder = createRemoteEmbedder({ kind: 'openai', url, model: 'm' })
    const first = embedder.embed(['a'], { signal: stop.signal })
    stop.abort()
    await expect(first).rejects.toMatchObject({ code: 'cancelled' })
    const second = embedder.embed(['a'])
    await embedder.close()
    await expect(second).rejects.toMatchObject({ code: 'cancelled' })
  })
})
