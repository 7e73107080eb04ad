import { mkdtempSync, readFileSync, readlinkSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { testLibrary } from '../../test/support/library.ts'
import { addSource } from '../../test/support/sources.ts'
import type { Library } from '../core/library.ts'
import { exportFile, exportFolder } from './export-folder.ts'

let folder: string
let library: Library
let id: number

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'commonplace-folder-'))
  library = await testLibrary()
  id = await addSource(library, { title: 'Herons' })
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

describe('files that are not ours', () => {
  it('are never replaced, whichever of our names they have', async () => {
    const theirs = ['Herons', `Herons ${id}`, `Herons ${id} 2`, `Herons ${id} commonplace`, `${id}`]
    for (const name of theirs) writeFileSync(join(folder, `${name}.md`), 'mine')
    expect(await exportFolder(library, folder, { all: true })).toMatchObject({ made: 1, changed: 0 })
    for (const name of theirs) expect(readFileSync(join(folder, `${name}.md`), 'utf8')).toBe('mine')
    expect(await exportFolder(library, folder, { all: true })).toMatchObject({ made: 0, same: 1 })
  })

  it('are not replaced where they came to be while the export ran', async () => {
    const path = join(folder, 'Herons.md')
    const other = await addSource(library, { title: 'Owls' })
    const exported = await exportFolder(library, folder, {
      all: true,
      onSource: (done) => {
        if (done === 1) writeFileSync(join(folder, 'Owls.md'), 'mine')
      },
    })
    expect(exported).toMatchObject({ made: 2 })
    expect(readFileSync(path, 'utf8')).toContain('# Herons')
    expect(readFileSync(join(folder, 'Owls.md'), 'utf8')).toBe('mine')
    expect(readFileSync(join(folder, `Owls ${other}.md`), 'utf8')).toContain('# Owls')
  })

  it('keep every byte that somebody put into one of ours in another encoding', async () => {
    await exportFolder(library, folder, { all: true })
    const path = join(folder, 'Herons.md')
    const mixed = Buffer.concat([readFileSync(path), Buffer.from('\nGr\u00fc\u00dfe\n', 'latin1')])
    writeFileSync(path, mixed)
    await library.change((change) => change.update('source', id, { title: 'Grey herons' }))
    const { notUtf8, changed } = await exportFolder(library, folder, { all: true })
    expect({ notUtf8, changed }).toEqual({ notUtf8: ['Herons.md'], changed: 0 })
    expect(await exportFile(library, path, id, false)).toBe(false)
    expect(readFileSync(path)).toEqual(mixed)
  })

  it('count as there where they cannot be read', async () => {
    const loop = join(folder, 'loop.md')
    symlinkSync('loop.md', loop)
    await expect(exportFile(library, loop, id, false)).rejects.toMatchObject({ code: 'ELOOP' })
    expect(readlinkSync(loop)).toBe('loop.md')
  })
})
