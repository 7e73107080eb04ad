import type { PhrasingContent } from 'mdast'

const ADDRESS = /https?:\/\/[^\s<>"'“”‘’\\]+/giu
const LONGEST_ADDRESS = 2048

/** Plain words as Markdown nodes; web addresses in them become links that show themselves. */
export function linkedText(text: string): PhrasingContent[] {
  const nodes: PhrasingContent[] = []
  let at = 0
  for (const match of text.matchAll(ADDRESS)) {
    if (match[0].length > LONGEST_ADDRESS) continue
    const url = trimmed(match[0])
    if (!URL.canParse(url)) continue
    if (match.index > at) nodes.push({ type: 'text', value: text.slice(at, match.index) })
    nodes.push({ type: 'link', url, children: [{ type: 'text', value: url }] })
    at = match.index + url.length
  }
  if (at < text.length || nodes.length === 0) nodes.push({ type: 'text', value: text.slice(at) })
  return nodes
}

/** Punctuation at an address's end belongs to the sentence; a bracket too, unless it was opened inside. */
function trimmed(address: string): string {
  let url = address
  for (;;) {
    const shorter = url.replace(/[.,;:!?*_~]+$/u, '')
    const isClosed = shorter.endsWith(')') && shorter.split('(').length >= shorter.split(')').length
    const next = !isClosed ? shorter.replace(/[)\]}]$/u, '') : shorter
    if (next === url) return url
    url = next
  }
}
