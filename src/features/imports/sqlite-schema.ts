import { Failure } from '../../core/failure.ts'

export interface SqliteTable {
  name: string
  /** What made it: `CREATE TABLE …`. */
  sql: string
  /** False for views and for tables that a module answers for. */
  isPlain: boolean
}

const MOST_PAGES = 10_000
const MOST_DEPTH = 20

/**
 * The tables that a database file names, read from its first pages (https://sqlite.org/fileformat2.html) without running
 * SQLite on it: that is how a foreign file is told from an export before anything is trusted in it.
 *
 * Fails with `damaged_file`.
 */
export function readSqliteSchema(bytes: Uint8Array): SqliteTable[] {
  try {
    return readTables(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength))
  } catch (error) {
    throw damagedDatabase(error)
  }
}

export function damagedDatabase(cause: unknown): Failure {
  return new Failure('damaged_file', 'The database cannot be read: it is cut off or damaged.', {
    hint: 'Copy it again from the device, with the program that uses it closed.',
    cause,
  })
}

function readTables(file: Buffer): SqliteTable[] {
  const size = file.readUInt16BE(16)
  const pageSize = size === 1 ? 65_536 : size
  if (pageSize < 512 || (pageSize & (pageSize - 1)) !== 0) throw new Error('page size')
  const usable = pageSize - (file[20] ?? 0)
  const encoding = file.readUInt32BE(56)
  const tables: SqliteTable[] = []
  const seen = new Set<number>()
  const visit = (page: number, depth: number): void => {
    // A page that is reached twice would make a small file read for ever.
    if (seen.has(page) || seen.size > MOST_PAGES || depth > MOST_DEPTH) throw new Error('page tree')
    seen.add(page)
    const start = (page - 1) * pageSize
    if (page < 1 || start + pageSize > file.length) throw new Error('page number')
    const at = page === 1 ? 100 : 0
    const header = start + at
    const kind = file[header]
    const cells = file.readUInt16BE(header + 3)
    const first = header + (kind === 5 ? 12 : 8)
    if (kind !== 5 && kind !== 13) throw new Error('page kind')
    for (let i = 0; i < cells; i++) {
      const cell = start + file.readUInt16BE(first + 2 * i)
      if (kind === 5) visit(file.readUInt32BE(cell), depth + 1)
      else {
        const table = readRow(file, cell, pageSize, usable, encoding)
        if (table) tables.push(table)
      }
    }
    if (kind === 5) visit(file.readUInt32BE(header + 8), depth + 1)
  }
  visit(1, 0)
  return tables
}

function readRow(
  file: Buffer,
  cell: number,
  pageSize: number,
  usable: number,
  encoding: number,
): SqliteTable | undefined {
  const [length, afterLength] = varint(file, cell)
  const [, start] = varint(file, afterLength)
  const payload = payloadOf(file, start, length, pageSize, usable)
  const [headerLength, afterHeader] = varint(payload, 0)
  const values: (string | number | null)[] = []
  let body = headerLength
  for (let at = afterHeader; at < headerLength && values.length < 5;) {
    const [type, next] = varint(payload, at)
    at = next
    const width = widthOf(type)
    values.push(type >= 13 && type % 2 === 1 ? textOf(payload.subarray(body, body + width), encoding) : null)
    body += width
  }
  const [type, name, , , sql] = values
  if ((type !== 'table' && type !== 'view') || typeof name !== 'string' || typeof sql !== 'string')
    return undefined
  return { name, sql, isPlain: type === 'table' && !/^\s*create\s+virtual\b/i.test(sql) }
}

const MOST_PAYLOAD = 2 ** 20

/** A row's bytes: in its cell or, from some length on, continued on a chain of pages. */
function payloadOf(file: Buffer, start: number, length: number, pageSize: number, usable: number): Buffer {
  if (length > MOST_PAYLOAD) throw new Error('row length')
  const most = usable - 35
  if (length <= most) return file.subarray(start, start + length)
  const least = Math.floor(((usable - 12) * 32) / 255) - 23
  const fit = least + ((length - least) % (usable - 4))
  const inCell = fit <= most ? fit : least
  const parts = [file.subarray(start, start + inCell)]
  let next = file.readUInt32BE(start + inCell)
  for (let left = length - inCell; left > 0;) {
    const page = (next - 1) * pageSize
    const take = Math.min(left, usable - 4)
    if (next < 1 || page + 4 + take > file.length) throw new Error('overflow page')
    parts.push(file.subarray(page + 4, page + 4 + take))
    next = file.readUInt32BE(page)
    left -= take
  }
  return Buffer.concat(parts)
}

function varint(bytes: Buffer, at: number): [value: number, next: number] {
  let value = 0
  for (let i = 0; i < 8; i++) {
    const byte = bytes.readUInt8(at + i)
    value = value * 128 + (byte & 0x7f)
    if (byte < 0x80) return [value, at + i + 1]
  }
  return [value * 256 + bytes.readUInt8(at + 8), at + 9]
}

function widthOf(type: number): number {
  if (type >= 12) return Math.floor((type - 12) / 2)
  return [0, 1, 2, 3, 4, 6, 8, 8, 0, 0, 0, 0][type] ?? 0
}

function textOf(bytes: Buffer, encoding: number): string {
  if (encoding === 2) return bytes.toString('utf16le')
  if (encoding === 3)
    return Buffer.from(bytes.subarray(0, bytes.length & ~1))
      .swap16()
      .toString('utf16le')
  return bytes.toString('utf8')
}
