import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

export const PROGRAM = fileURLToPath(new URL('../../dist/main.js', import.meta.url))

export interface Ended {
  code: number | null
  stdout: string
  stderr: string
}

export interface RunOptions {
  input?: string | Uint8Array
  env?: Record<string, string>
  cwd?: string
  /** Sent as soon as standard error or output says something. */
  interrupt?: NodeJS.Signals
}

/** A folder for one test's library and files, and the program run on it as a shell would. */
export function openWorkspace() {
  const folder = mkdtempSync(join(tmpdir(), 'commonplace-cli-'))
  const library = join(folder, 'library')
  const { COMMONPLACE_DEBUG: _debug, NO_COLOR: _color, FORCE_COLOR: _force, ...rest } = process.env
  const env = { ...rest, COMMONPLACE_LIBRARY: library, TMPDIR: folder }
  const run = (args: readonly string[], options: RunOptions = {}) =>
    runProgram(process.execPath, [PROGRAM, ...args], {
      cwd: folder,
      ...options,
      env: { ...env, ...options.env },
    })
  return {
    folder,
    library,
    env,
    run,
    /** Resolves when no work waits and no process does any. */
    async settled(): Promise<void> {
      for (;;) {
        const { counts, working } = JSON.parse((await run(['jobs', '--json'])).stdout)
        if (!working && counts.pending + counts.running === 0) return
        if (!working) await run(['work'])
      }
    },
    /** Runs a line of bash in which `commonplace` is the program. */
    shell: (line: string) =>
      runProgram('bash', ['-c', `commonplace() { "${process.execPath}" "${PROGRAM}" "$@"; }; ${line}`], {
        cwd: folder,
        env,
      }),
    remove: () => rmSync(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 200 }),
  }
}

export type Workspace = ReturnType<typeof openWorkspace>

function runProgram(
  program: string,
  args: readonly string[],
  { input, env, cwd, interrupt }: RunOptions & { env: NodeJS.ProcessEnv },
): Promise<Ended> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { cwd, env, stdio: ['pipe', 'pipe', 'pipe'] })
    let stdout = ''
    let stderr = ''
    child.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text))
    child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text))
    child.on('error', reject)
    child.on('close', (code) => resolve({ code, stdout, stderr }))
    child.stdin.on('error', () => {})
    if (interrupt) child.stdin.write('x', () => setTimeout(() => child.kill(interrupt), 1_500))
    else child.stdin.end(input)
  })
}
