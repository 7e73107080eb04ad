import type { List, Nodes, PhrasingContent, RootContent, Table } from 'mdast'
import { parseMarkdown } from '../features/texts/plain-text-tree.ts'
import { displayWidth, padEnd, truncate, wrap, type Span } from './measure.ts'
import { printable, STYLE } from './print.ts'

/** Narrowest that text is set inside nested quotes and lists. */
const LEAST = 24

interface Page {
  lines: Span[][]
  columns: number
  /** Addresses of the links, in the order of their numbers. */
  links: string[]
}

/**
 * Markdown as it reads well in a terminal: a list of lines, each of spans in a style. Running text is set in `columns`;
 * links carry a number, their addresses follow at the end.
 */
export function renderMarkdown(markdown: string, columns: number): Span[][] {
  const page: Page = { lines: [], columns, links: [] }
  let blocks: readonly RootContent[]
  try {
    blocks = parseMarkdown(printable(markdown)).children
  } catch (error) {
    if (!(error instanceof RangeError)) throw error
    // Nested deeper than the parser can follow: the Markdown itself is readable too.
    return printable(markdown)
      .split('\n')
      .flatMap((line) => wrap([{ text: line }], columns))
  }
  renderBlocks(blocks, page, [], [])
  if (page.links.length > 0) {
    page.lines.push([], [{ text: 'Links', style: STYLE.dim }])
    for (const [at, url] of page.links.entries())
      page.lines.push([
        { text: `[${at + 1}] `, style: STYLE.dim },
        { text: url, style: STYLE.dim },
      ])
  }
  return page.lines
}

/** What stands at the left of a block: once before its first line, then before each further one. */
type Prefix = readonly Span[]

function renderBlocks(
  blocks: readonly Nodes[],
  page: Page,
  first: Prefix,
  further: Prefix,
  tight = false,
): void {
  let begun = false
  for (const block of blocks) {
    if (block.type === 'definition' || block.type === 'yaml' || isComment(block)) continue
    if (begun && !tight) page.lines.push([...further])
    renderBlock(block, page, begun ? further : first, further)
    begun = true
  }
  if (!begun && first.length > 0) page.lines.push([...first])
}

function renderBlock(block: Nodes, page: Page, first: Prefix, further: Prefix): void {
  switch (block.type) {
    case 'heading': {
      const style = block.depth <= 2 ? `${STYLE.strong};${STYLE.accent}` : STYLE.strong
      const spans = inline(block.children, page, style)
      setText(spans, page, first, further)
      if (block.depth === 1) {
        const width = Math.min(roomFor(further, page), lineWidth(page.lines.at(-1) ?? []))
        page.lines.push([...further, { text: '━'.repeat(Math.max(3, width)), style: STYLE.accent }])
      }
      return
    }
    case 'paragraph':
      return setText(inline(block.children, page), page, first, further)
    case 'blockquote': {
      const bar: Span = { text: '│ ', style: STYLE.dim }
      return renderBlocks(block.children, page, [...first, bar], [...further, bar])
    }
    case 'list':
      return renderList(block, page, first, further)
    case 'code':
    case 'math': {
      for (const [at, line] of block.value.split('\n').entries())
        page.lines.push([
          ...(at === 0 ? first : further),
          { text: '    ' },
          { text: line.replaceAll('\t', '    '), style: STYLE.accent },
        ])
      return
    }
    case 'thematicBreak':
      page.lines.push([
        ...first,
        { text: '─'.repeat(Math.min(24, roomFor(further, page))), style: STYLE.dim },
      ])
      return
    case 'table':
      return renderTable(block, page, first, further)
    case 'footnoteDefinition': {
      const label = `[^${block.identifier}] `
      const room: Span = { text: ' '.repeat(Math.min(8, displayWidth(label))) }
      return renderBlocks(
        block.children,
        page,
        [...first, { text: label, style: STYLE.dim }],
        [...further, room],
      )
    }
    case 'html':
      return setText(
        [{ text: block.value.replaceAll(/<[^>]*>/g, ''), style: STYLE.dim }],
        page,
        first,
        further,
      )
    default:
      if ('children' in block) return renderBlocks(block.children, page, first, further)
      return setText(inline([block as PhrasingContent], page), page, first, further)
  }
}

function renderList(list: List, page: Page, first: Prefix, further: Prefix): void {
  const start = list.start ?? 1
  const widest = `${start + list.children.length - 1}. `.length
  for (const [at, item] of list.children.entries()) {
    const box = item.checked === true ? '[x] ' : item.checked === false ? '[ ] ' : ''
    const mark = (list.ordered ? `${start + at}. `.padStart(widest) : '• ') + box
    const room: Span = { text: ' '.repeat(displayWidth(mark)) }
    if (at > 0 && list.spread) page.lines.push([...further])
    const before = at === 0 ? first : further
    renderBlocks(
      item.children,
      page,
      [...before, { text: mark, style: STYLE.dim }],
      [...further, room],
      !item.spread,
    )
  }
}

