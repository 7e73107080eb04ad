import { homedir } from 'node:os'
import { join, resolve } from 'node:path'

/** Where the library lies: what the flag says, then `COMMONPLACE_LIBRARY`, then the system's place for a user's data. */
export function libraryFolder(env: NodeJS.ProcessEnv, flag?: string): string {
  const given = flag ?? env['COMMONPLACE_LIBRARY']
  if (given) return resolve(given)
  if (process.platform === 'darwin') return join(homedir(), 'Library', 'Application Support', 'Commonplace')
  if (process.platform === 'win32') return join(env['APPDATA'] ?? homedir(), 'Commonplace')
  return join(env['XDG_DATA_HOME'] || join(homedir(), '.local', 'share'), 'commonplace')
}
