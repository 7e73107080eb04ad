import type { DomElement } from './article-dom.ts'

/** References and notes that belong together; labels count from 1 in the order of the references. */
export interface Footnotes {
  /** The reference's element (the `sup` if there is one) to its label. */
  references: Map<DomElement, string>
  /** The block that holds the note to its label. */
  definitions: Map<DomElement, string>
}

const MARK = /^[[(]?(?:\d{1,3}|[a-z]|[*†‡§¶]{1,3}|note \d{1,3})[\])]?$/i
const NAMED = /footnote|endnote|note-?ref|fnref|\breference\b|\bfn\b|sidenote/i
const BACK = /back-?(?:link|ref)|reverse-?footnote|footnote-?(?:back|return)|cite-backlink/i
const NOTE_BLOCKS = 'li, p, dd, aside, td, div'

/** Finds footnotes by their links: a short mark that is raised or named as a reference, and the block it leads to. */
export function findFootnotes(root: DomElement): Footnotes {
  const references = new Map<DomElement, string>()
  const definitions = new Map<DomElement, string>()
  const links = [...root.querySelectorAll('a[href*="#"]')]
  if (links.length === 0) return { references, definitions }
  const byId = new Map<string, DomElement>()
  for (const element of root.querySelectorAll('[id], a[name]')) {
    const id = element.id || element.getAttribute('name')
    if (id && !byId.has(id)) byId.set(id, element)
  }
  for (const link of links) {
    const target = byId.get(fragmentOf(link))
    if (!target || !MARK.test((link.textContent ?? '').trim())) continue
    const raised = link.closest('sup') ?? (link.querySelector('sup') ? link : undefined)
    const named = [link, link.parentElement].some((element) => element && NAMED.test(describe(element)))
    if (!raised && !named) continue
    const note = noteBlock(target, link)
    if (!note) continue
    const label = definitions.get(note) ?? String(definitions.size + 1)
    definitions.set(note, label)
    references.set(raised && (raised.textContent ?? '').trim().length <= 8 ? raised : link, label)
  }
  return { references, definitions }
}

/** A link from a note back to where it is referred to. */
export function isBacklink(element: DomElement, { definitions }: Footnotes): boolean {
  if (definitions.size === 0) return false
  if (BACK.test(describe(element))) return true
  return element.localName === 'a' && /^[↩↑⤴⏎^]\uFE0E?\uFE0F?$/.test((element.textContent ?? '').trim())
}

function fragmentOf(link: DomElement): string {
  const href = link.getAttribute('href') ?? ''
  const fragment = href.slice(href.indexOf('#') + 1)
  try {
    return decodeURIComponent(fragment)
  } catch {
    return fragment
  }
}

function describe(element: DomElement): string {
  return ['class', 'role', 'rel', 'id', 'epub:type'].map((name) => element.getAttribute(name) ?? '').join(' ')
}

/** The note's own block, or undefined where the link leads back into running text. */
function noteBlock(target: DomElement, link: DomElement): DomElement | undefined {
  if (target.closest('sup')) return undefined
  const block = target.closest(NOTE_BLOCKS)
  if (!block || holds(block, link)) return undefined
  // A mark inside a paragraph is the other end of a back link; the note begins with its target.
  if (block !== target && !(block.textContent ?? '').trim().startsWith((target.textContent ?? '').trim()))
    return undefined
  return (block.textContent ?? '').length <= 5000 ? block : undefined
}

function holds(block: DomElement, inner: DomElement): boolean {
  for (let at: DomElement | null = inner; at; at = at.parentElement) if (at === block) return true
  return false
}
