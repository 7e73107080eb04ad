import type { Nodes, Root } from 'mdast'
import { fromMarkdown } from 'mdast-util-from-markdown'
import { gfmFromMarkdown } from 'mdast-util-gfm'
import { mathFromMarkdown } from 'mdast-util-math'
import { gfm } from 'micromark-extension-gfm'
import { math } from 'micromark-extension-math'

/**
 * Markdown (CommonMark, GFM, dollar math) as a tree with source positions. `$5 and $10` is money, not a formula: as in
 * Pandoc (Extension: tex_math_dollars) the closing dollar has no space before it and no digit after it.
 */
export function parseMarkdown(markdown: string): Root {
  const tree = fromMarkdown(markdown, {
    extensions: [gfm(), math()],
    mdastExtensions: [gfmFromMarkdown(), mathFromMarkdown()],
  })
  undoMoney(tree, markdown)
  return tree
}

function undoMoney(tree: Root, markdown: string): void {
  const waiting: Nodes[] = [tree]
  for (let node = waiting.pop(); node; node = waiting.pop()) {
    if (!('children' in node)) continue
    for (const [index, child] of node.children.entries()) {
      if (child.type === 'inlineMath') {
        const source = sourceOf(child, markdown)
        const isMoney =
          /^\$\s|\s\$$/.test(source) || /^\d/.test(markdown.slice(child.position?.end.offset ?? 0))
        if (isMoney && !source.startsWith('$$')) {
          node.children[index] = {
            type: 'text',
            value: source,
            ...(child.position && { position: child.position }),
          }
        }
      } else if ('children' in child) waiting.push(child)
    }
  }
}

/** The characters of the source that a node was read from. */
export function sourceOf(node: Nodes, markdown: string): string {
  return markdown.slice(node.position?.start.offset ?? 0, node.position?.end.offset ?? 0)
}
