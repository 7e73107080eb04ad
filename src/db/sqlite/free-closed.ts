import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

type Collect = (options: { type: 'major'; execution: 'async' }) => Promise<void>

/** So many files may be closed and not yet let go of: about three descriptors and 300 kB each. */
const CLOSED = 128

let closed = 0
let collect: Collect | undefined

/**
 * Says that a connection was closed. SQLite keeps a closed connection, with its files and memory, until its last statement is
 * finalised; the binding finalises statements only when they are collected, and the engine, which sees none of that memory,
 * finds no reason to. A process that opens and closes many libraries would run out of descriptors.
 */
export function noteClosed(): void {
  if (++closed < CLOSED) return
  closed = 0
  if (!collect) {
    setFlagsFromString('--expose-gc')
    collect = runInNewContext('gc') as Collect
  }
  void collect({ type: 'major', execution: 'async' })
}
