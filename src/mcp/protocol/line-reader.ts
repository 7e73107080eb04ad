const ENDS = 256

export interface LineEvents {
  /** A whole line, trimmed, never empty. */
  line(line: string): void
  /** A line over the limit, of which its first and last bytes are left. */
  tooLong(head: string, tail: string): void
}

/** Splits bytes into lines, so that a character cut by a chunk's end stays whole; drops lines that are too long. */
export class LineReader {
  readonly #limit: number
  readonly #events: LineEvents
  #parts: Buffer[] = []
  #size = 0
  /** What is kept of a line that is over the limit. */
  #ends: { head: Buffer; tail: Buffer } | undefined

  /** `limit` in bytes, without the line's end. */
  constructor(limit: number, events: LineEvents) {
    this.#limit = limit
    this.#events = events
  }

  push(chunk: Buffer): void {
    let start = 0
    for (let end = chunk.indexOf(10); end !== -1; end = chunk.indexOf(10, start)) {
      this.#add(chunk.subarray(start, end))
      this.#flush()
      start = end + 1
    }
    if (start < chunk.length) this.#add(chunk.subarray(start))
  }

  /** The last line of an input need not end. */
  end(): void {
    if (this.#size > 0) this.#flush()
  }

  #add(part: Buffer): void {
    this.#size += part.length
    if (this.#ends) {
      this.#ends.tail = Buffer.concat([this.#ends.tail, part.subarray(-ENDS)]).subarray(-ENDS)
      return
    }
    this.#parts.push(part)
    if (this.#size <= this.#limit) return
    const whole = Buffer.concat(this.#parts)
    this.#ends = { head: Buffer.from(whole.subarray(0, ENDS)), tail: Buffer.from(whole.subarray(-ENDS)) }
    this.#parts = []
  }

  #flush(): void {
    const parts = this.#parts
    const ends = this.#ends
    this.#parts = []
    this.#size = 0
    this.#ends = undefined
    if (ends) {
      this.#events.tooLong(ends.head.toString('utf8'), ends.tail.toString('utf8'))
      return
    }
    const [only] = parts
    // `trim` takes a carriage return and a byte order mark as well.
    const line = (parts.length === 1 && only ? only : Buffer.concat(parts)).toString('utf8').trim()
    if (line !== '') this.#events.line(line)
  }
}
