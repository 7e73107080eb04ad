/** Requests as no well-behaved client sends them. */
import { connect } from 'node:net'

/** Sends bytes as they are, one piece after the other, and gives what comes back until the connection ends, `until` is there or `signal` aborts. */
export function sendRaw(
  base: string,
  pieces: readonly (string | Buffer)[],
  { until, hangUp = false, signal }: { until?: RegExp; hangUp?: boolean; signal?: AbortSignal } = {},
): Promise<string> {
  const { hostname, port } = new URL(base)
  return new Promise((resolve) => {
    const socket = connect(Number(port), hostname)
    let heard = ''
    const finish = (): void => {
      socket.destroy()
      resolve(heard)
    }
    socket.setTimeout(10_000, finish)
    signal?.addEventListener('abort', finish)
    socket.on('data', (chunk) => {
      heard += chunk.toString('latin1')
      if (until?.test(heard)) finish()
    })
    socket.on('error', finish)
    socket.on('close', finish)
    void (async () => {
      for (const piece of pieces) {
        if (socket.destroyed) return
        await new Promise<void>((sent) => socket.write(piece, () => sent()))
        await new Promise((later) => setTimeout(later, 5))
      }
      if (hangUp) finish()
    })()
  })
}
