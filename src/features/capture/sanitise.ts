import type { Element, Nodes as HastNodes, Root as HastRoot } from 'hast'
import { defaultSchema, sanitize } from 'hast-util-sanitize'
import type { Schema } from 'hast-util-sanitize'
import { toHtml } from 'hast-util-to-html'
import type { List, ListItem, Nodes, Paragraph, Parents, PhrasingContent, Root } from 'mdast'
import { defaultHandlers, toHast } from 'mdast-util-to-hast'
import type { State } from 'mdast-util-to-hast'
import { isBeyondParsing, plainTextOf } from '../texts/plain-text.ts'
import { parseMarkdown } from '../texts/plain-text-tree.ts'

/** Counts up whenever `renderMarkdown` gives other HTML for the same Markdown: stored HTML of a lower number is made anew. */
export const RENDERER_VERSION = 1

/**
 * The HTML that readers show for a text: from its Markdown, sanitised, without a script, style, form, frame or event, links
 * only to http, https, mailto and the text itself. Raw HTML in Markdown loses its tags, but for sub, sup, kbd, mark and br.
 * A picture with its caption under it in emphasis is a `figure`. Formulas are `code.math-inline` and `pre code.math-display`.
 */
export function renderMarkdown(markdown: string): string {
  try {
    if (!isBeyondParsing(markdown)) return renderTree(parseMarkdown(markdown))
  } catch (error) {
    // Recursion ran out on nesting that no text has: its words are shown without form.
    if (!(error instanceof RangeError)) throw error
  }
  const lines: HastRoot = { type: 'root', children: [] }
  for (const part of plainTextOf(markdown).split(/\n{2,}/)) {
    lines.children.push({
      type: 'element',
      tagName: 'p',
      properties: {},
      children: [{ type: 'text', value: part }],
    })
  }
  return toHtml(lines)
}

/** The same for a tree that is there already; it is changed on the way. */
export function renderTree(tree: Root): string {
  liftInlineHtml(tree)
  const standIns = new Map<Parents, List>()
  const html = toHast(tree, {
    handlers: {
      paragraph: (state: State, node: Paragraph) => figureOf(state, node) ?? paragraphOf(state, node),
      listItem: (state: State, node: ListItem, parent: Parents | undefined) =>
        defaultHandlers.listItem(state, node, parent && standInFor(parent, standIns)),
      // With its dollars, so that the text of the HTML is the plain text that highlights count in.
      inlineMath: (_state: State, node: { value: string }) =>
        element('code', { className: ['math-inline'] }, [{ type: 'text', value: `$${node.value}$` }]),
      math: (_state: State, node: { value: string }) =>
        element('pre', {}, [
          element('code', { className: ['math-display'] }, [{ type: 'text', value: node.value }]),
        ]),
    },
  })
  const safe = sanitize(html, SCHEMA)
  hardenLinks(safe)
  return toHtml(safe)
}

/**
 * The list as its items ask about it: the renderer looks through all of a list for each of its items to learn whether it is
 * spread, which takes the square of its length.
 */
function standInFor(parent: Parents, known: Map<Parents, List>): Parents {
  if (parent.type !== 'list') return parent
  let standIn = known.get(parent)
  if (!standIn) {
    const isSpread = (item: ListItem): boolean => item.spread ?? item.children.length > 1
    standIn = { type: 'list', spread: parent.spread === true || parent.children.some(isSpread), children: [] }
    known.set(parent, standIn)
  }
  return standIn
}

