import { execFileSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'

/** Builds `dist/` once for all tests, so that workers and the binary are those of the sources. */
export default function setup(): void {
  const script = fileURLToPath(new URL('../../scripts/build.mjs', import.meta.url))
  execFileSync(process.execPath, [script], { stdio: ['ignore', 'ignore', 'inherit'] })
}
