import { once } from 'node:events'
import { Readable, pipeline } from 'node:stream'
import { crc32, createDeflateRaw, deflateRawSync } from 'node:zlib'

// The ZIP format with its 64-bit extension, written as a stream: PKWARE APPNOTE 6.3.10, sections 4.3 to 4.5.

export interface ZipEntry {
  /** Path with forward slashes. */
  name: string
  /** Texts are written as UTF-8. Pieces follow one another; nothing is held but what fits `WHOLE_BYTES`. */
  content: AsyncIterable<string | Uint8Array> | Iterable<string | Uint8Array>
  /** Bytes that are compressed already are stored as they are. */
  isCompressed?: boolean
}

/** What is no longer than this is written with its length in front, which every program reads. */
const WHOLE_BYTES = 1 << 20
const PIECE_BYTES = 1 << 16
const MOST_32 = 0xffff_ffff
const MOST_16 = 0xffff
const UTF8 = 0x0800
const LENGTH_BEHIND = 0x0008
const STORED = 0
const DEFLATED = 8
/** Versions of the format that are needed to read an entry: 2.0, and 4.5 for the 64-bit extension. */
const V20 = 20
const V45 = 45

interface Listed {
  name: Buffer
  flags: number
  method: number
  crc: number
  packed: number
  size: number
  at: number
}

/**
 * The bytes of an archive, entry by entry. What is kept until the end is a line for each entry. Throws what the entries throw:
 * without its directory, which comes last, an archive is none.
 */
export async function* writeZip(
  entries: AsyncIterable<ZipEntry> | Iterable<ZipEntry>,
  modified: Date,
): AsyncGenerator<Uint8Array> {
  const stamp = dosTime(modified)
  const listed: Listed[] = []
  let at = 0
  for await (const entry of entries) {
    const begun = at
    const writing = writeEntry(entry, stamp)
    for (;;) {
      const { done, value } = await writing.next()
      if (done) {
        listed.push({ ...value, at: begun })
        break
      }
      at += value.length
      yield value
    }
  }
  const directory = at
  for (const entry of listed) {
    const record = directoryRecord(entry, stamp)
    at += record.length
    yield record
  }
  yield endOf(listed.length, directory, at)
}

async function* writeEntry(
  { name: text, content, isCompressed = false }: ZipEntry,
  stamp: number,
): AsyncGenerator<Uint8Array, Omit<Listed, 'at'>> {
  const name = Buffer.from(text)
  const pieces = bytesOf(content)
  const head: Uint8Array[] = []
  let length = 0
  let more = true
  const most = isCompressed ? Infinity : WHOLE_BYTES
  while (more && length <= most) {
    const { done, value } = await pieces.next()
    if (done) more = false
    else {
      head.push(value)
      length += value.length
    }
  }
  const begin = Buffer.concat(head)
  if (!more) {
    const method = isCompressed ? STORED : DEFLATED
    const packed = isCompressed ? begin : deflateRawSync(begin)
    const facts = { name, flags: UTF8, method, crc: crc32(begin), packed: packed.length, size: begin.length }
    yield localHeader(facts, stamp)
    yield packed
    return facts
  }
  const facts = { name, flags: UTF8 | LENGTH_BEHIND, method: DEFLATED, crc: 0, packed: 0, size: 0 }
  yield localHeader(facts, stamp)
  async function* counted(): AsyncGenerator<Uint8Array> {
    for (let piece: Uint8Array | undefined = begin; piece; piece = (await pieces.next()).value || undefined) {
      facts.crc = crc32(piece, facts.crc)
      facts.size += piece.length
      yield piece
    }
  }
  const deflate = createDeflateRaw()
  // What goes wrong comes out of the other end.
  pipeline(Readable.from(counted(), { objectMode: false }), deflate, () => {})
  for await (const chunk of deflate as AsyncIterable<Buffer>) {
    facts.packed += chunk.length
    yield chunk
  }
  if (!deflate.closed) await once(deflate, 'close')
  yield descriptorOf(facts)
  return facts
}

/** Gathers small pieces: a line at a time would cost more than packing it. */
async function* bytesOf(content: ZipEntry['content']): AsyncGenerator<Uint8Array, undefined> {
  let gathered: Uint8Array[] = []
  let length = 0
  for await (const piece of content) {
    const bytes = typeof piece === 'string' ? Buffer.from(piece) : piece
    gathered.push(bytes)
    length += bytes.length
    if (length < PIECE_BYTES) continue
    yield Buffer.concat(gathered)
    gathered = []
    length = 0
  }
  if (length > 0) yield Buffer.concat(gathered)
  return undefined
}

const isBehind = ({ flags }: Pick<Listed, 'flags'>): boolean => (flags & LENGTH_BEHIND) !== 0

