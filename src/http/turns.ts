/** Lets a few at a time go on; the others wait in the order they came. */
export class Turns {
  readonly #waiting: (() => void)[] = []
  #free: number

  constructor(most: number) {
    this.#free = most
  }

  async take<T>(work: () => Promise<T>): Promise<T> {
    if (this.#free > 0) this.#free--
    else await new Promise<void>((resolve) => this.#waiting.push(resolve))
    try {
      return await work()
    } finally {
      const next = this.#waiting.shift()
      if (next) next()
      else this.#free++
    }
  }
}

/** Counts what each reader has open, and all together. */
export class OpenCount {
  readonly #most: { each: number; all: number }
  readonly #counts = new Map<string, number>()
  #all = 0

  constructor(most: { each: number; all: number }) {
    this.#most = most
  }

  /** Whose bound would be passed by one more; undefined where there is room, and it is counted until `leave`. */
  enter(readerId: string): 'each' | 'all' | undefined {
    const own = this.#counts.get(readerId) ?? 0
    if (own >= this.#most.each) return 'each'
    if (this.#all >= this.#most.all) return 'all'
    this.#counts.set(readerId, own + 1)
    this.#all++
    return undefined
  }

  leave(readerId: string): void {
    const own = (this.#counts.get(readerId) ?? 0) - 1
    if (own > 0) this.#counts.set(readerId, own)
    else this.#counts.delete(readerId)
    this.#all--
  }
}
