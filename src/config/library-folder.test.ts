import { homedir, userInfo } from 'node:os'
import { isAbsolute, resolve } from 'node:path'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { libraryFolder } from './library-folder.ts'

afterEach(() => vi.unstubAllEnvs())

describe('libraryFolder', () => {
  it('is what the flag says, then the variable, then a place of the system', () => {
    expect(libraryFolder({ COMMONPLACE_LIBRARY: 'b' }, 'a')).toBe(resolve('a'))
    expect(libraryFolder({ COMMONPLACE_LIBRARY: 'b' })).toBe(resolve('b'))
    expect(libraryFolder({}).startsWith(homedir())).toBe(true)
  })

  it.each(['', '.', 'relative/home'])('is the same from every folder, though HOME is “%s”', (home) => {
    for (const name of ['HOME', 'USERPROFILE']) vi.stubEnv(name, home)
    const folder = libraryFolder({ XDG_DATA_HOME: home, APPDATA: home })
    expect(isAbsolute(folder)).toBe(true)
    expect(folder.startsWith(userInfo().homedir)).toBe(true)
  })
})
