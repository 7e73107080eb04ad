import type { Nodes, Parents, Root } from 'mdast'
import { parseMarkdown, sourceOf } from './plain-text-tree.ts'

/** Deepest nesting of quotes and lists that the parser is trusted with. */
const MAX_NESTING = 100

/**
 * The rendered text of Markdown: what a reader sees, which highlights are anchored to (offsets count its Unicode code
 * points). Blocks are parted by an empty line, items and rows by a line end, cells by a tab; a hard break and `<br>` are
 * line ends, a soft one is a space; code and formulas keep their source, images give their alternative text, footnotes
 * come at the end in their order. No word is ever joined to its neighbour. The same Markdown gives the same text.
 */
export function plainTextOf(markdown: string): string {
  if (isBeyondParsing(markdown)) return roughTextOf(markdown)
  let tree: Root
  try {
    tree = parseMarkdown(markdown)
  } catch (error) {
    // The parser's own recursion ran out: better plain than none.
    if (error instanceof RangeError) return roughTextOf(markdown)
    throw error
  }
  return textOfTree(tree, markdown)
}

/** The same for a tree that is there already. */
export function textOfTree(tree: Root, markdown: string): string {
  const notes: string[] = []
  const body = blocksText(tree, { markdown, notes })
  return [body, ...notes].filter(Boolean).join('\n\n')
}

interface Writing {
  markdown: string
  notes: string[]
}

function blocksText(parent: Parents, writing: Writing, gap = '\n\n'): string {
  const parts: string[] = []
  for (const child of parent.children) {
    const text = blockText(child, writing)
    if (text) parts.push(text)
  }
  return parts.join(gap)
}

function blockText(node: Nodes, writing: Writing): string {
  switch (node.type) {
    case 'paragraph':
    case 'heading':
      return trimLines(inlineText(node, writing))
    case 'list':
      return blocksText(node, writing, node.spread ? '\n\n' : '\n')
    case 'listItem':
      return blocksText(node, writing, node.spread ? '\n\n' : '\n')
    case 'blockquote':
      return blocksText(node, writing)
    case 'table':
      return blocksText(node, writing, '\n')
    case 'tableRow':
      return node.children
        .map((cell) => trimLines(inlineText(cell, writing)))
        .join('\t')
        .trimEnd()
    case 'code':
    case 'math':
      return node.value
    case 'html':
      return trimLines(htmlText(node.value, '\n'))
    case 'footnoteDefinition':
      writing.notes.push(blocksText(node, writing))
      return ''
    default:
      return ''
  }
}

function inlineText(parent: Parents, writing: Writing): string {
  let text = ''
  for (const node of parent.children) {
    switch (node.type) {
      case 'text':
        text += node.value.replace(/\s*\n\s*/g, ' ')
        break
      case 'inlineCode':
        text += node.value
        break
      case 'inlineMath':
        text += sourceOf(node, writing.markdown) || `$${node.value}$`
        break
      case 'break':
        text = `${text.trimEnd()}\n`
        break
      case 'image':
      case 'imageReference':
        // Set apart, so that an image between words does not join them.
        if (node.alt) text += `${text && !/\s$/.test(text) ? ' ' : ''}${node.alt} `
        break
      case 'html':
        text += htmlText(node.value, '')
        break
      default:
        if ('children' in node) text += inlineText(node, writing)
    }
  }
  return text
}

/** What a piece of HTML inside Markdown says: `<br>` and block tags are line ends, other tags are `joint`. */
function htmlText(html: string, joint: '' | '\n'): string {
  if (html.startsWith('<!--')) return ''
  return html
    .replace(/<(script|style)\b[^]*?(?:<\/\1\s*>|$)/gi, '')
    .replace(
      /<(?:br|\/?(?:p|div|li|tr|h[1-6]|ul|ol|table|blockquote|section|article|summary|details))\b[^<>]*>/gi,
      '\n',
    )
    .replace(/<\/?[a-z][^<>]*>/gi, joint === '\n' ? ' ' : '')
    .replace(/&(amp|lt|gt|quot|nbsp|#39);/g, (_all, name: string) => ENTITIES[name] ?? '')
}

const ENTITIES: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', nbsp: ' ', '#39': "'" }

function trimLines(text: string): string {
  return text
    .replace(/[ \t]+/g, ' ')
    .replace(/ ?\n ?/g, '\n')
    .replace(/\n{3,}/g, '\n\n')
    .trim()
}

/** Most marks of emphasis, links and code in one paragraph: the parser's time grows with their square. */
const MAX_MARKS = 2000
/** Most lines of one paragraph, likewise. */
const MAX_LINES = 3000

/**
 * True for sources that no one writes and parsers overflow or crawl on: quotes and lists nested over MAX_NESTING deep, or
 * thousands of marks, addresses or lines in one paragraph.
 */
export function isBeyondParsing(markdown: string): boolean {
  const nested = new RegExp(
    `^(?:[ \\t]*(?:>|[-+*]|\\d{1,9}[.)])){${MAX_NESTING}}|^ {${MAX_NESTING * 2},}[-+*>\\d]`,
    'm',
  )
  if (nested.test(markdown)) return true
  let marks = 0
  let lines = 0
  let isCode = false
  for (let at = 0; at < markdown.length;) {
    const lineEnd = markdown.indexOf('\n', at)
    const end = lineEnd === -1 ? markdown.length : lineEnd
    // A line that begins a block of its own (item, quote, heading, row, nothing at all) begins a count of its own.
    const begin = markdown.slice(at, Math.min(end, at + 40))
    if (/^[\s>]*(?:[-+*>#|]|\d{1,9}[.)]|$)/.test(begin)) marks = lines = 0
    // Lines of code are taken as they are.
    if (/^[\s>]*(?:```|~~~)/.test(begin)) isCode = !isCode
    if (isCode) lines = 0
    else lines++
    for (let position = at; position < end; position++) {
      const code = markdown.charCodeAt(position)
      // A run of stars or ticks is one mark, each bracket is one.
      if (isMark(code) && (isBracket(code) || code !== markdown.charCodeAt(position - 1))) marks++
    }
    if (marks > MAX_MARKS || lines > MAX_LINES) return true
    at = end + 1
  }
  return false
}

function isBracket(code: number): boolean {
  return code === 91 || code === 93 || code === 60 || code === 33
}

/** One of `* _ [ ] ` ~ $ < ! @ \`. */
function isMark(code: number): boolean {
  return (
    code === 42 ||
    code === 64 ||
    code === 95 ||
    code === 91 ||
    code === 93 ||
    code === 96 ||
    code === 126 ||
    code === 36 ||
    code === 60 ||
    code === 33 ||
    code === 92
  )
}

/**
 * About the same without a parser, for Markdown that is too much for one: the marks at line starts and the emphasis go, the
 * words stay. Linear in the length.
 */
export function roughTextOf(markdown: string): string {
  return markdown
    .split('\n')
    .map((line) =>
      line
        .replace(/^[\s>]*(?:(?:[-+*]|\d{1,9}[.)]|#{1,6})\s+)*/, '')
        .replace(/!?\[([^\][]*)\]\([^()\s]*\)/g, '$1')
        .replace(/\\([!-/:-@[-`{-~])|[*_~`]{1,3}/g, '$1'),
    )
    .join('\n')
    .replace(/\n{3,}/g, '\n\n')
    .trim()
}
