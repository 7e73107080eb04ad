import type { BlockContent, DefinitionContent, ListItem, PhrasingContent, TableCell, TableRow } from 'mdast'
import type { Math as MathBlock, InlineMath } from 'mdast-util-math'
import type { DomElement, DomNode } from './article-dom.ts'
import { isElement, isText } from './article-dom.ts'
import { findFootnotes, isBacklink } from './article-footnotes.ts'
import type { Footnotes } from './article-footnotes.ts'

export type Block = BlockContent | DefinitionContent
export type Inline = PhrasingContent

/** One block of the article and where it came from. */
export interface CleanBlock {
  node: Block
  /** Class and id names of the elements it stood in, innermost first. */
  names: string[]
  /** What the block is beyond its Markdown. */
  role: 'text' | 'figure' | 'caption' | 'note'
}

/** Elements that begin a block of their own. */
const BLOCKS = new Set(
  (
    'address article aside blockquote body center dd details dialog dir div dl dt fieldset figcaption figure footer form ' +
    'h1 h2 h3 h4 h5 h6 header hgroup hr html li main menu ol p pre section summary table tbody td tfoot th thead tr ul'
  ).split(' '),
)
const DROPPED = new Set(
  (
    'audio button canvas datalist dialog embed frame frameset head iframe input link map meta meter nav noscript object ' +
    'option progress script select style svg template textarea title video'
  ).split(' '),
)
const TEXT_IN_FIGURE = 'pre, table, blockquote, ul, ol'
const LISTS = new Set(['ul', 'ol', 'menu', 'dir'])
const MAX_RECURSION = 400

/**
 * Turns an extracted element into a flat list of Markdown blocks. Wrappers dissolve, text outside paragraphs gets one,
 * links and images become absolute, and nothing that could run (scripts, `javascript:`, `data:`) comes along.
 *
 * @param base the address that links are relative to
 */
export function cleanTree(root: DomElement, base: string): CleanBlock[] {
  const context: Context = {
    base,
    hasBlock: markBlockHolders(root),
    footnotes: findFootnotes(root),
    depth: 0,
  }
  const blocks = new BlockList(context)
  blocks.walk(root, [])
  blocks.flush([])
  return joinCaptions(blocks.done).concat(blocks.notes)
}

interface Context {
  base: string
  /** Inline elements that hold a block somewhere inside. */
  hasBlock: Set<DomElement>
  footnotes: Footnotes
  depth: number
}

function markBlockHolders(root: DomElement): Set<DomElement> {
  const holders = new Set<DomElement>()
  for (const element of root.querySelectorAll('*')) {
    if (!BLOCKS.has(element.localName)) continue
    let above = element.parentElement
    while (above && !holders.has(above)) {
      holders.add(above)
      above = above.parentElement
    }
  }
  return holders
}

class BlockList {
  readonly done: CleanBlock[] = []
  readonly notes: CleanBlock[] = []
  readonly #context: Context
  #run: Inline[] = []
  /** The link around blocks: its words still count as linked. */
  #href: string | undefined

  constructor(context: Context) {
    this.#context = context
  }

  walk(element: DomElement, names: string[]): void {
    for (const node of element.childNodes) this.#take(node, names)
  }

