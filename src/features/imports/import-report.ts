import { preview } from '../../core/text.ts'

/**
 * What became of a row of the file that is not simply in the items.
 * `refused`: could not go in. `left`: has nothing that is kept (deleted in its own app, a reading position, an item of a feed
 * that nobody saved). `joined`: says the same as another row, or is an earlier version of it. `bookmark`: a page that was
 * marked; these are counted and not kept. `remark`: something to know of a row, mostly of one that went in; no fate of its own.
 */
export type RowFate = 'refused' | 'left' | 'joined' | 'bookmark' | 'remark'

/** Why, for programs; the list is closed and each has its sentence in `SENTENCES`. */
export type RowReason = keyof typeof SENTENCES

export interface RowOutcome {
  /** Its number in the file: rows of a spreadsheet with the header as 1, entries of another file from 1. */
  row: number
  /** Line of a text file at which the row begins, from 1. */
  line: number | null
  /** The file in an archive that the row stands in. */
  part: string | null
  fate: RowFate
  reason: RowReason
  /** One sentence for the reader. */
  message: string
  /** What the row was about: the beginning of its text. */
  excerpt: string
}

const SENTENCES = {
  // refused
  damaged_part: 'This part of the archive is damaged.',
  unrecognised: 'It has not the shape of the other entries of this file.',
  no_words: 'It has neither words nor a note.',
  no_title: 'It does not say which book or page it belongs to.',
  no_address: 'It has no address.',
  not_web: 'Its address is not one of the web.',
  title_elsewhere: 'The title of its book is in another file: give both files at once.',
  clipping_limit: 'The publisher allows no more clippings of this book: Kindle kept no words.',
  open_quote: 'A quotation mark in this row is never closed.',
  too_many_columns: 'It has more columns than the header names.',
  drawing: 'It is a drawing, and has no words.',
  of_others: 'It was marked by somebody else.',
  unsafe_name: 'Its name leads outside the archive.',
  unknown_part: 'It is no part of such an export.',
  // left
  deleted: 'It was deleted where it comes from.',
  position: 'It is only how far somebody has read.',
  feed: 'It came from a feed and was never opened.',
  unread_sample: 'It was never opened and nothing is marked in it.',
  // joined
  repeated: 'It says the same as another row.',
  earlier_version: 'It is an earlier version of a highlight that was changed later.',
  earlier_note: 'It is an earlier version of a note that was changed later.',
  // bookmark
  bookmark: 'It is a bookmark.',
  // remarks
  date_unread: 'Its date could not be read with certainty; it stays undated.',
  time_unread: 'The hour of its date could not be read with certainty; only the day is kept.',
  weekday_odd: 'Its date falls on another day of the week than the one it names.',
  place_unread: 'Where it stands could not be read.',
  kind_guessed: 'Whether it is a highlight or a note was told by its place alone.',
  note_alone: 'The note stands on no highlight of this file; it is kept on the book.',
  cut_by_limit: 'The publisher allows no more: Kindle kept only the beginning.',
  cut_file: 'The file ends within this entry.',
  stray_quote: 'A quotation mark in this row is not closed; it was read to the end of its line.',
  title_from_name: 'The file does not give the title; the name of the book’s file was taken.',
  reply_alone: 'The reply is to something that is not in this file; it is kept on the page.',
  text_unread: 'The text that came with it could not be read; the rest went in.',
  part_unread: 'A part of the archive that belongs to it is damaged or too long; the rest went in.',
} as const

/** Where in the file something stands. */
export interface RowPlace {
  row: number
  line?: number | null
  part?: string | null
  /** The row as text, for the excerpt. */
  text?: string
}

const EXCERPT = 120
/** Outcomes that are kept one by one; beyond, they are only counted. */
const MOST_OUTCOMES = 200_000

/** What a file held, counted row by row. `rows` is the sum of `taken`, refused, left, joined and bookmarks. */
export class ImportReport {
  readonly outcomes: RowOutcome[] = []
  rows = 0
  taken = 0
  readonly counts: Record<RowFate, number> = { refused: 0, left: 0, joined: 0, bookmark: 0, remark: 0 }

  /** A row that is in the items. */
  take(): void {
    this.rows++
    this.taken++
  }

  /** A row that is not in the items. */
  pass(fate: Exclude<RowFate, 'remark'>, reason: RowReason, place: RowPlace): void {
    this.rows++
    this.#add(fate, reason, place)
  }

  /** A row that was taken turns out to be told by another. */
  takeBack(fate: Exclude<RowFate, 'remark'>, reason: RowReason, place: RowPlace): void {
    this.taken--
    this.#add(fate, reason, place)
  }

  /** Something to know of a row. */
  remark(reason: RowReason, place: RowPlace): void {
    this.#add('remark', reason, place)
  }

  #add(fate: RowFate, reason: RowReason, { row, line = null, part = null, text = '' }: RowPlace): void {
    this.counts[fate]++
    if (this.outcomes.length >= MOST_OUTCOMES) return
    const excerpt = preview(
      text
        .slice(0, 4 * EXCERPT)
        .replaceAll(/[\p{Cc}\s]+/gu, ' ')
        .trim(),
      EXCERPT,
    )
    this.outcomes.push({
      row,
      line,
      part,
      fate,
      reason,
      message: SENTENCES[reason],
      excerpt: excerpt.toWellFormed(),
    })
  }
}
