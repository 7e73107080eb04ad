import type { BlockContent, DefinitionContent, PhrasingContent } from 'mdast'

export type Block = BlockContent | DefinitionContent
export type Inline = PhrasingContent

export const space: Inline = { type: 'text', value: ' ' }

export function isBlank(node: Inline): boolean {
  return node.type === 'break' || (node.type === 'text' && node.value.trim() === '')
}

/** The same inlines with another node in place of every line break. */
export function breaksAs(stand: Inline, nodes: Inline[]): Inline[] {
  return nodes.map((node): Inline => {
    if (node.type === 'break') return { ...stand }
    return 'children' in node
      ? ({ ...node, children: breaksAs(stand, node.children as Inline[]) } as Inline)
      : node
  })
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