  #take(node: DomNode, names: string[]): void {
    if (isText(node)) {
      this.#run.push({ type: 'text', value: node.data })
      return
    }
    if (!isElement(node) || isDropped(node)) return
    const context = this.#context
    if (context.depth > MAX_RECURSION) {
      this.#run.push({ type: 'text', value: node.textContent ?? '' })
      return
    }
    context.depth++
    try {
      if (node.localName === 'br') this.#lineBreak(names)
      else if (BLOCKS.has(node.localName) || context.hasBlock.has(node) || isBlockMath(node)) {
        this.flush(names)
        this.#block(node, nameOf(node) ? [nameOf(node), ...names] : names)
      } else this.#run.push(...inlinesOf(node, context))
    } finally {
      context.depth--
    }
  }

  /** Two breaks in a row part paragraphs, as pages from before stylesheets do it. */
  #lineBreak(names: string[]): void {
    for (let at = this.#run.length - 1; at >= 0; at--) {
      const before = this.#run[at]
      if (before?.type === 'break') {
        this.#run.length = at
        this.flush(names)
        return
      }
      if (before?.type !== 'text' || before.value.trim() !== '') break
    }
    this.#run.push({ type: 'break' })
  }

  /** Ends the paragraph that is being collected. */
  flush(names: string[]): void {
    let children = tidyInlines(this.#run)
    this.#run = []
    if (children.length === 0) return
    if (this.#href && !hasLink(children)) children = [{ type: 'link', url: this.#href, children }] as Inline[]
    this.#push({ type: 'paragraph', children }, names, isImageOnly(children) ? 'figure' : 'text')
  }

  #push(node: Block, names: string[], role: CleanBlock['role'] = 'text'): void {
    this.done.push({ node, names, role })
  }

  #block(element: DomElement, names: string[]): void {
    const context = this.#context
    const note = context.footnotes.definitions.get(element)
    if (note !== undefined) {
      const children = nestedBlocks(element, context)
      if (children.length > 0) {
        const node: Block = { type: 'footnoteDefinition', identifier: note, label: note, children }
        this.notes.push({ node, names, role: 'note' })
      }
      return
    }
    const { localName } = element
    if (/^h[1-6]$/.test(localName)) return this.#heading(element, names)
    switch (localName) {
      case 'ul':
      case 'ol':
      case 'menu':
      case 'dir': {
        const list = listOf(element, context, this.notes)
        if (list) this.#push(list, names)
        return
      }
      case 'blockquote': {
        const children = nestedBlocks(element, context, this.notes)
        if (children.length > 0) this.#push({ type: 'blockquote', children }, names)
        return
      }
      case 'pre': {
        const value = codeText(element)
        if (value.trim())
          this.#push({ type: 'code', lang: element.getAttribute('data-language'), value }, names)
        return
      }
      case 'hr':
        return this.#push({ type: 'thematicBreak' }, names)
      case 'table':
        return this.#table(element, names)
      case 'figure':
        return this.#figure(element, names)
      case 'math': {
        const value = element.getAttribute('data-latex') ?? ''
        const math: MathBlock = { type: 'math', value }
        if (value.trim()) this.#push(math, names)
        return
      }
      case 'figcaption': {
        const children = tidyInlines(flatInlines(element, context))
        // The caption of code or of a table is text beside it; only a picture's becomes part of a figure.
        const isOfText = element.closest('figure')?.querySelector(TEXT_IN_FIGURE) != null
        if (children.length > 0) {
          this.#push({ type: 'paragraph', children }, names, isOfText ? 'text' : 'caption')
        }
        return
      }
      case 'dt':
      case 'summary': {
        const children = tidyInlines(flatInlines(element, context))
        if (children.length > 0)
          this.#push({ type: 'paragraph', children: [{ type: 'strong', children }] }, names)
        return
      }
    }
    const outer = this.#href
    if (localName === 'a') this.#href = safeUrl(element.getAttribute('href'), context.base)
    this.walk(element, names)
    this.flush(names)
    this.#href = outer
  }

  #heading(element: DomElement, names: string[]): void {
    const children = tidyInlines(breaksAs(space, flatInlines(element, this.#context)))
    if (children.length === 0) return
    const depth = Number(element.localName[1])
    if (depth >= 1 && depth <= 6)
      this.#push({ type: 'heading', depth: depth as 1 | 2 | 3 | 4 | 5 | 6, children }, names)
  }

  #figure(element: DomElement, names: string[]): void {
    const captions = [...element.querySelectorAll('figcaption')].filter(
      (part) => part.closest('figure') === element,
    )
    const holdsText = element.querySelector(TEXT_IN_FIGURE) !== null
    const images = holdsText
      ? []
      : [...element.querySelectorAll('img')].flatMap((img) => imageOf(img, this.#context))
    const caption = captions.flatMap((part, index) => {
      const inlines = flatInlines(part, this.#context)
      return index > 0 ? [{ type: 'text', value: ' ' } as Inline, ...inlines] : inlines
    })
    if (images.length === 0) {
      // A film or a drawing that is gone leaves its caption without anything to caption.
      if (!holdsText && captions.length > 0 && (element.textContent ?? '').length < 600) return
      this.walk(element, names)
      this.flush(names)
      return
    }
    if (captions.length === 0) {
      const rest = (element.textContent ?? '').trim()
      const loose = rest ? flatInlines(element, this.#context).filter((node) => !holdsImage(node)) : []
      return this.#push(figure(images, loose), names, 'figure')
    }
    this.#push(figure(images, caption), names, 'figure')
  }

  #table(element: DomElement, names: string[]): void {
    const table = isDataTable(element) ? tableOf(element, this.#context) : undefined
    if (!table) {
      for (const cell of element.querySelectorAll('td, th, caption')) {
        if (cell.closest('table') !== element || isGutter(cell)) continue
        this.walk(cell, names)
        this.flush(names)
      }
      return
    }
    const caption = element.querySelector('caption')
    const children = caption ? tidyInlines(flatInlines(caption, this.#context)) : []
    if (children.length > 0) this.#push({ type: 'paragraph', children }, names, 'text')
    this.#push(table, names)
  }
}

function nestedBlocks(element: DomElement, context: Context, notes?: CleanBlock[]): Block[] {
  const list = new BlockList(context)
  list.walk(element, [])
  list.flush([])
  notes?.push(...list.notes)
  return list.done.map(({ node }) => node)
}

function listOf(element: DomElement, context: Context, notes: CleanBlock[]): Block | undefined {
  const items: ListItem[] = []
  for (const child of element.children) {
    if (isDropped(child)) continue
    const note = context.footnotes.definitions.get(child)
    if (note !== undefined) {
      const children = nestedBlocks(child, context)
      if (children.length > 0) {
        const node: Block = { type: 'footnoteDefinition', identifier: note, label: note, children }
        notes.push({ node, names: [], role: 'note' })
      }
      continue
    }
    // A list right inside a list belongs to the item before it.
    const before = items.at(-1)
    if (LISTS.has(child.localName) && before) {
      const list = listOf(child, context, notes)
      if (list) before.children.push(list as ListItem['children'][number])
      continue
    }
    const children = nestedBlocks(child, context, notes) as ListItem['children']
    if (children.length === 0) continue
    const checked = child.getAttribute('data-checked')
    items.push({
      type: 'listItem',
      // A paragraph after another block is read as its rest unless an empty line parts them.
      spread: children.slice(1).some(({ type }) => type === 'paragraph'),
      checked: checked === null ? null : checked === 'true',
      children,
    })
  }
  if (items.length === 0) return undefined
  const start = Number(element.getAttribute('start') ?? 1)
  const ordered = element.localName === 'ol'
  return {
    type: 'list',
    ordered,
    start: ordered ? (Number.isInteger(start) && start >= 0 && start < 1e9 ? start : 1) : null,
    spread: items.some(({ spread }) => spread),
    children: items,
  }
}

/** Tables that hold data; the others only lay out the page. */
function isDataTable(table: DomElement): boolean {
  if (/^(?:presentation|none)$/.test(table.getAttribute('role') ?? '')) return false
  if (table.querySelector('table, pre, h1, h2, h3, figure, form')) return false
  const rows = [...table.querySelectorAll('tr')]
  const columns = Math.max(0, ...rows.map((row) => row.children.length))
  const hasHead = table.querySelector('th, caption') !== null
  if (columns < 2 || (rows.length < 2 && !hasHead)) return false
  if (hasHead) return true
  return ![...table.querySelectorAll('td')].some((cell) => (cell.textContent ?? '').length > 600)
}

function tableOf(table: DomElement, context: Context): Block | undefined {
  const rows: TableRow[] = []
  let columns = 0
  const align: ('left' | 'right' | 'center' | null)[] = []
  let hasHead = false
  for (const row of table.querySelectorAll('tr')) {
    const cells: TableCell[] = []
    let heads = 0
    for (const cell of row.children) {
      if (cell.localName !== 'td' && cell.localName !== 'th') continue
      if (cell.localName === 'th') heads++
      const side = alignOf(cell)
      if (side) align[cells.length] ??= side
      cells.push({
        type: 'tableCell',
        children: breaksAs(htmlBreak, tidyInlines(flatInlines(cell, context))),
      })
      const span = Math.min(Number(cell.getAttribute('colspan')) || 1, 50)
      for (let extra = 1; extra < span; extra++) cells.push({ type: 'tableCell', children: [] })
    }
    if (cells.length === 0) continue
    if (rows.length === 0) hasHead = heads === cells.length || row.parentElement?.localName === 'thead'
    rows.push({ type: 'tableRow', children: cells })
    columns = Math.max(columns, cells.length)
  }
  // Spans must not multiply a small table into a large one.
  if (rows.length === 0 || columns * rows.length > 100_000) return undefined
  if (!hasHead) rows.unshift({ type: 'tableRow', children: [] })
  for (const row of rows)
    while (row.children.length < columns) row.children.push({ type: 'tableCell', children: [] })
  return {
    type: 'table',
    align: Array.from({ length: columns }, (_, at) => align[at] ?? null),
    children: rows,
  }
}

function alignOf(cell: DomElement): 'left' | 'right' | 'center' | undefined {
  const side = cell.getAttribute('data-align')
  return side === 'left' || side === 'right' || side === 'center' ? side : undefined
}

/** A line break inside a cell can only be written as HTML in GFM. */
const htmlBreak: Inline = { type: 'html', value: '<br>' }

function breaksAs(stand: Inline, nodes: Inline[]): Inline[] {
  return nodes.map((node): Inline => {
    if (node.type === 'break') return { ...stand }
    return 'children' in node
      ? ({ ...node, children: breaksAs(stand, node.children as Inline[]) } as Inline)
      : node
  })
}

/** Line numbers beside code. */
function isGutter(cell: DomElement): boolean {
  if (/\b(?:gutter|lineno|linenos|line-?numbers?|blob-num)\b/i.test(nameOf(cell))) return true
  return cell.querySelector('pre') !== null && /^[\d\s]*$/.test(cell.textContent ?? '')
}

function codeText(pre: DomElement): string {
  let text = ''
  const walk = (node: DomNode): void => {
    if (isText(node)) text += node.data
    if (!isElement(node)) return
    if (node.localName === 'br') text += '\n'
    if (
      DROPPED.has(node.localName) ||
      /\b(?:gutter|lineno|linenos|line-?numbers?(?:-rows)?)\b/i.test(nameOf(node))
    )
      return
    const isLine = BLOCKS.has(node.localName) && node !== pre
    if (isLine && text && !text.endsWith('\n')) text += '\n'
    for (const child of node.childNodes) walk(child)
    if (isLine && text && !text.endsWith('\n')) text += '\n'
  }
  walk(pre)
  return text.replace(/\r\n?/g, '\n').replace(/^\n+|\s+$/g, '')
}

/** The inline content of an element that may hold blocks, which are parted by line breaks. */
function flatInlines(element: DomElement, context: Context): Inline[] {
  const out: Inline[] = []
  if (context.depth > MAX_RECURSION) return [{ type: 'text', value: element.textContent ?? '' }]
  context.depth++
  for (const node of element.childNodes) {
    if (isText(node)) out.push({ type: 'text', value: node.data })
    if (!isElement(node) || isDropped(node)) continue
    if (BLOCKS.has(node.localName) || context.hasBlock.has(node)) {
      if (out.length > 0) out.push({ type: 'break' })
      out.push(...flatInlines(node, context), { type: 'break' })
    } else out.push(...inlinesOf(node, context))
  }
  context.depth--
  return out
}

function inlinesOf(element: DomElement, context: Context): Inline[] {
  if (isDropped(element) || isBacklink(element, context.footnotes)) return []
  if (context.depth > MAX_RECURSION) return [{ type: 'text', value: element.textContent ?? '' }]
  const reference = context.footnotes.references.get(element)
  if (reference !== undefined) return [{ type: 'footnoteReference', identifier: reference, label: reference }]
  context.depth++
  const children = () => [...element.childNodes].flatMap((node) => inlineOf(node, context))
  try {
    switch (element.localName) {
      case 'br':
        return [{ type: 'break' }]
      case 'wbr':
        return []
      case 'img':
        return imageOf(element, context)
      case 'em':
      case 'i':
      case 'cite':
      case 'dfn':
        return [{ type: 'emphasis', children: children() }]
      case 'strong':
      case 'b':
        return [{ type: 'strong', children: children() }]
      case 'del':
      case 's':
      case 'strike':
        return [{ type: 'delete', children: children() }]
      case 'code':
      case 'kbd':
      case 'samp':
      case 'tt': {
        const value = (element.textContent ?? '').replace(/\s+/g, ' ').trim()
        return value ? [{ type: 'inlineCode', value }] : []
      }
      case 'sub':
      case 'sup':
        return wrapHtml(element.localName, children())
      case 'q':
        return [{ type: 'text', value: '“' }, ...children(), { type: 'text', value: '”' }]
      case 'math': {
        const value = element.getAttribute('data-latex') ?? ''
        const math: InlineMath = { type: 'inlineMath', value }
        return value ? [math] : [{ type: 'text', value: element.textContent ?? '' }]
      }
      case 'a': {
        // The mark beside a heading that links to the heading.
        if (/^[#¶§🔗]\uFE0F?$/u.test((element.textContent ?? '').trim())) return []
        const url = safeUrl(element.getAttribute('href'), context.base)
        const inner = children()
        return url && !holdsOnlyImage(inner) ? [{ type: 'link', url, children: inner } as Inline] : inner
      }
      default:
        return children()
    }
  } finally {
    context.depth--
  }
}

function inlineOf(node: DomNode, context: Context): Inline[] {
  if (isText(node)) return [{ type: 'text', value: node.data }]
  return isElement(node) ? inlinesOf(node, context) : []
}

function wrapHtml(name: string, children: Inline[]): Inline[] {
  // A reference in superscript is set so by whoever shows the note.
  if (children.some(({ type }) => type === 'footnoteReference')) return children
  return [{ type: 'html', value: `<${name}>` }, ...children, { type: 'html', value: `</${name}>` }]
}

function imageOf(image: DomElement, context: Context): Inline[] {
  const url = safeUrl(image.getAttribute('src'), context.base)
  const isTiny = ['width', 'height'].some((side) => {
    const size = image.getAttribute(side)
    return size !== null && /^\d+$/.test(size) && Number(size) <= 2
  })
  if (!url || isTiny || !/^https?:/.test(url)) return []
  const alt = (image.getAttribute('alt') ?? '').replace(/\s+/g, ' ').trim()
  return [{ type: 'image', url, alt, title: null }]
}

const SAFE_SCHEME = /^(?:https?|mailto|tel|ftp|doi|magnet|geo|xmpp|irc):/i

/** The absolute address if its scheme cannot run anything; controls are taken out first, as browsers do. */
function safeUrl(value: string | null, base: string): string | undefined {
  // eslint-disable-next-line no-control-regex -- browsers ignore these inside `java\tscript:`
  const text = (value ?? '').replace(/[\u0000-\u0020]+/g, (gap) => (/^ +$/.test(gap) ? gap : '')).trim()
  if (!text) return undefined
  const url = URL.canParse(text, base) ? new URL(text, base).href : undefined
  return url && SAFE_SCHEME.test(url) ? url : undefined
}

function isDropped(element: DomElement): boolean {
  return DROPPED.has(element.localName) || element.hasAttribute('hidden')
}

function isBlockMath(element: DomElement): boolean {
  return element.localName === 'math' && element.getAttribute('display') === 'block'
}

function nameOf(element: DomElement): string {
  return `${element.getAttribute('class') ?? ''} ${element.id ?? ''}`.trim()
}

function holdsImage(node: Inline): boolean {
  return node.type === 'image' || ('children' in node && node.children.some(holdsImage))
}

function holdsOnlyImage(nodes: Inline[]): boolean {
  return nodes.some(holdsImage) && nodes.every((node) => node.type === 'image' || isBlank(node))
}

function isImageOnly(nodes: Inline[]): boolean {
  return holdsOnlyImage(nodes)
}

function isBlank(node: Inline): boolean {
  return node.type === 'break' || (node.type === 'text' && node.value.trim() === '')
}

function hasLink(nodes: Inline[]): boolean {
  return nodes.some(
    (node) => node.type === 'link' || ('children' in node && hasLink(node.children as Inline[])),
  )
}

/** A picture and its caption: the image, a line break, the caption in emphasis. Renderers make a figure of it. */
function figure(images: Inline[], caption: Inline[]): Block {
  const words = tidyInlines(breaksAs(space, plainEmphasis(caption)))
  const children = distinctImages(images).map((image) =>
    image.type === 'image' && isSaidBy(image.alt ?? '', words) ? { ...image, alt: '' } : image,
  )
  if (words.length > 0) children.push({ type: 'break' }, { type: 'emphasis', children: words })
  return { type: 'paragraph', children }
}

/** An alternative text that the caption says as well would be read twice. */
function isSaidBy(alt: string, caption: Inline[]): boolean {
  const said = caption.map(wordsIn).join(' ').toLowerCase()
  const words = alt.toLowerCase().match(/[\p{L}\p{N}]{3,}/gu) ?? []
  return said !== '' && words.filter((word) => said.includes(word)).length >= words.length * 0.6
}

function wordsIn(node: Inline): string {
  if ('value' in node) return node.value
  return 'children' in node ? node.children.map((child) => wordsIn(child as Inline)).join('') : ' '
}

const space: Inline = { type: 'text', value: ' ' }

function plainEmphasis(nodes: Inline[]): Inline[] {
  return nodes.flatMap((node) =>
    node.type === 'emphasis' || node.type === 'strong' ? plainEmphasis(node.children) : [node],
  )
}

function distinctImages(images: Inline[]): Inline[] {
  const seen = new Set<string>()
  return images.filter((image) => {
    if (image.type !== 'image' || seen.has(image.url)) return false
    seen.add(image.url)
    return true
  })
}

const CAPTION =
  /(?:^|[\s_-])(?:captions?|credits?|photo-?credit|copyright-?holder|(?:image|photo|media)-?(?:caption|credit|source|copyright))(?:$|[\s_-])/i
const MAX_CAPTION_LENGTH = 600

/** Captions that are no `figcaption` but are named so join the picture next to them. */
function joinCaptions(blocks: CleanBlock[]): CleanBlock[] {
  const out: CleanBlock[] = []
  for (const block of blocks) {
    const isCaption =
      block.role === 'caption' ||
      (block.node.type === 'paragraph' &&
        block.role === 'text' &&
        block.names.slice(0, 2).some((name) => CAPTION.test(name)) &&
        block.node.children.map(wordsIn).join('').length <= MAX_CAPTION_LENGTH)
    if (!isCaption || block.node.type !== 'paragraph') {
      out.push(block)
      continue
    }
    const before = out.at(-1)
    if (before?.role === 'figure' && before.node.type === 'paragraph') {
      joinCaption(before, block)
    } else out.push({ ...block, role: 'caption' })
  }
  return out
}

/** Makes a paragraph the caption of a figure, after what it says already. */
export function joinCaption(picture: CleanBlock, words: CleanBlock): void {
  if (picture.node.type !== 'paragraph' || words.node.type !== 'paragraph') return
  const images = picture.node.children.filter(({ type }) => type === 'image')
  const known = picture.node.children.flatMap((node) =>
    node.type === 'emphasis' ? [...node.children, space] : [],
  )
  picture.node = figure(images, [...known, ...words.node.children])
}

/**
 * Collapses white space as browsers do, across elements; takes it out of the edges of blocks, breaks and emphasis; drops
 * what is empty. Soft hyphens are layout, not letters, and go.
 */
export function tidyInlines(nodes: Inline[]): Inline[] {
  const state = { spaceBefore: true }
  const tidy = hoistSpaces(collapse(withoutRepeatedForms(nodes, new Set()), state))
  while (tidy.length > 0 && isBlank(tidy[0]!)) tidy.shift()
  while (tidy.length > 0 && isBlank(tidy.at(-1)!)) tidy.pop()
  const last = tidy.at(-1)
  if (last?.type === 'text') last.value = last.value.trimEnd()
  const first = tidy[0]
  if (first?.type === 'text') first.value = first.value.trimStart()
  return tidy.some((node) => node.type !== 'html') ? tidy : []
}

/** Bold inside bold says nothing more; nested a hundred times over it takes writers of Markdown minutes. */
function withoutRepeatedForms(nodes: Inline[], around: ReadonlySet<string>): Inline[] {
  return nodes.flatMap((node): Inline[] => {
    if (!('children' in node)) return [node]
    const isRepeated = around.has(node.type)
    const inside = isRepeated ? around : new Set([...around, node.type])
    const children = withoutRepeatedForms(node.children as Inline[], inside)
    return isRepeated ? children : [{ ...node, children } as Inline]
  })
}

function collapse(nodes: Inline[], state: { spaceBefore: boolean }): Inline[] {
  return nodes.map((node): Inline => {
    if (node.type === 'text') {
      let value = node.value.replace(/[\u00AD\uFEFF]/g, '').replace(/[\t\n\f\r \u00A0\u2028\u2029]+/g, ' ')
      if (state.spaceBefore && value.startsWith(' ')) value = value.slice(1)
      if (value) state.spaceBefore = value.endsWith(' ')
      return { type: 'text', value }
    }
    if (node.type === 'break') state.spaceBefore = true
    else if (node.type === 'html') return node
    else if ('children' in node)
      return { ...node, children: collapse(node.children as Inline[], state) } as Inline
    else state.spaceBefore = false
    return node
  })
}

function hoistSpaces(nodes: Inline[]): Inline[] {
  const out: Inline[] = []
  const push = (node: Inline) => {
    const before = out.at(-1)
    if (node.type === 'text' && before?.type === 'text') before.value += node.value
    else if (node.type === 'break' && before?.type === 'text') {
      before.value = before.value.trimEnd()
      if (before.value === '') out.pop()
      out.push(node)
    } else if (node.type !== 'text' || node.value !== '') out.push({ ...node })
  }
  for (const node of nodes) {
    if (!('children' in node)) {
      push(node)
      continue
    }
    const children = hoistSpaces(node.children as Inline[])
    const lead: Inline[] = []
    const trail: Inline[] = []
    while (children.length > 0 && isBlank(children[0]!)) lead.push(children.shift()!)
    while (children.length > 0 && isBlank(children.at(-1)!)) trail.unshift(children.pop()!)
    const first = children[0]
    if (first?.type === 'text' && first.value.startsWith(' ')) {
      lead.push({ ...space })
      first.value = first.value.trimStart()
    }
    const last = children.at(-1)
    if (last?.type === 'text' && last.value.endsWith(' ')) {
      trail.unshift({ ...space })
      last.value = last.value.trimEnd()
    }
    lead.forEach(push)
    if (children.length > 0) push({ ...node, children } as Inline)
    trail.forEach(push)
  }
  return out
}
