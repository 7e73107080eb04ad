/** Requests that take their time to arrive. */
import { expect, it } from 'vitest'
import { listen } from '../../src/http/listen.ts'
import { sendRaw } from './raw.ts'

it('are cut off after a while, but for files', async () => {
  const listening = await listen('127.0.0.1', 0, { requestMs: 300 })
  const base = `http://127.0.0.1:${listening.port}`
  const ended: string[] = []
  listening.serve((req, res) => {
    req.resume()
    req.on('close', () => ended.push(`${req.url} ${req.complete ? 'whole' : 'cut off'}`))
    req.on('error', () => {})
    req.on('end', () => res.writeHead(200, { connection: 'close' }).end('whole'))
  })
  const drip = (path: string): Promise<string> =>
    sendRaw(base, [
      `POST ${path} HTTP/1.1\r\nhost: x\r\ncontent-length: 120\r\n\r\n`,
      ...Array<string>(120).fill('x'),
    ])
  try {
    const [tool, file] = await Promise.all([drip('/api/tools/list_items'), drip('/api/files?name=a')])
    expect(tool).toBe('')
    expect(file).toMatch(/200 OK/)
    expect(ended.toSorted()).toEqual(['/api/files?name=a whole', '/api/tools/list_items cut off'])
  } finally {
    await listening.close(0)
  }
})
