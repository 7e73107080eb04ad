import type { Paragraph, PhrasingContent } from 'mdast'
import { gfmToMarkdown } from 'mdast-util-gfm'
import { mathToMarkdown } from 'mdast-util-math'
import { toMarkdown } from 'mdast-util-to-markdown'
import { Failure } from '../../core/failure.ts'
import { civilDate } from './civil-date.ts'
import { languageTag } from './language-tag.ts'
import { linkedText } from './linked-text.ts'
import { splitFrontMatter, type FrontMatter } from './plain-file-front-matter.ts'

/** A Markdown or text file. */
export interface PlainFile {
  markdown: string
  title: string
  authors: string[]
  /** `YYYY`, `YYYY-MM` or `YYYY-MM-DD`. */
  published: string | null
  language: string | null
  description: string | null
  /** Where the text came from, by its front matter. */
  canonicalUrl: string | null
}

export interface PlainFileFacts {
  kind: 'markdown' | 'text'
  /** Name of the file. */
  name?: string | undefined
  /** Spends no time on the form of a text: every sign of it is escaped, addresses are not linked. */
  roughly?: boolean | undefined
}

const LONGEST_TEXT = 20_000_000
const LONGEST_TITLE = 120
/** Lines that are longer are no headings, and a title is looked for in so many characters. */
const LONGEST_HEADING = 2000
const TITLE_WITHIN = 20_000

/**
 * Reads a file of decoded text. Markdown stays the reader's own, without its front matter, which is read for title,
 * author, date, language and address. In a text every paragraph stays one, and signs that Markdown would take for its own
 * are escaped.
 *
 * Fails with `too_large`.
 */
export function readPlainFile(text: string, { kind, name, roughly }: PlainFileFacts): PlainFile {
  if (text.length > LONGEST_TEXT) {
    throw new Failure('too_large', 'The file is longer than 20 million characters.', {
      hint: 'Split it and add the parts.',
    })
  }
  const clean = text
    .replace(/^\ufeff/u, '')
    .replaceAll(/\r\n?/gu, '\n')
    .replaceAll('\0', '')
    .toWellFormed()
  return kind === 'markdown' ? readMarkdown(clean, name) : readText(clean, name, roughly)
}

function readMarkdown(text: string, name: string | undefined): PlainFile {
  const { matter, body } = splitFrontMatter(text)
  const one = (...keys: string[]): string | undefined => keys.map((key) => matter.get(key)?.[0]).find(Boolean)
  return {
    markdown: `${body.replace(/^(?:[ \t]*\n)+/u, '').trimEnd()}\n`,
    title: one('title') ?? topHeading(body) ?? titleFromName(name) ?? firstLine(body) ?? '',
    authors: authorsOf(matter),
    published:
      [one('published', 'publishdate'), one('date'), one('created')].map(civilDate).find(Boolean) ?? null,
    language: languageTag(one('lang', 'language')),
    description: one('description', 'summary', 'abstract') ?? null,
    canonicalUrl:
      [one('canonical', 'canonical_url'), one('url'), one('source'), one('link')].find(isWebAddress) ?? null,
  }
}

function authorsOf(matter: FrontMatter): string[] {
  const stated = matter.get('authors') ?? matter.get('author') ?? []
  const names = stated.length === 1 ? (stated[0] ?? '').split(/\s*;\s*|\s+and\s+|\s+&\s+/u) : stated
  return [...new Set(names.map((author) => author.replaceAll(/^\[\[|\]\]$/gu, '').trim()).filter(Boolean))]
}

function isWebAddress(url: string | undefined): url is string {
  return url !== undefined && /^https?:\/\//iu.test(url) && URL.canParse(url)
}

