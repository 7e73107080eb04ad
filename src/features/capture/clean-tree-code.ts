import type { DomElement, DomNode } from './article-dom.ts'
import { isElement, isText } from './article-dom.ts'
import { BLOCKS, DROPPED, nameOf } from './clean-tree-phrasing.ts'

/** Line numbers beside code. */
export function isGutter(cell: DomElement): boolean {
  if (/\b(?:gutter|lineno|linenos|line-?numbers?|blob-num)\b/i.test(nameOf(cell))) return true
  return cell.querySelector('pre') !== null && /^[\d\s]*$/.test(cell.textContent ?? '')
}

/** The lines of a `pre`, whether highlighters part them by line ends, breaks or elements. */
export function codeText(pre: DomElement): string {
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
