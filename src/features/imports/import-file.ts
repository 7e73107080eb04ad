import { Failure } from '../../core/failure.ts'
import { decodeText } from '../capture/decode-text.ts'
import { openArchive, type ImportArchive } from './archive.ts'
import { csvRows, findCsvHeader, type CsvHeader, type CsvRow } from './csv-table.ts'
import type { ImportReport } from './import-report.ts'
import { readSqliteSchema, type SqliteTable } from './sqlite-schema.ts'

/** Larger than any export known; what holds whole books or pages comes through other doors. */
const MOST_BYTES = 2 ** 30
const MOST_TEXT_BYTES = 256 * 2 ** 20
const HEAD_BYTES = 64 * 1024

/** A file as it was given, and views of it that are made when they are first asked for. */
export class ImportFile {
  readonly bytes: Uint8Array
  /** Files that were given with it, of which some formats need a second. */
  readonly beside: readonly ImportFile[]
  #head: string | undefined
  #text: string | undefined
  #json: { value: unknown } | undefined
  #csv: { header: CsvHeader | undefined } | undefined
  #archive: ImportArchive | undefined
  #tables: readonly SqliteTable[] | undefined

  /** Fails with `too_large`. */
  constructor(bytes: Uint8Array, beside: readonly Uint8Array[] = []) {
    if (bytes.byteLength > MOST_BYTES) throw tooLarge()
    this.bytes = bytes
    this.beside = beside.map((other) => new ImportFile(other))
  }

  get isSqlite(): boolean {
    return this.#begins('SQLite format 3\0')
  }

  get isZip(): boolean {
    return this.#begins('PK\x03\x04') || this.#begins('PK\x05\x06')
  }

  /** The beginning as text, without a byte order mark; empty for archives and databases. */
  get head(): string {
    return (this.#head ??=
      this.isSqlite || this.isZip ? '' : withoutMark(decodeText(beginningOf(this.bytes)).text))
  }

  /** All of it as text, in whatever encoding it is. Fails with `too_large`. */
  get text(): string {
    if (this.bytes.byteLength > MOST_TEXT_BYTES) throw tooLarge()
    return (this.#text ??= withoutMark(decodeText(this.bytes).text))
  }

  /** Whether it looks like JSON from its first character. */
  get isJson(): boolean {
    return /^\s*[[{]/.test(this.head.slice(0, 1000))
  }

  /** Undefined where it is no JSON, or not whole. */
  get json(): unknown {
    this.#json ??= { value: this.isJson ? parsed(this.text) : undefined }
    return this.#json.value
  }

  /** The names of its columns, where its first lines are those of a table. */
  get csv(): CsvHeader | undefined {
    this.#csv ??= { header: findCsvHeader(this.head) }
    return this.#csv.header
  }

  /** The rows under that header; none where there is no table. Fails with `too_large`. */
  csvRows(report: ImportReport, numbers = { row: 1 }, part: string | null = null): Iterable<CsvRow> {
    const header = findCsvHeader(this.text.slice(0, HEAD_BYTES))
    return header ? csvRows(this.text, header, report, numbers, part) : []
  }

  /** Fails with `damaged_file` or `too_large`. */
  get archive(): ImportArchive {
    return (this.#archive ??= openArchive(this.bytes))
  }

  /** The tables of a database; none for another file. Fails with `damaged_file`. */
  get tables(): readonly SqliteTable[] {
    return (this.#tables ??= this.isSqlite ? readSqliteSchema(this.bytes) : [])
  }

  hasTable(name: string): boolean {
    return this.tables.some((table) => table.name.toLowerCase() === name.toLowerCase())
  }

  #begins(magic: string): boolean {
    return Buffer.from(this.bytes.buffer, this.bytes.byteOffset, Math.min(16, this.bytes.byteLength))
      .toString('latin1')
      .startsWith(magic)
  }
}

/** Whole lines, so that no character is cut in two. */
function beginningOf(bytes: Uint8Array): Uint8Array {
  if (bytes.byteLength <= HEAD_BYTES) return bytes
  const lineEnd = bytes.subarray(0, HEAD_BYTES).lastIndexOf(10)
  if (lineEnd === -1) return bytes.subarray(0, HEAD_BYTES)
  // In 16-bit units the second byte of a line end may be zero.
  return bytes.subarray(0, lineEnd + (bytes[lineEnd + 1] === 0 ? 2 : 1))
}

const withoutMark = (text: string): string => text.replace(/^\uFEFF+/, '')

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function tooLarge(): Failure {
  return new Failure('too_large', 'The file is larger than any export of this kind.', {
    hint: 'If it really is one, export in parts, such as one year at a time, and import them one by one.',
  })
}
