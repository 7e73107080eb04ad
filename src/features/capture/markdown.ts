import type { Nodes, Parents, Root, Text } from 'mdast'
import { gfmToMarkdown } from 'mdast-util-gfm'
import { mathToMarkdown } from 'mdast-util-math'
import { defaultHandlers, toMarkdown } from 'mdast-util-to-markdown'
import type { Info, State } from 'mdast-util-to-markdown'
import type { Block } from './clean-tree-inlines.ts'

/** One tree of an article's blocks; footnotes come last, those without a reference or a note not at all. */
export function treeOf(blocks: readonly Block[]): Root {
  const root: Root = { type: 'root', children: [...blocks] }
  dropUndefinedNotes(root)
  return root
}

/**
 * Writes a tree as GFM with dollar math and footnotes: `-` for lists, `*` for emphasis, fences for code, one line a
 * paragraph.
 */
export function writeMarkdown(root: Root): string {
  return toMarkdown(root, {
    bullet: '-',
    emphasis: '*',
    fences: true,
    rule: '-',
    listItemIndent: 'one',
    incrementListMarker: true,
    resourceLink: true,
    handlers: { text: writeText },
    extensions: [gfmToMarkdown({ tablePipeAlign: false }), mathToMarkdown()],
  })
}

/**
 * Signs that Markdown could take for its own where they stand. Of what else there is, letters and everyday punctuation, the
 * writer would ask the same forty questions for every piece of text: half of its time on a page of many short pieces.
 */
const MAY_MEAN = /[^\p{L}\p{M}\p{N} ,;"'?’“”‘–—….-]|^[ .-]|[\dWw]\.| $/u

function writeText(node: Text, parent: Parents | undefined, state: State, info: Info): string {
  const isHarmless = !MAY_MEAN.test(node.value) && !state.stack.includes('autolink')
  return isHarmless ? node.value : defaultHandlers.text(node, parent, state, info)
}

/** A reference whose note was left out with other blocks would be read as brackets: it goes too, and so do orphaned notes. */
function dropUndefinedNotes(root: Root): void {
  const defined = new Set(
    root.children.flatMap((node) => (node.type === 'footnoteDefinition' ? [node.identifier] : [])),
  )
  const referred = new Set<string>()
  const waiting: Nodes[] = [root]
  for (let node = waiting.pop(); node; node = waiting.pop()) {
    if (!('children' in node)) continue
    const kept = node.children.filter(
      (child) => child.type !== 'footnoteReference' || defined.has(child.identifier),
    )
    if (kept.length < node.children.length) node.children = kept as never
    for (const child of node.children) {
      if (child.type === 'footnoteReference') referred.add(child.identifier)
      if ('children' in child) waiting.push(child)
    }
  }
  root.children = root.children.filter(
    (node) => node.type !== 'footnoteDefinition' || referred.has(node.identifier),
  )
}
