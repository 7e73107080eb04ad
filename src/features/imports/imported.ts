import type { ReadTable, SourceKind } from '../../db/schema.ts'
import type { WrittenTime } from './written-time.ts'

/** Where in a work something stands, as far as the file says; what it does not say is absent. */
export interface ImportedLocator {
  /** As printed: `12`, `xii`, `12-13`. */
  page?: string
  /** Kindle's own count, both ends included: `1234-1236`, `1234`. */
  location?: string
  /** EPUB canonical fragment identifier, with or without `epubcfi(…)`, as the file gives it. */
  cfi?: string
  /** From the beginning of a recording. */
  seconds?: number
  /** Of the work, 0 to 100. */
  percent?: number
  chapter?: string
  /** Words of the file that say where, when they are none of the above. */
  label?: string
}

export interface ImportedNote {
  body: string
  created: WrittenTime | null
  locator: ImportedLocator | null
  /** Who wrote it, when the file says that it was not the reader (a reply in a discussion). */
  by: string | null
  /** The row of the file that it came from. */
  row: number
}

export interface ImportedHighlight {
  quote: string
  /** Words around it, which some files give and which help to find it in a text. */
  prefix: string | null
  suffix: string | null
  locator: ImportedLocator | null
  notes: ImportedNote[]
  /** A colour's name in lower case, as the file calls it. */
  color: string | null
  tags: string[]
  favourite: boolean
  created: WrittenTime | null
  /** What the file has for a date where it could not be read as one. */
  unreadDate: string | null
  /** Words of earlier versions of this highlight in the same file, the oldest first. */
  earlier: string[]
  row: number
}

export interface ImportedSource {
  kind: SourceKind
  /** Null only where there is an address. */
  title: string | null
  authors: string[]
  /** As given; http or https. */
  url: string | null
  /** As ISBN-13, check digit verified. */
  isbns: string[]
  language: string | null
  /** `YYYY`, `YYYY-MM` or `YYYY-MM-DD`. */
  published: string | null
  publisher: string | null
  site: string | null
  description: string | null
  coverUrl: string | null
}

/** What the file says about the reading of a source; null and false where it says nothing. */
export interface ImportedReading {
  /** When it was put on a list there. */
  saved: WrittenTime | null
  /** Put away there, which readers of read-later lists do with what they have read. */
  archived: boolean
  favourite: boolean
  /** 0 to 100. */
  percent: number | null
  /** Only where the file itself speaks of reading, never derived from `archived`. */
  status: ReadTable['status'] | null
  startedOn: string | null
  finishedOn: string | null
  /** 1 to 20 quarters of a star. */
  rating: number | null
  review: string | null
}

/** A text that the file carries for a source. */
export interface ImportedText {
  format: 'html' | 'markdown' | 'text'
  body: string
}

/** One source of an imported file with everything that the file has about it. */
export interface ImportedItem {
  source: ImportedSource
  /** In reading order where the file tells it, else in the order of the file. */
  highlights: ImportedHighlight[]
  /** About the source as a whole, and notes that stand on no highlight. */
  notes: ImportedNote[]
  /** The reader's one private note of a book. */
  privateNote: string | null
  tags: string[]
  /** Names of the folders that it lay in, the outermost first. */
  folder: string[]
  reading: ImportedReading
  text: ImportedText | null
  /** Rows of the file that say that there is this source; those of highlights and notes are with them. */
  rows: number[]
}

export const noSource = (kind: SourceKind): ImportedSource => ({
  kind,
  title: null,
  authors: [],
  url: null,
  isbns: [],
  language: null,
  published: null,
  publisher: null,
  site: null,
  description: null,
  coverUrl: null,
})

const NO_READING: ImportedReading = {
  saved: null,
  archived: false,
  favourite: false,
  percent: null,
  status: null,
  startedOn: null,
  finishedOn: null,
  rating: null,
  review: null,
}

/** An item with nothing in it but its source. */
export const itemOf = (source: ImportedSource, rows: number[] = []): ImportedItem => ({
  source,
  highlights: [],
  notes: [],
  privateNote: null,
  tags: [],
  folder: [],
  reading: { ...NO_READING },
  text: null,
  rows,
})

/** A highlight of which only the words are known. */
export const highlightOf = (quote: string, row: number): ImportedHighlight => ({
  quote,
  prefix: null,
  suffix: null,
  locator: null,
  notes: [],
  color: null,
  tags: [],
  favourite: false,
  created: null,
  unreadDate: null,
  earlier: [],
  row,
})

export const noteOf = (body: string, row: number): ImportedNote => ({
  body,
  created: null,
  locator: null,
  by: null,
  row,
})
