import { Failure } from '../../core/failure.ts'
import type { ImportFormat } from './define-format.ts'
import { appleBooks } from './formats/apple-books.ts'
import { commonplaceCsv } from './formats/commonplace-csv.ts'
import { hypothesisJson } from './formats/hypothesis-json.ts'
import { instapaperCsv } from './formats/instapaper-csv.ts'
import { kindleAppCsv } from './formats/kindle-app-csv.ts'
import { kindleClippings } from './formats/kindle-clippings.ts'
import { kobo } from './formats/kobo.ts'
import { koreaderJson } from './formats/koreader-json.ts'
import { koreaderLua } from './formats/koreader-lua.ts'
import { netscapeBookmarks } from './formats/netscape-bookmarks.ts'
import { omnivoreZip } from './formats/omnivore-zip.ts'
import { pocketCsv } from './formats/pocket-csv.ts'
import { pocketHtml } from './formats/pocket-html.ts'
import { pocketZip } from './formats/pocket-zip.ts'
import { raindropCsv } from './formats/raindrop-csv.ts'
import { readerCsv } from './formats/reader-csv.ts'
import { readwiseCsv } from './formats/readwise-csv.ts'
import { ImportFile } from './import-file.ts'
import type { ImportReport } from './import-report.ts'
import type { ImportedItem } from './imported.ts'

/** Every kind of file that can be taken in; of two that recognise a file the first has it. */
export const FORMATS: readonly ImportFormat[] = [
  commonplaceCsv,
  kindleClippings,
  kindleAppCsv,
  readwiseCsv,
  readerCsv,
  instapaperCsv,
  pocketCsv,
  pocketHtml,
  pocketZip,
  raindropCsv,
  omnivoreZip,
  hypothesisJson,
  koreaderJson,
  koreaderLua,
  kobo,
  appleBooks,
  netscapeBookmarks,
]

/**
 * Which kind of export a file is, told by its content and never by its name. `beside` are files that were given with it: Apple
 * Books keeps titles and highlights in two.
 *
 * Fails with `unsupported_type` where it is none that is known, `damaged_file` or `too_large`.
 */
export function detectFormat(bytes: Uint8Array, beside: readonly Uint8Array[] = []): ImportFormat {
  return formatOf(new ImportFile(bytes, beside))
}

export interface OpenImport {
  format: ImportFormat
  /** Everything in the file, source by source; the report is complete when it has ended. */
  items: AsyncIterable<ImportedItem>
}

/** Opens an export for reading. Fails as `detectFormat` does; the items fail with `damaged_file` or `too_large`. */
export function openImport(
  bytes: Uint8Array,
  report: ImportReport,
  beside: readonly Uint8Array[] = [],
): OpenImport {
  const file = new ImportFile(bytes, beside)
  const format = formatOf(file)
  return { format, items: format.read(file, report) }
}

function formatOf(file: ImportFile): ImportFormat {
  if (file.bytes.byteLength === 0 || (file.head.trim() === '' && !file.isSqlite && !file.isZip)) throw empty()
  const format = FORMATS.find((candidate) => candidate.recognises(file))
  if (format) return format
  if (file.isJson && file.json === undefined) throw brokenJson()
  throw unknown(file)
}

function empty(): Failure {
  return new Failure('damaged_file', 'The file is empty.', {
    hint: 'Export it again, or choose another file.',
  })
}

function brokenJson(): Failure {
  return new Failure(
    'damaged_file',
    'The file begins as JSON and does not end as such: it is cut off or damaged.',
    {
      hint: 'Export or download it again.',
    },
  )
}

function unknown(file: ImportFile): Failure {
  const what = file.isSqlite
    ? 'The database is not one of Kobo or Apple Books.'
    : file.isZip
      ? 'The archive is no export that is known here.'
      : 'The file is no export that is known here.'
  return new Failure('unsupported_type', what, {
    hint: `Files that can be imported: ${FORMATS.map((format) => format.title).join('; ')}. A page, PDF, EPUB, text or caption file is added with "commonplace add" instead.`,
  })
}
