import { crc32, inflateRawSync } from 'node:zlib'
import { Failure } from '../../core/failure.ts'

/** Limits of an archive, by what its directory announces. */
const MOST_ENTRIES = 200_000
const MOST_BYTES = 4 * 2 ** 30
const MOST_ENTRY_BYTES = 256 * 2 ** 20
/** No honest text is packed to a four hundredth; a file of zeros is. */
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
  /** Bytes of a file when it is unpacked; undefined where there is none of that name. */
  sizeOf(name: string): number | undefined
  /** Undefined where there is no such file. Fails with `damaged_file`, `encrypted_file` or `too_large`. */
  read(name: string): Uint8Array | undefined
}

interface Entry extends ArchiveEntry {
  packed: number
  method: number
  flags: number
  crc: number
  /** Of its local header. */
  offset: number
}

/**
 * Opens a ZIP archive by its directory (APPNOTE.TXT 6.3, with 64-bit sizes), so that one of many thousand files is found at
 * once. Fails with `damaged_file` or `too_large`.
 */
export function openArchive(bytes: Uint8Array): ImportArchive {
  const file = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const byName = new Map<string, Entry>()
  const unsafe: string[] = []
  let total = 0
  let count = 0
  try {
    for (const entry of directoryOf(file)) {
      total += entry.size
      if (++count > MOST_ENTRIES || total > MOST_BYTES) throw bomb()
      if (entry.size > RATIO_FROM_BYTES && entry.size > entry.packed * MOST_RATIO) throw bomb()
      if (entry.name.endsWith('/')) continue
      if (!isInside(entry.name)) unsafe.push(entry.name)
      else if (!byName.has(entry.name)) byName.set(entry.name, entry)
    }
  } catch (error) {
    throw error instanceof Failure ? error : damaged(error)
  }
  return {
    entries: [...byName.values()],
    unsafe,
    sizeOf: (name) => byName.get(name)?.size,
    read: (name) => {
      const entry = byName.get(name)
      return entry && unpack(file, entry)
    },
  }
}

const END = 0x06054b50
const END_64 = 0x06064b50
const END_64_LOCATOR = 0x07064b50
const CENTRAL = 0x02014b50
const LOCAL = 0x04034b50
const FULL_32 = 0xffffffff

function* directoryOf(file: Buffer): Generator<Entry> {
  const end = endOf(file)
  let count = file.readUInt16LE(end + 10)
  let at = file.readUInt32LE(end + 16)
  if (end >= 20 && file.readUInt32LE(end - 20) === END_64_LOCATOR) {
    const record = Number(file.readBigUInt64LE(end - 12))
    if (file.readUInt32LE(record) === END_64) {
      count = Number(file.readBigUInt64LE(record + 32))
      at = Number(file.readBigUInt64LE(record + 48))
    }
  }
  for (let i = 0; i < count; i++) {
    if (file.readUInt32LE(at) !== CENTRAL) throw new Error('directory')
    const nameLength = file.readUInt16LE(at + 28)
    const extraLength = file.readUInt16LE(at + 30)
    const name = at + 46
    const extra = file.subarray(name + nameLength, name + nameLength + extraLength)
    const sizes = [file.readUInt32LE(at + 24), file.readUInt32LE(at + 20), file.readUInt32LE(at + 42)]
    const [size = 0, packed = 0, offset = 0] = wide(extra, sizes)
    yield {
      name: nameOf(file.subarray(name, name + nameLength)),
      size,
      packed,
      offset,
      flags: file.readUInt16LE(at + 8),
      method: file.readUInt16LE(at + 10),
      crc: file.readUInt32LE(at + 16),
    }
    at = name + nameLength + extraLength + file.readUInt16LE(at + 32)
  }
}

/** The end of the directory, which a comment of up to 64 KiB may follow. */
function endOf(file: Buffer): number {
  const least = Math.max(0, file.length - 22 - 0xffff)
  for (let at = file.length - 22; at >= least; at--) if (file.readUInt32LE(at) === END) return at
  throw new Error('no directory')
}

/** Sizes that do not fit into 32 bits stand in an extra field, in this order. */
function wide(extra: Buffer, sizes: readonly number[]): number[] {
  if (!sizes.includes(FULL_32)) return [...sizes]
  for (let at = 0; at + 4 <= extra.length; at += 4 + extra.readUInt16LE(at + 2)) {
    if (extra.readUInt16LE(at) !== 1) continue
    let next = at + 4
    return sizes.map((size) => {
      if (size !== FULL_32) return size
      next += 8
      return Number(extra.readBigUInt64LE(next - 8))
    })
  }
  return [...sizes]
}

function nameOf(bytes: Buffer): string {
  const name = bytes.toString('utf8')
  return name.includes('\uFFFD') ? bytes.toString('latin1') : name
}

function unpack(file: Buffer, entry: Entry): Uint8Array {
  if (entry.size > MOST_ENTRY_BYTES) throw bomb()
  if ((entry.flags & 1) === 1)
    throw new Failure('encrypted_file', 'The archive is locked with a password.', {
      hint: 'Unpack it, pack it again without a password, and import that.',
    })
  try {
    if (file.readUInt32LE(entry.offset) !== LOCAL) throw new Error('local header')
    const start =
      entry.offset + 30 + file.readUInt16LE(entry.offset + 26) + file.readUInt16LE(entry.offset + 28)
    const packed = file.subarray(start, start + entry.packed)
    const isStored = entry.method === 0
    if (!isStored && entry.method !== 8) throw new Error('method')
    // Never more than was announced, whatever the packed bytes would become.
    const whole = isStored ? packed : inflateRawSync(packed, { maxOutputLength: Math.max(1, entry.size) })
    if (whole.length !== entry.size || crc32(whole) !== entry.crc) throw new Error('checksum')
    return whole
  } catch (error) {
    throw damaged(error)
  }
}

function isInside(name: string): boolean {
  return !/^(?:[/\\]|[a-z]:)|(?:^|[/\\])\.\.(?:[/\\]|$)|\0/iu.test(name)
}

function damaged(cause: unknown): Failure {
  return new Failure('damaged_file', 'The archive cannot be read: it is cut off or damaged.', {
    hint: 'Download it again; a whole archive opens in every program that unpacks ZIP files.',
    cause,
  })
}

function bomb(): Failure {
  return new Failure('too_large', 'The archive unpacks to more than an export holds.', {
    hint: 'It is made to fill up memory or is no export. Nothing of it was read.',
  })
}
