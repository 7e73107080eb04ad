/** How a server lets its callers go. */
import { Agent, request } from 'node:http'
import { expect, it } from 'vitest'
import { listen } from '../../src/http/listen.ts'

const get = (agent: Agent, port: number): Promise<string> =>
  new Promise((resolve, reject) => {
    request({ agent, port, host: '127.0.0.1' }, (res) => {
      res.resume()
      res.on('end', () => resolve(res.headers.connection ?? ''))
    })
      .on('error', reject)
      .end()
  })

it('one that ends lets go of a caller who keeps a connection and goes on asking', async () => {
  const listening = await listen('127.0.0.1', 0)
  const held: (() => void)[] = []
  let arrived = (): void => {}
  listening.serve((_req, res) => {
    held.push(() => void res.end('whole'))
    arrived()
  })
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  try {
    const isThere = new Promise<void>((resolve) => (arrived = resolve))
    const answer = get(agent, listening.port)
    await isThere
    const closed = listening.close(600_000)
    held.shift()?.()
    expect(await answer).toBe('close')
    await closed
    await expect(get(agent, listening.port)).rejects.toMatchObject({ code: 'ECONNREFUSED' })
  } finally {
    agent.destroy()
  }
})
