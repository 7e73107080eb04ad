import { isBeyondParsing, textOfTree } from '../texts/plain-text.ts'
import { parseMarkdown } from '../texts/plain-text-tree.ts'
import type { Article, ArticlePage } from './article.ts'
import type { DomDocument } from './article-dom.ts'
import { baseOf, parsePage, readWithDefuddle, readWithReadability } from './article-engines.ts'
import type { DefuddleReading } from './article-engines.ts'
import { normaliseMarkup } from './article-markup.ts'
import { readRoughly } from './article-rough.ts'
import { limitSource } from './article-source.ts'
import type { ArticleSource } from './article-source.ts'
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
/** On pages of more characters nobody reads: their words are taken as they stand. */
const MAX_EXTRACTED = 5_500_000
const LONGEST_HEAD = 300_000

/**
 * Reads the article of a page: body, metadata, Markdown, plain text, HTML. Takes up to seconds and hundreds of megabytes on
 * hostile pages: to be run in the worker; `roughly` takes a tenth of both and leaves out the form. Throws `too_large`.
 */
export function readArticle({ html, url }: ArticlePage, { roughly = false } = {}): Article {
  const source = limitSource(html)
  if (roughly || source.html.length > MAX_EXTRACTED) return readWordsOf(source, url)
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
  const words = countWords(plain)
  if (words === 0 && (isLarge || source.isCut)) return readWordsOf(source, url)
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
    words,
    warnings,
  }
}

function readWordsOf(source: ArticleSource, url: string): Article {
  const document = parsePage(headOf(source.html), url)
  const base = baseOf(document, url)
  const { title, site, ...metadata } = readMetadata(document, base)
  const tree = treeOf(readRoughly(source.html))
  const first = tree.children[0]
  const heading = first?.type === 'heading' ? textOfTree({ type: 'root', children: [first] }, '') : ''
  if (heading !== '' && heading === (title ?? heading)) tree.children.shift()
  const markdown = writeMarkdown(tree)
  const plain = textOfTree(tree, markdown)
  return {
    ...metadata,
    markdown,
    plain,
    html: renderTree(tree),
    title: title ?? heading,
    site: site ?? hostOf(base),
    method: 'rough',
    words: countWords(plain),
    warnings: [
      'The page is too much to be read in full: its words were kept without links, pictures and tables.',
    ],
  }
}

/** Where a page speaks of itself: all before its body, whether or not tags say where that begins. */
function headOf(html: string): string {
  const start = html.slice(0, LONGEST_HEAD)
  const end = /<\/head>|<(?:body|main|article|header|nav|div|p|h1|table)[\s>]/i.exec(start)?.index
  return `${start.slice(0, end)}</head><body></body></html>`
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