/** The first heading of the first level, outside code; its marks are taken off. */
function topHeading(markdown: string): string | undefined {
  let fence: string | undefined
  let last = ''
  for (const line of markdown.split('\n')) {
    const mark = /^ {0,3}(`{3,}|~{3,})/u.exec(line)?.[1]
    if (fence === undefined) fence = mark
    else if (mark?.startsWith(fence)) fence = undefined
    if (fence === undefined && mark === undefined && line.length <= LONGEST_HEADING) {
      const heading =
        /^ {0,3}#\s+(.*?)(?:\s+#+)?\s*$/u.exec(line)?.[1] ?? (/^ {0,3}=+\s*$/u.test(line) ? last : '')
      const title = unmarked(heading)
      if (title !== '') return title.slice(0, 300)
    }
    last = line.length <= LONGEST_HEADING ? line : ''
  }
  return undefined
}

function unmarked(line: string): string {
  return line
    .replaceAll(/!?\[([^\][]*)\]\([^()\s]*\)/gu, '$1')
    .replaceAll(/(?<!\\)[*_`~]+/gu, (marks) => (marks.startsWith('_') && marks.length === 1 ? marks : ''))
    .replaceAll(/\\([!-/:-@[-`{-~])/gu, '$1')
    .replaceAll(/\s+/gu, ' ')
    .trim()
}

function readText(text: string, name: string | undefined, roughly = false): PlainFile {
  const paragraphs = text.split(/\n[^\S\n]*(?:\n[^\S\n]*)+|\f/u).map(linesIn)
  const filled = paragraphs.filter((lines) => lines.length > 0)
  let width = 0
  for (const lines of filled) for (const line of lines) width = Math.max(width, line.length)
  const first = filled[0]
  const title = first?.length === 1 && isTitle(first[0] ?? '') ? first[0] : undefined
  return {
    markdown: roughly
      ? `${filled.map((lines) => escaped(lines.join(' '))).join('\n\n')}\n`
      : toMarkdown(
          { type: 'root', children: filled.map((lines) => paragraphOf(lines, width)) },
          { extensions: [gfmToMarkdown(), mathToMarkdown()] },
        ),
    title: title ?? titleFromName(name) ?? firstLine(text) ?? '',
    authors: [],
    published: null,
    language: null,
    description: null,
    canonicalUrl: null,
  }
}

/** Every mark that could mean something to Markdown. */
function escaped(text: string): string {
  return text.replaceAll(/[!-/:-@[-`{-~]/gu, '\\$&')
}

function linesIn(paragraph: string): string[] {
  return paragraph
    .split('\n')
    .map((line) => line.replaceAll(/\s+/gu, ' ').trim())
    .filter((line) => line !== '')
}

/** A line of its own, short, that does not end as a sentence does. */
function isTitle(line: string): boolean {
  return line.length <= LONGEST_TITLE && /[\p{L}\p{N}]/u.test(line) && !/[.,;:]$/u.test(line)
}

/**
 * Lines that a program wrapped flow together; lines that a person ended (verse, an address) stay lines. Wrapped lines
 * are nearly as long as the longest one of the file, and that one is as long as programs wrap.
 */
function paragraphOf(lines: readonly string[], width: number): Paragraph {
  const isWrapped = width > 45 && lines.slice(0, -1).every((line) => line.length > 0.6 * Math.min(width, 80))
  if (isWrapped) return { type: 'paragraph', children: linkedText(lines.join(' ')) }
  const children = lines.flatMap((value, index): PhrasingContent[] =>
    index === 0 ? linkedText(value) : [{ type: 'break' }, ...linkedText(value)],
  )
  return { type: 'paragraph', children }
}

/** `2024-05_on-reading.txt` is "2024-05 on-reading": underscores are spaces, hyphens too where there is no space. */
function titleFromName(name: string | undefined): string | undefined {
  const bare = (name ?? '')
    .replace(/^.*[/\\]/u, '')
    .replace(/\.[a-z0-9]{1,8}$/iu, '')
    .replaceAll('_', ' ')
  const title = (bare.includes(' ') ? bare : bare.replaceAll(/(?<=\p{L})-(?=\p{L})/gu, ' ')).trim()
  return /[\p{L}\p{N}]/u.test(title) && !/^(?:stdin|untitled|document|index|readme)$/iu.test(title)
    ? title
    : undefined
}

function firstLine(text: string): string | undefined {
  const line = text
    .slice(0, TITLE_WITHIN)
    .split('\n')
    .map((each) => unmarked(each.replace(/^[\s>#*+-]+/u, '')))
    .find((each) => /[\p{L}\p{N}]/u.test(each))
  if (line === undefined || line.length <= LONGEST_TITLE) return line
  return `${line.slice(0, LONGEST_TITLE).replace(/\s+\S*$/u, '')}…`.toWellFormed()
}