/** Lengths that come behind are written with 64 bits: nobody knows yet how long it will be. */
function localHeader({ name, flags, method, crc, packed, size }: Omit<Listed, 'at'>, stamp: number): Buffer {
  const behind = isBehind({ flags })
  const header = Buffer.alloc(30)
  header.writeUInt32LE(0x04034b50, 0)
  header.writeUInt16LE(behind ? V45 : V20, 4)
  header.writeUInt16LE(flags, 6)
  header.writeUInt16LE(method, 8)
  header.writeUInt32LE(stamp, 10)
  header.writeUInt32LE(crc, 14)
  header.writeUInt32LE(behind ? MOST_32 : packed, 18)
  header.writeUInt32LE(behind ? MOST_32 : size, 22)
  header.writeUInt16LE(name.length, 26)
  const extra = behind ? wide([0, 0]) : Buffer.alloc(0)
  header.writeUInt16LE(extra.length, 28)
  return Buffer.concat([header, name, extra])
}

function descriptorOf({ crc, packed, size }: Omit<Listed, 'at'>): Buffer {
  const descriptor = Buffer.alloc(24)
  descriptor.writeUInt32LE(0x08074b50, 0)
  descriptor.writeUInt32LE(crc, 4)
  descriptor.writeBigUInt64LE(BigInt(packed), 8)
  descriptor.writeBigUInt64LE(BigInt(size), 16)
  return descriptor
}

function directoryRecord({ name, flags, method, crc, packed, size, at }: Listed, stamp: number): Buffer {
  const over = [size, packed, at].filter((number) => number >= MOST_32)
  const extra = over.length > 0 ? wide(over) : Buffer.alloc(0)
  const record = Buffer.alloc(46)
  record.writeUInt32LE(0x02014b50, 0)
  // Made on Unix, so that the rights below are read as such.
  record.writeUInt16LE((3 << 8) | V45, 4)
  record.writeUInt16LE(isBehind({ flags }) || over.length > 0 ? V45 : V20, 6)
  record.writeUInt16LE(flags, 8)
  record.writeUInt16LE(method, 10)
  record.writeUInt32LE(stamp, 12)
  record.writeUInt32LE(crc, 16)
  record.writeUInt32LE(Math.min(packed, MOST_32), 20)
  record.writeUInt32LE(Math.min(size, MOST_32), 24)
  record.writeUInt16LE(name.length, 28)
  record.writeUInt16LE(extra.length, 30)
  record.writeUInt32LE((0o100600 << 16) >>> 0, 38)
  record.writeUInt32LE(Math.min(at, MOST_32), 42)
  return Buffer.concat([record, name, extra])
}

/** Section 4.5.3: the numbers that did not fit, in the order of the record. */
function wide(numbers: readonly number[]): Buffer {
  const extra = Buffer.alloc(4 + 8 * numbers.length)
  extra.writeUInt16LE(1, 0)
  extra.writeUInt16LE(8 * numbers.length, 2)
  for (const [n, number] of numbers.entries()) extra.writeBigUInt64LE(BigInt(number), 4 + 8 * n)
  return extra
}

function endOf(count: number, directory: number, end: number): Buffer {
  const parts: Buffer[] = []
  if (count >= MOST_16 || directory >= MOST_32) {
    const record = Buffer.alloc(56)
    record.writeUInt32LE(0x06064b50, 0)
    record.writeBigUInt64LE(44n, 4)
    record.writeUInt16LE((3 << 8) | V45, 12)
    record.writeUInt16LE(V45, 14)
    record.writeBigUInt64LE(BigInt(count), 24)
    record.writeBigUInt64LE(BigInt(count), 32)
    record.writeBigUInt64LE(BigInt(end - directory), 40)
    record.writeBigUInt64LE(BigInt(directory), 48)
    const locator = Buffer.alloc(20)
    locator.writeUInt32LE(0x07064b50, 0)
    locator.writeBigUInt64LE(BigInt(end), 8)
    locator.writeUInt32LE(1, 16)
    parts.push(record, locator)
  }
  const last = Buffer.alloc(22)
  last.writeUInt32LE(0x06054b50, 0)
  last.writeUInt16LE(Math.min(count, MOST_16), 8)
  last.writeUInt16LE(Math.min(count, MOST_16), 10)
  last.writeUInt32LE(Math.min(end - directory, MOST_32), 12)
  last.writeUInt32LE(Math.min(directory, MOST_32), 16)
  return Buffer.concat([...parts, last])
}

/** MS-DOS date and time (section 4.4.6), in UTC: time in the low half. */
function dosTime(instant: Date): number {
  const year = Math.min(Math.max(instant.getUTCFullYear(), 1980), 2107)
  const date = ((year - 1980) << 9) | ((instant.getUTCMonth() + 1) << 5) | instant.getUTCDate()
  const time = (instant.getUTCHours() << 11) | (instant.getUTCMinutes() << 5) | (instant.getUTCSeconds() >> 1)
  return ((date << 16) | time) >>> 0
}
