/** A page as it is given to be read. */
export interface ArticlePage {
  html: string
  /** The address it was fetched from, after redirects: links are relative to it. `about:blank` where there is none. */
  url: string
}

/** A page as it came: its HTML, or the bytes of it. */
export type GivenPage = (ArticlePage | UndecodedPage) & {
  /** The address that was asked for and how it was answered, so that what stands in the page's place is recognised. */
  asked?: { url: string; status: number } | undefined
}

interface UndecodedPage {
  html?: undefined
  bytes: Uint8Array
  contentType?: string | undefined
  url: string
}

/** What was read out of a page. `markdown` is empty and `words` 0 where it holds no text. */
export interface Article {
  /** GFM with dollar math and footnotes; the title is not repeated in it. */
  markdown: string
  /** Rendered plain text of the Markdown. */
  plain: string
  /** For the reader, sanitised, made by the renderer of `RENDERER_VERSION`. */
  html: string
  title: string
  authors: string[]
  site: string | null
  /** BCP 47. */
  language: string | null
  /** `YYYY`, `YYYY-MM` or `YYYY-MM-DD`. */
  published: string | null
  description: string | null
  canonicalUrl: string | null
  coverUrl: string | null
  ampUrl: string | null
  /** Whose reading of the page the body is; `rough` where it was too much for either. */
  method: 'readability' | 'defuddle' | 'rough'
  words: number
  /** What the reader should know of how the page was read; sentences. */
  warnings: string[]
}
