import { Readable, pipeline } from 'node:stream'
import { crc32, createInflateRaw } from 'node:zlib'
import { Failure } from '../../core/failure.ts'

// ZIP archives with their 64-bit extension, read by their directory and in pieces: PKWARE APPNOTE 6.3.10, sections 4.3 to 4.5.

/** The bytes of a file, wherever it lies. */
export interface ArchiveBytes {
  size: number
  /** The bytes from `start` up to `end`; fewer at the end of the file. */
  read(start: number, end: number): Promise<Uint8Array>
}

export const bytesInMemory = (bytes: Uint8Array): ArchiveBytes => ({
  size: bytes.length,
  read: async (start, end) => bytes.subarray(start, end),
})

export interface ZipFile {
  name: string
  /** Unpacked. */
  size: number
  packed: number
  method: number
  flags: number
  crc: number
  /** Of its local header. */
  offset: number
}

/** An archive whose directory was read. */
export interface Archive {
  bytes: ArchiveBytes
  files: ReadonlyMap<string, ZipFile>
  signal: AbortSignal
}

const END = 0x06054b50
const END_64 = 0x06064b50
const END_64_LOCATOR = 0x07064b50
const CENTRAL = 0x02014b50
const LOCAL = 0x04034b50
const FULL_16 = 0xffff
const FULL_32 = 0xffff_ffff

const MOST_FILES = 4_000_000
const MOST_DIRECTORY = 1 << 29
/** Deflate packs to a 1032nd at best; nothing that a person wrote comes near. */
const MOST_RATIO = 700
const RATIO_FROM = 64 * 2 ** 20
const PIECE = 1 << 16

/**
 * The files of an archive that `wanted` asks for, by their names. Fails with `damaged_file` for what is cut off, has two files of
 * one name or files that lie over one another, and with `too_large` for what is made to fill up a disk.
 */
export async function readZip(
  bytes: ArchiveBytes,
  wanted: (name: string) => boolean,
): Promise<Map<string, ZipFile>> {
  const files = new Map<string, ZipFile>()
  let packed = 0
  try {
    for await (const file of directoryOf(bytes)) {
      packed += file.packed
      if (packed > bytes.size) throw new Error('files lie over one another')
      if (file.size > RATIO_FROM && file.size > file.packed * MOST_RATIO) throw bomb()
      if (!wanted(file.name)) continue
      if (files.has(file.name)) throw new Error('two files of one name')
      files.set(file.name, file)
    }
  } catch (error) {
    throw error instanceof Failure ? error : damagedArchive(error)
  }
  return files
}

async function* directoryOf(bytes: ArchiveBytes): AsyncGenerator<ZipFile> {
  const from = Math.max(0, bytes.size - 22 - FULL_16 - 20)
  const tail = Buffer.from(await bytes.read(from, bytes.size))
  let end = tail.length - 22
  while (end >= 0 && tail.readUInt32LE(end) !== END) end--
  if (end < 0) throw new Error('no directory')
  let count = tail.readUInt16LE(end + 10)
  let length = tail.readUInt32LE(end + 12)
  let start = tail.readUInt32LE(end + 16)
  if (end >= 20 && tail.readUInt32LE(end - 20) === END_64_LOCATOR) {
    const at = Number(tail.readBigUInt64LE(end - 12))
    const record = Buffer.from(await bytes.read(at, at + 56))
    if (record.length < 56 || record.readUInt32LE(0) !== END_64) throw new Error('64-bit end')
    count = Number(record.readBigUInt64LE(32))
    length = Number(record.readBigUInt64LE(40))
    start = Number(record.readBigUInt64LE(48))
  }
  if (count > MOST_FILES || length > MOST_DIRECTORY) throw bomb()
  if (start + length > bytes.size) throw new Error('directory')
  const directory = Buffer.from(await bytes.read(start, start + length))
  for (let at = 0, n = 0; n < count; n++) {
    if (directory.readUInt32LE(at) !== CENTRAL) throw new Error('directory record')
    const named = directory.readUInt16LE(at + 28)
    const extra = directory.readUInt16LE(at + 30)
    const name = at + 46
    const [size = 0, packed = 0, offset = 0] = wide(directory.subarray(name + named, name + named + extra), [
      directory.readUInt32LE(at + 24),
      directory.readUInt32LE(at + 20),
      directory.readUInt32LE(at + 42),
    ])
    yield {
      name: directory.toString('utf8', name, name + named),
      size,
      packed,
      offset,
      flags: directory.readUInt16LE(at + 8),
      method: directory.readUInt16LE(at + 10),
      crc: directory.readUInt32LE(at + 16),
    }
    at = name + named + extra + directory.readUInt16LE(at + 32)
  }
}

