import { homedir, userInfo } from 'node:os'
import { isAbsolute, join, resolve } from 'node:path'

/** Where the library lies: what the flag says, then `COMMONPLACE_LIBRARY`, then the system's place for a user's data. */
export function libraryFolder(env: NodeJS.ProcessEnv, flag?: string): string {
  const given = flag ?? env['COMMONPLACE_LIBRARY']
  if (given) return resolve(given)
  if (process.platform === 'darwin') return join(home(), 'Library', 'Application Support', 'Commonplace')
  if (process.platform === 'win32') return join(absolute(env['APPDATA']) ?? home(), 'Commonplace')
  return join(absolute(env['XDG_DATA_HOME']) ?? join(home(), '.local', 'share'), 'commonplace')
}

/** The reader's own folder; where `HOME` is empty or relative, what the system knows of the user. */
const home = (): string => absolute(homedir()) ?? userInfo().homedir

/** A relative one is passed over, or every folder would have a library of its own (XDG Base Directory, "Basics"). */
const absolute = (path: string | undefined): string | undefined =>
  path && isAbsolute(path) ? path : undefined
