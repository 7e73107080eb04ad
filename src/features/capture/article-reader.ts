import { isBeyondParsing, textOfTree } from '../texts/plain-text.ts'
import { parseMarkdown } from '../texts/plain-text-tree.ts'
import type { Article, ArticlePage } from './article.ts'
import type { DomDocument } from './article-dom.ts'
import { baseOf, parsePage, readWithDefuddle, readWithReadability } from './article-engines.ts'
import type { DefuddleReading } from './article-engines.ts'
import { normaliseMarkup } from './article-markup.ts'
import { limitSource } from './article-source.ts'
import { chooseBody } from './choose-body.ts'
import type { CleanBlock } from './clean-tree-figures.ts'
import { countWords } from './count-words.ts'
import { treeOf, writeMarkdown } from './markdown.ts'
import { renderTree } from './sanitise.ts'
import { readMetadata } from './metadata.ts'
import { authorsFrom } from './metadata-authors.ts'
import { readCivilDate } from './metadata-date.ts'

/** On larger pages only Readability reads: Defuddle takes about seven times as long. */
const READ_TWICE = { tags: 15_000, characters: 1_500_000 }
/** Characters of Markdown up to which plain text and HTML are made from the Markdown itself. */
const MAX_READ_BACK = 1_000_000

/**
 * Reads the article of a page: body, metadata, Markdown, plain text, HTML. Takes up to seconds and hundreds of megabytes on
 * hostile pages: to be run in the worker. Throws `too_large`.
 */
export function readArticle({ html, url }: ArticlePage): Article {
  const source = limitSource(html)
  const document = parsePage(source.html, url)
  const base = baseOf(document, url)
  const metadata = readMetadata(document, base)
  normaliseMarkup(document)
  const warnings: string[] = []
  if (source.isCut)
    warnings.push('The page nests too deeply or is too large; some of its formatting was left out.')

  const first = attempt(() => readWithReadability(document, base)) ?? []
  const isLarge = source.tags > READ_TWICE.tags || source.html.length > READ_TWICE.characters
  const second = isLarge ? undefined : attempt(() => readAgain(source.html, url, base))
  const authors =
    metadata.authors.length > 0 ? metadata.authors : authorsFrom([second?.author ?? ''], metadata.site)
  const title = metadata.title || second?.title.trim() || ''
  const description = metadata.description || second?.description.trim() || null

  const body = chooseBody(first, second?.blocks ?? [], {
    url: base,
    title,
    description: description ?? '',
    authors,
  })
  const written = treeOf(body.blocks.map(({ node }) => node))
  const markdown = writeMarkdown(written)
  // What is stored is what the Markdown says when it is read again, but where that would take too long.
  const tree =
    markdown.length > MAX_READ_BACK || isBeyondParsing(markdown) ? written : parseMarkdown(markdown)
  const plain = textOfTree(tree, markdown)
  return {
    markdown,
    plain,
    html: renderTree(tree),
    title,
    authors,
    site: metadata.site || second?.site.trim() || hostOf(base),
    language: metadata.language || second?.language || null,
    published: metadata.published ?? readCivilDate(second?.published ?? ''),
    description,
    canonicalUrl: metadata.canonicalUrl,
    coverUrl: metadata.coverUrl ?? firstPicture(body.blocks),
    ampUrl: metadata.ampUrl,
    method: body.method,
    words: countWords(plain),
    warnings,
  }
}

/** An extractor that breaks on a page (they recurse, and they trust markup) leaves the page to the other one. */
function attempt<T>(read: () => T): T | undefined {
  try {
    return read()
  } catch {
    return undefined
  }
}

function readAgain(html: string, url: string, base: string): DefuddleReading {
  const document: DomDocument = parsePage(html, url)
  normaliseMarkup(document)
  return readWithDefuddle(document, url, base)
}

function hostOf(url: string): string | null {
  return new URL(url).hostname.replace(/^www\./, '') || null
}

function firstPicture(blocks: readonly CleanBlock[]): string | null {
  for (const { node, role } of blocks) {
    if (role !== 'figure' || node.type !== 'paragraph') continue
    const image = node.children.find((child) => child.type === 'image')
    if (image) return image.url
  }
  return null
}