/** Numbers that do not fit into 32 bits stand in an extra field, in this order (4.5.3). */
function wide(extra: Buffer, numbers: readonly number[]): number[] {
  for (let at = 0; at + 4 <= extra.length; at += 4 + extra.readUInt16LE(at + 2)) {
    if (extra.readUInt16LE(at) !== 1) continue
    let next = at + 4
    return numbers.map((number) => {
      if (number !== FULL_32) return number
      next += 8
      return Number(extra.readBigUInt64LE(next - 8))
    })
  }
  return [...numbers]
}

/**
 * The bytes of one file, in pieces, checked against its length and sum: what ends without a failure was whole. Never gives more
 * than the directory announced. Fails with `damaged_file` or `encrypted_file`.
 */
export async function* unpackFile(bytes: ArchiveBytes, file: ZipFile): AsyncGenerator<Uint8Array> {
  if ((file.flags & 1) === 1)
    throw new Failure('encrypted_file', 'The archive is locked with a password.', {
      hint: 'Unpack it, pack it again without a password, and import that.',
    })
  let size = 0
  let crc = 0
  try {
    for await (const piece of piecesOf(bytes, file)) {
      size += piece.length
      if (size > file.size) throw new Error('longer than announced')
      crc = crc32(piece, crc)
      yield piece
    }
    if (size !== file.size || crc !== file.crc) throw new Error('checksum')
  } catch (error) {
    throw error instanceof Failure ? error : damagedArchive(error)
  }
}

async function* piecesOf(bytes: ArchiveBytes, file: ZipFile): AsyncGenerator<Uint8Array> {
  const header = Buffer.from(await bytes.read(file.offset, file.offset + 30))
  if (header.length < 30 || header.readUInt32LE(0) !== LOCAL) throw new Error('local header')
  const start = file.offset + 30 + header.readUInt16LE(26) + header.readUInt16LE(28)
  async function* packed(): AsyncGenerator<Uint8Array> {
    for (let at = start; at < start + file.packed;) {
      const piece = await bytes.read(at, Math.min(at + PIECE, start + file.packed))
      if (piece.length === 0) throw new Error('cut off')
      at += piece.length
      yield piece
    }
  }
  if (file.method === 0) yield* packed()
  else if (file.method === 8) {
    const inflate = createInflateRaw()
    // What goes wrong comes out of the other end.
    pipeline(Readable.from(packed(), { objectMode: false }), inflate, () => {})
    yield* inflate as AsyncIterable<Buffer>
  } else throw new Error('method')
}

/** Longest line that is taken into memory: a row with a whole book in three forms is a tenth of it. */
const MOST_LINE = 1 << 28

type Decoder = InstanceType<typeof TextDecoder>

/** The lines of a file, without their ends. Fails as `unpackFile` does, and where it is no UTF-8. */
export async function* unpackLines(bytes: ArchiveBytes, file: ZipFile): AsyncGenerator<string> {
  const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
  let begun: string[] = []
  let length = 0
  for await (const piece of unpackFile(bytes, file)) {
    const lines = decoded(decoder, piece).split('\n')
    for (const [n, line] of lines.entries()) {
      begun.push(line)
      length += line.length
      if (length > MOST_LINE) throw bomb()
      if (n === lines.length - 1) continue
      yield begun.join('')
      begun = []
      length = 0
    }
  }
  begun.push(decoded(decoder))
  if (begun.some((part) => part !== '')) yield begun.join('')
}

function decoded(decoder: Decoder, piece?: Uint8Array): string {
  try {
    return piece ? decoder.decode(piece, { stream: true }) : decoder.decode()
  } catch (error) {
    throw damagedArchive(error)
  }
}

export const damagedArchive = (cause: unknown): Failure =>
  new Failure('damaged_file', 'The archive cannot be read: it is cut off or damaged.', {
    hint: 'Make or download it again. Nothing of it was taken in.',
    cause,
  })

const bomb = (): Failure =>
  new Failure('too_large', 'The archive unpacks to more than any library holds.', {
    hint: 'It is made to fill up memory or is no export. Nothing of it was taken in.',
  })
