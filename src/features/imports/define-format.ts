import type { ImportFile } from './import-file.ts'
import type { ImportReport } from './import-report.ts'
import type { ImportedItem } from './imported.ts'

/** One kind of file that other programs write and this one can take in: a file of `formats/` and a line in `formats.ts`. */
export interface ImportFormat {
  /** Kebab-case; stands in reports and in the library. */
  id: string
  /** As people call it. */
  title: string
  /** Whether the files that are given together belong to one import; else each is one. */
  isOneOfSeveral?: boolean
  /** Whether a later file may have a later version of a highlight without the earlier one. */
  keepsVersions?: boolean
  /** By content alone: names of files say nothing. Fails only with what makes the file unreadable for all formats. */
  recognises(file: ImportFile): boolean
  /**
   * The file's sources: of books each once; of a list of links a page comes again where a later row has something new for it.
   * Every row of the file is taken or passed in the report, and none ends the reading; what
   * makes the whole file unreadable is a `Failure`.
   */
  read(file: ImportFile, report: ImportReport): AsyncIterable<ImportedItem>
}
