/** A page as it is given to be read. */
export interface ArticlePage {
  html: string
  /** The address it was fetched from, after redirects: links are relative to it. `about:blank` where there is none. */
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
  /** Whose reading of the page the body is. */
  method: 'readability' | 'defuddle'
  words: number
  /** What the reader should know of how the page was read; sentences. */
  warnings: string[]
}