const SCHEMA: Schema = {
  ...defaultSchema,
  // Ids come from the renderer alone, which has set its prefix already.
  clobberPrefix: '',
  tagNames: [...(defaultSchema.tagNames ?? []), 'figure', 'figcaption', 'mark'],
  attributes: {
    ...defaultSchema.attributes,
    code: [['className', /^language-[\w+#.-]+$/, 'math-inline', 'math-display']],
  },
  protocols: { ...defaultSchema.protocols, href: ['http', 'https', 'mailto'], src: ['http', 'https'] },
}

function element(tagName: string, properties: Element['properties'], children: Element['children']): Element {
  return { type: 'element', tagName, properties, children }
}

function paragraphOf(state: State, node: Paragraph): Element {
  const result = element('p', {}, state.all(node) as Element['children'])
  state.patch(node, result)
  return result
}

/** Pictures, a line break, and nothing but emphasis after it: what the capture writes for a figure. */
function figureOf(state: State, node: Paragraph): Element | undefined {
  const end = node.children.findIndex(({ type }) => type === 'break')
  const pictures = end === -1 ? node.children : node.children.slice(0, end)
  const caption = end === -1 ? undefined : node.children[end + 1]
  if (!pictures.every((child) => child.type === 'image' || (child.type === 'text' && !child.value.trim())))
    return undefined
  if (!pictures.some(({ type }) => type === 'image')) return undefined
  if (end !== -1 && (caption?.type !== 'emphasis' || node.children.length !== end + 2)) return undefined
  const children = pictures.flatMap((child) =>
    child.type === 'image' ? [state.one(child, node)].flat() : [],
  )
  if (caption?.type === 'emphasis')
    children.push(element('figcaption', {}, state.all(caption) as Element['children']))
  return element('figure', {}, children.filter((child) => child !== undefined) as Element['children'])
}

const LIFTED = /^<(\/?)(sub|sup|kbd|mark)>$/i

/** Turns the pairs of raw tags that are allowed into elements, and takes all other raw HTML down to its words. */
function liftInlineHtml(tree: Root): void {
  const waiting: Nodes[] = [tree]
  for (let node = waiting.pop(); node; node = waiting.pop()) {
    if (!('children' in node)) continue
    if (node.children.some(({ type }) => type === 'html')) {
      const isBlock =
        node.type === 'root' ||
        node.type === 'blockquote' ||
        node.type === 'listItem' ||
        node.type === 'footnoteDefinition'
      node.children = (
        isBlock ? blocksFrom(node.children) : inlinesFrom(node.children as PhrasingContent[])
      ) as never
    }
    waiting.push(...node.children)
  }
}

function blocksFrom(children: Nodes[]): Nodes[] {
  return children.flatMap((child): Nodes[] => {
    if (child.type !== 'html') return [child]
    const text = plainTextOf(child.value)
    return text ? [{ type: 'paragraph', children: [{ type: 'text', value: text }] }] : []
  })
}

function inlinesFrom(children: PhrasingContent[]): PhrasingContent[] {
  const out: PhrasingContent[] = []
  /** Open tags and where their content begins in `out`. */
  const open: { name: string; at: number }[] = []
  for (const child of children) {
    if (child.type !== 'html') {
      out.push(child)
      continue
    }
    if (/^<br\s*\/?>$/i.test(child.value)) out.push({ type: 'break' })
    const tag = LIFTED.exec(child.value)
    const name = tag?.[2]?.toLowerCase()
    if (!name) continue
    if (tag?.[1] !== '/') open.push({ name, at: out.length })
    else {
      const start = open.findLast((one) => one.name === name)
      if (!start) continue
      open.length = open.indexOf(start)
      out.push({ type: 'emphasis', data: { hName: name }, children: out.splice(start.at) })
    }
  }
  return out
}

/** Links to elsewhere tell neither where the reader came from nor let the page they open reach back. */
function hardenLinks(tree: HastNodes): void {
  const waiting: HastNodes[] = [tree]
  for (let node = waiting.pop(); node; node = waiting.pop()) {
    if (node.type === 'element') {
      const href = node.properties['href']
      if (node.tagName === 'a' && typeof href === 'string' && !href.startsWith('#')) {
        node.properties['rel'] = ['noopener', 'noreferrer', 'nofollow']
      }
      if (node.tagName === 'img') {
        node.properties['loading'] = 'lazy'
        node.properties['referrerPolicy'] = 'no-referrer'
      }
    }
    if ('children' in node) waiting.push(...node.children)
  }
}
