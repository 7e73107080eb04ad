import type { SourceKind } from '../../db/schema.ts'

/** What one page or file turned out to hold, whatever it was made from. */
export interface Captured {
  kind: SourceKind
  /** What made the text: readability, defuddle, pdf, epub, markdown, text. */
  method: string
  markdown: string
  /** Rendered plain text of the Markdown; anchors count its code points. */
  plain: string
  /** Sanitised, or null where the Markdown is all there is. */
  html: string | null
  words: number
  title: string
  authors: string[]
  language: string | null
  site: string | null
  /** `YYYY`, `YYYY-MM` or `YYYY-MM-DD`. */
  published: string | null
  description: string | null
  publisher: string | null
  canonicalUrl: string | null
  coverUrl: string | null
  cover: Uint8Array | null
  isbns: string[]
  /** Pages or chapters, with the code point of the plain text at which each begins. */
  places: unknown[] | null
  warnings: string[]
}
