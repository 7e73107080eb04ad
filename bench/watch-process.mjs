// Loaded into a process with `node --import`: at its end it writes its peak memory (MiB) and the delays of its event loop
// (ms) to the file that COMMONPLACE_BENCH_WATCH names.
import { writeFileSync } from 'node:fs'
import { monitorEventLoopDelay } from 'node:perf_hooks'

const RESOLUTION_MS = 5
const delays = monitorEventLoopDelay({ resolution: RESOLUTION_MS })
delays.enable()
process.on('exit', () => {
  const ms = (nanoseconds) => Math.max(0, nanoseconds / 1e6 - RESOLUTION_MS)
  writeFileSync(
    process.env['COMMONPLACE_BENCH_WATCH'],
    JSON.stringify({
      // In KiB, workers included.
      peakMb: process.resourceUsage().maxRSS / 1024,
      p99: ms(delays.percentile(99)),
      p999: ms(delays.percentile(99.9)),
      max: ms(delays.max),
    }),
  )
})
