import { spawn } from 'node:child_process'
import type { Context } from './command.ts'

/**
 * Shows a long text through the reader's pager, where a person sits at the terminal; prints it otherwise. `less` is told to
 * end by itself when the text fits the screen.
 */
export async function page({ out, env }: Pick<Context, 'out' | 'env'>, text: string): Promise<void> {
  const pager = env['PAGER'] ?? (process.platform === 'win32' ? '' : 'less')
  if (!out.tty || pager === '' || pager === 'cat') {
    out.write(text)
    return
  }
  const shown = await new Promise<boolean>((resolve) => {
    const child = spawn(pager, {
      shell: true,
      stdio: ['pipe', 'inherit', 'inherit'],
      env: { LESS: 'FRX', ...env },
    })
    // The reader may leave the pager before its end.
    child.stdin.on('error', () => {})
    child.on('error', () => resolve(false))
    child.on('close', (code) => resolve(code !== 126 && code !== 127))
    child.stdin.end(text)
  })
  if (!shown) out.write(text)
}
