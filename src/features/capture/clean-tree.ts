import type { ListItem } from 'mdast'
import type { Math as MathBlock } from 'mdast-util-math'
import type { DomElement, DomNode } from './article-dom.ts'
import { isElement, isText } from './article-dom.ts'
import { findFootnotes } from './article-footnotes.ts'
import { codeText, isGutter } from './clean-tree-code.ts'
import { figure, holdsImage, holdsOnlyImage, joinCaptions } from './clean-tree-figures.ts'
import type { CleanBlock } from './clean-tree-figures.ts'
import { breaksAs, space, tidyInlines } from './clean-tree-inlines.ts'
import type { Block, Inline } from './clean-tree-inlines.ts'
import {
  BLOCKS,
  MAX_RECURSION,
  flatInlines,
  imageOf,
  inlinesOf,
  isDropped,
  nameOf,
  safeUrl,
} from './clean-tree-phrasing.ts'
import type { Context } from './clean-tree-phrasing.ts'
import { isDataTable, tableOf } from './clean-tree-tables.ts'

const TEXT_IN_FIGURE = 'pre, table, blockquote, ul, ol'
const LISTS = new Set(['ul', 'ol', 'menu', 'dir'])

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
    this.#push({ type: 'paragraph', children }, names, holdsOnlyImage(children) ? 'figure' : 'text')
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

function isBlockMath(element: DomElement): boolean {
  return element.localName === 'math' && element.getAttribute('display') === 'block'
}

function hasLink(nodes: Inline[]): boolean {
  return nodes.some(
    (node) => node.type === 'link' || ('children' in node && hasLink(node.children as Inline[])),
  )
}
