import { unzipSync } from 'fflate'
import { Failure } from '../../core/failure.ts'

/** Limits of an archive, by what its directory announces. */
const MOST_ENTRIES = 200_000
const MOST_BYTES = 4 * 2 ** 30
const MOST_ENTRY_BYTES = 256 * 2 ** 20
/** No honest text is packed to a thousandth; a file of zeros is. */
const MOST_RATIO = 400
const RATIO_FROM_BYTES = 2 ** 20

export interface ArchiveEntry {
  name: string
  /** Unpacked. */
  size: number
}

/** The files of an archive; nothing is unpacked before it is asked for, and nothing is ever written by its name. */
export interface ImportArchive {
  /** Files, without folders and without names that lead outside. */
  readonly entries: readonly ArchiveEntry[]
  /** Names that lead outside the archive: absolute, with `..` or a drive letter. */
  readonly unsafe: readonly string[]
  /** Fails with `too_large` or `damaged_file`; undefined where there is no such file. */
  read(name: string): Uint8Array | undefined
}

/** Opens an archive. Fails with `damaged_file` or `too_large`. */
export function openArchive(bytes: Uint8Array): ImportArchive {
  const entries: ArchiveEntry[] = []
  const unsafe: string[] = []
  const sizes = new Map<string, number>()
  let total = 0
  let count = 0
  unzip(bytes, ({ name, size, originalSize }) => {
    count++
    total += originalSize
    if (count > MOST_ENTRIES || total > MOST_BYTES) throw bomb()
    if (originalSize > RATIO_FROM_BYTES && originalSize > size * MOST_RATIO) throw bomb()
    if (name.endsWith('/')) return false
    if (!isInside(name)) unsafe.push(name)
    else if (!sizes.has(name)) {
      sizes.set(name, originalSize)
      entries.push({ name, size: originalSize })
    }
    return false
  })
  return {
    entries,
    unsafe,
    read: (name) => {
      const size = sizes.get(name)
      if (size === undefined) return undefined
      if (size > MOST_ENTRY_BYTES) throw bomb()
      let isFirst = true
      return unzip(bytes, (file) => {
        const wanted = isFirst && file.name === name
        if (wanted) isFirst = false
        return wanted
      })[name]
    },
  }
}

type Filter = NonNullable<NonNullable<Parameters<typeof unzipSync>[1]>['filter']>

function unzip(bytes: Uint8Array, filter: Filter): Record<string, Uint8Array> {
  try {
    return unzipSync(bytes, { filter })
  } catch (error) {
    if (error instanceof Failure) throw error
    throw new Failure('damaged_file', 'The archive cannot be read: it is cut off or damaged.', {
      hint: 'Download it again; a whole archive opens in every program that unpacks ZIP files.',
      cause: error,
    })
  }
}

function isInside(name: string): boolean {
  return !/^(?:[/\\]|[a-z]:)|(?:^|[/\\])\.\.(?:[/\\]|$)|\0/iu.test(name)
}

function bomb(): Failure {
  return new Failure('too_large', 'The archive unpacks to more than an export holds.', {
    hint: 'It is made to fill up memory or is no export. Nothing of it was read.',
  })
}
