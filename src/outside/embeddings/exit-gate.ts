const BUSY = 0
const SHUT = 1

/**
 * Keeps a process from ending in the middle of native work of a worker thread, which aborts it (the runtime's answer finds
 * no JavaScript any more). The worker does such work inside `pass`, the main thread calls `shut` on exit.
 */
export class ExitGate {
  #flags: Int32Array<SharedArrayBuffer>

  /** Both threads make one over the same memory of 8 bytes. */
  constructor(memory: SharedArrayBuffer) {
    this.#flags = new Int32Array(memory)
  }

  /** Does the work, one at a time; never settles once the gate is shut. */
  async pass<T>(work: () => Promise<T>): Promise<T> {
    Atomics.store(this.#flags, BUSY, 1)
    try {
      if (Atomics.load(this.#flags, SHUT) === 1) return await new Promise<never>(() => this.#leave())
      return await work()
    } finally {
      this.#leave()
    }
  }

  #leave(): void {
    Atomics.store(this.#flags, BUSY, 0)
    Atomics.notify(this.#flags, BUSY)
  }

  /** Lets nothing in any more and blocks until what is inside has come out, at most so many milliseconds. */
  shut(timeoutMs: number): void {
    Atomics.store(this.#flags, SHUT, 1)
    Atomics.wait(this.#flags, BUSY, 1, timeoutMs)
  }
}
