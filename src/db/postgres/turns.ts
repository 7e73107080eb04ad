/** Lets one after the other, in the order they came. */
export class Turns {
  readonly #waiting: (() => void)[] = []
  #taken = false

  /** Resolves when it is one's turn, with what ends it. */
  async take(): Promise<() => void> {
    if (this.#taken) await new Promise<void>((resolve) => this.#waiting.push(resolve))
    this.#taken = true
    let ended = false
    return () => {
      if (ended) return
      ended = true
      const next = this.#waiting.shift()
      if (next) next()
      else this.#taken = false
    }
  }
}
