import { Readability } from '@mozilla/readability'
import { DefuddleClass } from 'defuddle/node'
import { parseHTML } from 'linkedom'
import type { DomDocument, DomElement } from './article-dom.ts'
import { cleanTree } from './clean-tree.ts'
import type { CleanBlock } from './clean-tree-figures.ts'

/** Parses HTML that `limitSource` has made shallow, with what extractors ask of a browser. */
export function parsePage(html: string, url: string): DomDocument {
  const hasHtml = /<html[\s>]/i.test(html.slice(0, 5000))
  // linkedom makes no html, head and body of its own for a fragment.
  const { document } = parseHTML(
    hasHtml ? html : `<!doctype html><html><head></head><body>${html}</body></html>`,
  )
  const page = document as unknown as DomDocument & {
    URL: string
    styleSheets?: unknown[]
    defaultView?: { getComputedStyle?: () => { display: string } }
  }
  page.styleSheets ??= []
  if (page.defaultView && !page.defaultView.getComputedStyle) {
    page.defaultView.getComputedStyle = () => ({ display: '' })
  }
  page.URL = url
  return page
}

/** The address that the page's links are relative to. */
export function baseOf(document: DomDocument, url: string): string {
  const href = document.querySelector('base[href]')?.getAttribute('href') ?? ''
  return URL.canParse(href, url) && /^https?:/.test(new URL(href, url).href) ? new URL(href, url).href : url
}

/** What Mozilla's Readability takes for the article; it changes the document. */
export function readWithReadability(document: DomDocument, base: string): CleanBlock[] {
  const reader = new Readability<DomElement>(document as never, {
    keepClasses: true,
    serializer: (node) => node as unknown as DomElement,
  })
  const content = reader.parse()?.content
  return content ? cleanTree(content, base) : []
}

export interface DefuddleReading {
  blocks: CleanBlock[]
  title: string
  author: string
  site: string
  published: string
  description: string
  image: string
  language: string
}

/** What Defuddle takes for the article, without its way of fetching more (`parse` is its synchronous half). */
export function readWithDefuddle(document: DomDocument, url: string, base: string): DefuddleReading {
  const { content, title, author, site, published, description, image, language } = new DefuddleClass(
    document as never,
    { url, useAsync: false, includeReplies: false },
  ).parse()
  const body = parsePage(`<!doctype html><html><head></head><body>${content}</body></html>`, url).body
  return { blocks: cleanTree(body, base), title, author, site, published, description, image, language }
}
