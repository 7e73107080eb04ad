import type { Readable } from 'node:stream'

/** Standard input where it is a terminal. */
export type Terminal = Readable & { isRaw: boolean; setRawMode(raw: boolean): unknown }

/**
 * The keys that a person presses at a terminal, one after the other, until an interrupt or the end of the input. The terminal
 * is as it was afterwards.
 */
export async function* readKeys(input: Terminal, signal: AbortSignal): AsyncGenerator<string> {
  const pressed: string[] = []
  let ended = false
  let wake = () => {}
  const onData = (data: Buffer) => {
    const text = data.toString()
    // An arrow or another key that sends a sequence is one key, and none of ours.
    if (!text.startsWith('\u001b')) pressed.push(...text)
    wake()
  }
  const end = () => {
    ended = true
    wake()
  }
  const wasRaw = input.isRaw
  input.setRawMode(true)
  input.on('data', onData).on('end', end)
  signal.addEventListener('abort', end)
  input.resume()
  try {
    for (;;) {
      const key = pressed.shift()
      // Raw, the terminal sends Ctrl-C and Ctrl-D as characters.
      if (key === '\u0003' || key === '\u0004') return
      if (key !== undefined) yield key
      else if (ended || signal.aborted) return
      else await new Promise<void>((resolve) => (wake = resolve))
    }
  } finally {
    signal.removeEventListener('abort', end)
    input.off('data', onData).off('end', end)
    input.setRawMode(wasRaw)
    input.pause()
  }
}
