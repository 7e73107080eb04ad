/**
 * Work that nobody waits for, such as a letter: how long it takes, or whether there is any, must not be told by when a page
 * comes.
 */
export class Background {
  readonly #running = new Set<Promise<void>>()
  readonly #onError: (error: unknown, where: string) => void

  constructor(onError: (error: unknown, where: string) => void) {
    this.#onError = onError
  }

  /** Begins after the answer that is being made. */
  run(where: string, work: () => Promise<void>): void {
    const running = new Promise<void>((resolve) => setImmediate(resolve))
      .then(work)
      .catch((error: unknown) => this.#onError(error, where))
      .finally(() => this.#running.delete(running))
    this.#running.add(running)
  }

  /** Resolves when all that was begun has ended. */
  async settled(): Promise<void> {
    while (this.#running.size > 0) await Promise.all(this.#running)
  }
}
