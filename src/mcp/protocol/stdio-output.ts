import type { Readable, Writable } from 'node:stream'

export interface StdioOutput {
  /** Writes one protocol line, without its end. */
  write(line: string): void
  /** Resolves once all lines are out. */
  flush(): Promise<void>
}

/**
 * Takes the output for protocol lines alone. On the process's own output, whatever else prints there (`console.log`,
 * `process.stdout.write`, the output of worker threads) goes to standard error from now on; native code and child
 * processes that write to descriptor 1 themselves cannot be kept from it. A client that does not read stops us from
 * reading it.
 */
export function takeOutput(output: Writable, input: Readable): StdioOutput {
  const original = output.write
  const send = (text: string, done?: () => void): boolean => original.call(output, text, 'utf8', done)
  if (output === process.stdout) process.stdout.write = toStandardError
  return {
    write(line) {
      if (output.destroyed || output.writableEnded) return
      if (send(`${line}\n`) || input.isPaused()) return
      input.pause()
      output.once('drain', () => input.resume())
    },
    flush: () => new Promise((resolve) => send('', resolve)),
  }
}

/**
 * Standard error is reached for only when something does print: making the stream costs milliseconds at every start.
 * Always says that there is room, since a `drain` of standard output would not tell of it.
 */
function toStandardError(
  chunk: string | Uint8Array,
  encoding?: BufferEncoding | ((error?: Error | null) => void),
  done?: (error?: Error | null) => void,
): true {
  if (typeof encoding === 'function') process.stderr.write(chunk, encoding)
  else process.stderr.write(chunk, encoding, done)
  return true
}
