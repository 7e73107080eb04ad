import type { InlineMath } from 'mdast-util-math'
import type { DomElement, DomNode } from './article-dom.ts'
import { isElement, isText } from './article-dom.ts'
import { isBacklink } from './article-footnotes.ts'
import type { Footnotes } from './article-footnotes.ts'
import { holdsOnlyImage } from './clean-tree-figures.ts'
import type { Inline } from './clean-tree-inlines.ts'

/** Elements that begin a block of their own. */
export const BLOCKS = new Set(
  (
    'address article aside blockquote body center dd details dialog dir div dl dt fieldset figcaption figure footer form ' +
    'h1 h2 h3 h4 h5 h6 header hgroup hr html li main menu ol p pre section summary table tbody td tfoot th thead tr ul'
  ).split(' '),
)
/** Elements that are left out with all they hold. */
export const DROPPED = new Set(
  (
    'audio button canvas datalist dialog embed frame frameset head iframe input link map meta meter nav noscript object ' +
    'option progress script select style svg template textarea title video'
  ).split(' '),
)
export const MAX_RECURSION = 400

/** What all parts of one conversion share. */
export interface Context {
  base: string
  /** Inline elements that hold a block somewhere inside. */
  hasBlock: Set<DomElement>
  footnotes: Footnotes
  depth: number
}

/** The inline content of an element that may hold blocks, which are parted by line breaks. */
export function flatInlines(element: DomElement, context: Context): Inline[] {
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

export function inlinesOf(element: DomElement, context: Context): Inline[] {
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

export function imageOf(image: DomElement, context: Context): Inline[] {
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
export function safeUrl(value: string | null, base: string): string | undefined {
  // eslint-disable-next-line no-control-regex -- browsers ignore these inside `java\tscript:`
  const text = (value ?? '').replace(/[\u0000-\u0020]+/g, (gap) => (/^ +$/.test(gap) ? gap : '')).trim()
  if (!text) return undefined
  const url = URL.canParse(text, base) ? new URL(text, base).href : undefined
  return url && SAFE_SCHEME.test(url) ? url : undefined
}

export function isDropped(element: DomElement): boolean {
  return DROPPED.has(element.localName) || element.hasAttribute('hidden')
}

export function nameOf(element: DomElement): string {
  return `${element.getAttribute('class') ?? ''} ${element.id ?? ''}`.trim()
}
