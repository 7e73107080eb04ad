import type { Nodes, Root } from 'mdast'
import { fromMarkdown } from 'mdast-util-from-markdown'
import { gfmFromMarkdown } from 'mdast-util-gfm'
import { mathFromMarkdown } from 'mdast-util-math'
import { gfm } from 'micromark-extension-gfm'
import { math } from 'micromark-extension-math'

/**
 * Markdown (CommonMark, GFM, dollar math) as a tree with source positions. `$5 and $10` is money, not a formula: by Pandoc's
 * rule (extension `tex_math_dollars`) an opening dollar has no space after it, a closing one no space before it and no
 * digit after it.
 */
export function parseMarkdown(markdown: string): Root {
  const stand = markdown.includes('$') ? unusedCharacter(markdown) : undefined
  const tree = fromMarkdown(stand ? hideMoney(markdown, stand) : markdown, {
    extensions: [gfm(), math()],
    mdastExtensions: [gfmFromMarkdown(), mathFromMarkdown()],
  })
  if (stand) showMoney(tree, stand)
  return tree
}

/** A character for private use that the text does not use. */
function unusedCharacter(text: string): string | undefined {
  for (let code = 0xe000; code < 0xe100; code++) {
    const character = String.fromCharCode(code)
    if (!text.includes(character)) return character
  }
  return undefined
}

/** Puts a character of the same length in place of every single dollar that neither opens nor closes a formula. */
function hideMoney(markdown: string, stand: string): string {
  return markdown.replace(/[^\n]+(?:\n(?![ \t]*\n)[^\n]*)*/g, (paragraph) => {
    if (!paragraph.includes('$')) return paragraph
    const singles = [...paragraph.matchAll(/(?<![$\\])\$(?!\$)/g)].map(({ index }) => index)
    const closes = (at: number) => /\S/.test(paragraph[at - 1] ?? ' ') && !/\d/.test(paragraph[at + 1] ?? '')
    const formula = new Set<number>()
    for (let one = 0; one < singles.length; one++) {
      const at = singles[one] ?? 0
      if (!/\S/.test(paragraph[at + 1] ?? ' ')) continue
      const close = singles.findIndex((other, index) => index > one && closes(other))
      if (close === -1) break
      formula.add(at).add(singles[close] ?? 0)
      one = close
    }
    if (formula.size === singles.length) return paragraph
    let out = ''
    let from = 0
    for (const at of singles) {
      if (formula.has(at)) continue
      out += paragraph.slice(from, at) + stand
      from = at + 1
    }
    return out + paragraph.slice(from)
  })
}

function showMoney(tree: Root, stand: string): void {
  const waiting: Nodes[] = [tree]
  for (let node = waiting.pop(); node; node = waiting.pop()) {
    for (const [name, text] of Object.entries(node)) {
      if (typeof text === 'string' && text.includes(stand)) {
        Object.assign(node, { [name]: text.replaceAll(stand, '$') })
      }
    }
    if ('children' in node) waiting.push(...node.children)
  }
}

/** The characters of the source that a node was read from. */
export function sourceOf(node: Nodes, markdown: string): string {
  return markdown.slice(node.position?.start.offset ?? 0, node.position?.end.offset ?? 0)
}
