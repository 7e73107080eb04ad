import { truncate } from './measure.ts'
import type { Printer } from './print.ts'

const FRAMES = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏']
const REDRAW_MS = 120

export interface Progress {
  /** What is being done now, in a few words. */
  say(text: string): void
  /** Takes the line away, so that something else can be printed. */
  stop(): void
}

/** One line at the bottom of a terminal that shows that work goes on; nothing where standard error is no terminal. */
export function startProgress(err: Printer, first: string): Progress {
  const { columns } = err
  if (!err.tty || columns === undefined) return { say() {}, stop() {} }
  let text = first
  let frame = 0
  const draw = () =>
    err.write(`\r\u001b[K${truncate(`${FRAMES[frame++ % FRAMES.length]} ${text}`, columns - 1)}`)
  const timer = setInterval(draw, REDRAW_MS)
  timer.unref()
  draw()
  return {
    say(next) {
      text = next
    },
    stop() {
      clearInterval(timer)
      err.write('\r\u001b[K')
    },
  }
}
