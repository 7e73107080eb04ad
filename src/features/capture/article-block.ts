import type { Nodes } from 'mdast'
import type { CleanBlock } from './clean-tree-figures.ts'
import type { Block } from './clean-tree-inlines.ts'

/** A block with what the rules about it ask for. */
export interface ReadBlock extends CleanBlock {
  text: string
  /** Lower-case words, for comparing. */
  words: string[]
  /** Words inside links, 0 to 1 of all. */
  linked: number
  /** Addresses of its links. */
  links: string[]
}

export function readBlock(block: CleanBlock): ReadBlock {
  const text = textOf(block.node).replace(/\s+/g, ' ').trim()
  const words = wordsOf(text)
  const links: string[] = []
  const inLinks = linkedWords(block.node, links)
  return { ...block, text, words, linked: words.length === 0 ? 0 : inLinks / words.length, links }
}

export function wordsOf(text: string): string[] {
  return text.toLowerCase().match(/[\p{L}\p{N}\p{M}]+/gu) ?? []
}

/** Running text: long enough, few links, and it ends like a sentence. */
export function isProse(block: ReadBlock): boolean {
  if (block.role !== 'text' || block.linked > 0.5) return false
  if (block.node.type !== 'paragraph' && block.node.type !== 'blockquote' && block.node.type !== 'list')
    return false
  return (block.words.length >= 15 || block.text.length >= 90) && endsLikeSentence(block.text)
}

export function endsLikeSentence(text: string): boolean {
  return /[.!?…:;。！？；：।॥؟۔][\s"'”’»)\]）」』】*]*$/u.test(text.slice(-40))
}

/** Code, formulas, tables: content that word rules do not fit. */
export function isMatter(block: ReadBlock): boolean {
  return /^(?:code|math|table)$/.test(block.node.type)
}

const APART = new Set(['list', 'listItem', 'table', 'tableRow', 'blockquote', 'footnoteDefinition'])

function textOf(node: Nodes | Block): string {
  if (node.type === 'break') return ' '
  if (node.type === 'html') return ''
  if ('value' in node) return node.value
  return 'children' in node ? node.children.map(textOf).join(APART.has(node.type) ? ' ' : '') : ''
}

function linkedWords(node: Nodes, links: string[]): number {
  if (node.type === 'link') {
    links.push(node.url)
    return wordsOf(textOf(node)).length
  }
  let count = 0
  if ('children' in node) for (const child of node.children) count += linkedWords(child, links)
  return count
}
