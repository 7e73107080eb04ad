import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'

/**
 * Loads the native part of `@photostructure/sqlite` from the file its package ships for this platform. The build puts this in
 * place of `node-gyp-build`, whose own loading and search took a third of the time a server needs to start; where the file is
 * not where it should be, that search is made after all. See docs/decisions/0006-what-starts-a-server.md.
 */
export default function loadAddon(): unknown {
  const require = createRequire(import.meta.url)
  const root = dirname(require.resolve('@photostructure/sqlite/package.json'))
  const libc = process.platform === 'linux' && existsSync('/etc/alpine-release') ? 'musl' : 'glibc'
  const file = `@photostructure+sqlite.${libc}.node`
  try {
    return require(join(root, 'prebuilds', `${process.platform}-${process.arch}`, file))
  } catch {
    const search: unknown = createRequire(join(root, 'package.json'))('node-gyp-build')
    return (search as (folder: string) => unknown)(root)
  }
}
