/** How many times longer than its share of the processor work may take on a machine that is busy with other things. */
const PATIENCE = 6
const LEAST_WAIT_MS = 20

/**
 * Calls `onPassed` when work has had `ms` milliseconds: of the processor, as far as that can be told from outside (what the whole
 * process used is an upper bound of what one of its workers did), and at the latest after six times as long. On a machine
 * that is busy with other things slow work is not taken for endless work. Gives what ends the watch.
 */
export function cpuDeadline(ms: number, onPassed: () => void, usedMs: () => number = processMs): () => void {
  const began = Date.now()
  const before = usedMs()
  let timer = setTimeout(look, ms)
  function look(): void {
    const left = ms - (usedMs() - before)
    const leftAtAll = began + PATIENCE * ms - Date.now()
    if (left <= 0 || leftAtAll <= 0) onPassed()
    else timer = setTimeout(look, Math.max(LEAST_WAIT_MS, Math.min(left, leftAtAll)))
  }
  return () => clearTimeout(timer)
}

function processMs(): number {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1000
}