/** Cells are cut so that the row fits; a table of one column too many is still a table. */
function renderTable(table: Table, page: Page, first: Prefix, further: Prefix): void {
  const rows = table.children.map((row) =>
    row.children.map((cell) =>
      inline(cell.children, page)
        .map(({ text }) => text)
        .join('')
        .replaceAll(/\s+/g, ' ')
        .trim(),
    ),
  )
  const columns = Math.max(...rows.map((row) => row.length))
  const widths = Array.from({ length: columns }, (_, at) =>
    Math.max(1, ...rows.map((row) => displayWidth(row[at] ?? ''))),
  )
  const room = roomFor(further, page) - 3 * (columns - 1)
  while (widths.reduce((sum, width) => sum + width, 0) > room) {
    const widest = widths.indexOf(Math.max(...widths))
    if (widths[widest]! <= 4) break
    widths[widest]! -= 1
  }
  for (const [at, row] of rows.entries()) {
    const cells = widths.map((width, column) => padEnd(truncate(row[column] ?? '', width), width))
    const style = at === 0 ? { style: STYLE.strong } : {}
    page.lines.push([...(at === 0 ? first : further), { text: cells.join(' │ ').trimEnd(), ...style }])
    if (at === 0)
      page.lines.push([
        ...further,
        { text: widths.map((width) => '─'.repeat(width)).join('─┼─'), style: STYLE.dim },
      ])
  }
}

function setText(spans: readonly Span[], page: Page, first: Prefix, further: Prefix): void {
  let before = first
  for (const paragraph of atBreaks(spans)) {
    for (const line of wrap(paragraph, roomFor(further, page))) {
      page.lines.push([...before, ...line])
      before = further
    }
  }
}

/** A hard break is a line end inside a span; everything else that ends lines was made a space before. */
function atBreaks(spans: readonly Span[]): Span[][] {
  const paragraphs: Span[][] = [[]]
  for (const span of spans) {
    if (span.text === '\n') paragraphs.push([])
    else paragraphs.at(-1)!.push(span)
  }
  return paragraphs
}

function inline(nodes: readonly PhrasingContent[], page: Page, style?: string): Span[] {
  const styled = (text: string, more?: string): Span => {
    const all = [style, more].filter(Boolean).join(';')
    return all ? { text, style: all } : { text }
  }
  const within = (more: string): string => (style ? `${style};${more}` : more)
  return nodes.flatMap((node): Span[] => {
    switch (node.type) {
      case 'text':
        return [styled(node.value.replaceAll(/\s+/g, ' '))]
      case 'strong':
        return inline(node.children, page, within(STYLE.strong))
      case 'emphasis':
        return inline(node.children, page, within(STYLE.emphasis))
      case 'delete':
        return inline(node.children, page, within('9'))
      case 'inlineCode':
      case 'inlineMath':
        return [styled(node.value, STYLE.accent)]
      case 'break':
        return [{ text: '\n' }]
      case 'link': {
        const spans = inline(node.children, page, within(STYLE.link))
        const shown = spans.map(({ text }) => text).join('')
        return shown === node.url || node.url.startsWith('#') || shown.trim() === ''
          ? spans
          : [...spans, { text: `[${linkNumber(page, node.url)}]`, style: STYLE.dim }]
      }
      case 'image':
        return [styled(`[picture${node.alt ? `: ${node.alt.replaceAll(/\s+/g, ' ')}` : ''}]`, STYLE.dim)]
      case 'imageReference':
        return [styled(`[picture${node.alt ? `: ${node.alt}` : ''}]`, STYLE.dim)]
      case 'footnoteReference':
        return [styled(`[^${node.identifier}]`, STYLE.dim)]
      case 'html':
        return /^<br\b/i.test(node.value) ? [{ text: '\n' }] : []
      default:
        return 'children' in node ? inline(node.children, page, style) : []
    }
  })
}

function linkNumber(page: Page, url: string): number {
  const known = page.links.indexOf(url)
  return known >= 0 ? known + 1 : page.links.push(url)
}

const lineWidth = (line: readonly Span[]): number =>
  line.reduce((sum, { text }) => sum + displayWidth(text), 0)

const roomFor = (prefix: Prefix, page: Page): number => Math.max(LEAST, page.columns - lineWidth(prefix))

const isComment = (block: Nodes): boolean =>
  block.type === 'html' && block.value.replaceAll(/<!--[^]*?-->|<[^>]*>/g, '').trim() === ''
