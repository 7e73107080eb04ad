import { unzipSync } from 'fflate'
import { Failure } from '../../core/failure.ts'
import { decodeText } from './decode-text.ts'

/** Limits of an EPUB's archive; books with many pictures have a few thousand files. */
const MOST_ENTRIES = 20_000
const MOST_BYTES = 2 * 2 ** 30
/** Chapters and package files of one book; the Bible has about 5 MB. */
const MOST_TEXT_BYTES = 64 * 2 ** 20
const MOST_COVER_BYTES = 20 * 2 ** 20

/** The files of an EPUB by their names in the archive; nothing is unpacked before it is asked for. */
export interface EpubArchive {
  has(name: string): boolean
  /** Text of a file, in whatever encoding it has; undefined when it is not there. */
  text(name: string): string | undefined
  /** Bytes of a picture; undefined when it is not there or larger than 20 MB. */
  picture(name: string): Uint8Array | undefined
}

/**
 * Opens the archive. Sizes are added up before anything is unpacked, and names that lead outside are passed over.
 *
 * Fails with `damaged_file` or `too_large`.
 */
export function openEpubArchive(bytes: Uint8Array): EpubArchive {
  const sizes = new Map<string, number>()
  let total = 0
  let count = 0
  unzip(bytes, (file) => {
    count++
    total += file.originalSize
    if (isInside(file.name)) sizes.set(file.name, file.originalSize)
    return false
  })
  if (count > MOST_ENTRIES || total > MOST_BYTES) throw bomb()
  const names = new Map<string, string>()
  for (const name of sizes.keys()) names.set(loose(name), name)
  let unpacked = 0
  const read = (name: string, most: number): Uint8Array | undefined => {
    const real = sizes.has(name) ? name : names.get(loose(name))
    const size = real === undefined ? undefined : sizes.get(real)
    if (real === undefined || size === undefined || size > most) return undefined
    return unzip(bytes, (file) => file.name === real)[real]
  }
  return {
    has: (name) => sizes.has(name) || names.has(loose(name)),
    text: (name) => {
      const size = sizes.get(name) ?? sizes.get(names.get(loose(name)) ?? '') ?? 0
      unpacked += size
      if (unpacked > MOST_TEXT_BYTES) throw bomb()
      const file = read(name, MOST_TEXT_BYTES)
      return file && decodeText(file).text
    },
    picture: (name) => read(name, MOST_COVER_BYTES),
  }
}

type Filter = NonNullable<NonNullable<Parameters<typeof unzipSync>[1]>['filter']>

function unzip(bytes: Uint8Array, filter: Filter): Record<string, Uint8Array> {
  try {
    return unzipSync(bytes, { filter })
  } catch (error) {
    throw damagedEpub('It is cut off or not an EPUB.', error)
  }
}

/** False for names that would be written outside a folder: absolute, with `..` or a drive letter. */
function isInside(name: string): boolean {
  return !/^(?:[/\\]|[a-z]:)|(?:^|[/\\])\.\.(?:[/\\]|$)|\0/iu.test(name)
}

/** Books are often packed on systems that take `Text/C1.xhtml` and `text/c1.xhtml`, or é and e with an accent, for one. */
function loose(name: string): string {
  return name.normalize('NFC').toLowerCase()
}

/** `name` as written in `from`, in the archive's terms: relative, percent-encoded, with or without a fragment. */
export function resolveName(from: string, name: string): string {
  const path = name.replace(/[?#].*$/u, '')
  const folder = path.startsWith('/') ? [] : from.split('/').slice(0, -1)
  const parts: string[] = []
  for (const part of [...folder, ...decoded(path).split('/')]) {
    if (part === '..') parts.pop()
    else if (part !== '' && part !== '.') parts.push(part)
  }
  return parts.join('/')
}

function decoded(path: string): string {
  try {
    return decodeURIComponent(path)
  } catch {
    return path
  }
}

export function damagedEpub(why: string, cause?: unknown): Failure {
  return new Failure('damaged_file', `The EPUB cannot be read. ${why}`, {
    hint: 'Download it again, or open it in another program and save it anew.',
    cause,
  })
}

function bomb(): Failure {
  return new Failure('too_large', 'The EPUB unpacks to more than a book holds.', {
    hint: 'If it really is that long, split it and add the parts.',
  })
}
