import type { Ask } from './context.ts'
import { Code, RpcError } from './errors.ts'
import { notificationMessage, requestMessage, type Id, type Json, type Response } from './messages.ts'

interface Waiting {
  resolve(result: Json): void
  reject(error: RpcError): void
}

/** Questions put to a client on its connection, each waiting for its answer. */
export class Questions {
  readonly #write: (line: string) => void
  readonly #waiting = new Map<Id, Waiting>()
  #asked = 0

  constructor(write: (line: string) => void) {
    this.#write = write
  }

  readonly ask: Ask = (method, params, signal) =>
    new Promise((resolve, reject) => {
      if (signal.aborted) return reject(failed('The request was cancelled'))
      const id = `ask-${++this.#asked}`
      const withdraw = (): void => {
        this.#waiting.delete(id)
        this.#write(notificationMessage('notifications/cancelled', { requestId: id }))
        reject(failed('The request was cancelled'))
      }
      const settle = (): void => signal.removeEventListener('abort', withdraw)
      signal.addEventListener('abort', withdraw, { once: true })
      this.#waiting.set(id, {
        resolve: (result) => (settle(), resolve(result)),
        reject: (error) => (settle(), reject(error)),
      })
      this.#write(requestMessage(id, method, params))
    })

  /** Hands an answer to the question it belongs to; others are ignored. */
  answer({ id, result, error }: Response): void {
    const waiting = this.#waiting.get(id)
    this.#waiting.delete(id)
    if (result) waiting?.resolve(result)
    else waiting?.reject(failed(`The client refused: ${String(error?.['message'])}`))
  }

  /** The client is gone: nothing will be answered any more. */
  end(): void {
    for (const { reject } of this.#waiting.values()) reject(failed('The client is gone'))
    this.#waiting.clear()
  }
}

const failed = (why: string): RpcError => new RpcError(Code.internal, why)
