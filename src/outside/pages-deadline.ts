/** One clock for name look-up, redirects and body; a slow drip ends with it. */
export class Deadline {
  readonly ms: number
  readonly signal: AbortSignal
  hasPassed = false
  readonly #controller = new AbortController()
  readonly #timer: NodeJS.Timeout
  readonly #outer: AbortSignal | undefined
  readonly #cancel = () => this.#controller.abort()

  constructor(ms: number, outer: AbortSignal | undefined) {
    this.ms = ms
    this.signal = this.#controller.signal
    this.#outer = outer
    this.#timer = setTimeout(() => {
      this.hasPassed = true
      this.#controller.abort()
    }, ms)
    if (outer?.aborted) this.#controller.abort()
    else outer?.addEventListener('abort', this.#cancel, { once: true })
  }

  /** For what takes no signal: name look-up. */
  async race<T>(work: Promise<T>): Promise<T> {
    this.signal.throwIfAborted()
    let stop = () => {}
    const ended = new Promise<never>((_resolve, reject) => {
      stop = () => reject(this.signal.reason)
      this.signal.addEventListener('abort', stop, { once: true })
    })
    try {
      return await Promise.race([work, ended])
    } finally {
      this.signal.removeEventListener('abort', stop)
    }
  }

  end(): void {
    clearTimeout(this.#timer)
    this.#outer?.removeEventListener('abort', this.#cancel)
  }
}
