import type { Nodes, RootContent } from 'mdast'
import { parseMarkdown } from '../texts/plain-text-tree.ts'
import { isBeyondParsing, plainTextOf, textOfTree } from '../texts/plain-text.ts'
import { parseHTML } from 'linkedom'
import type { DomDocument } from './article-dom.ts'
import { normaliseMarkup } from './article-markup.ts'
import { limitSource } from './article-source.ts'
import { cleanTree } from './clean-tree.ts'
import { treeOf, writeMarkdown } from './markdown.ts'

/** One chapter file. Its notes stand apart: Markdown shows all notes of a text at its end. */
export interface Chapter {
  markdown: string
  plain: string
  notes: string
  plainNotes: string
  /** Its first heading. */
  heading: string | null
  beginsWithList: boolean
  endsWithList: boolean
}

/**
 * Reads one chapter. Links inside the book and its pictures go, their words stay: they lead nowhere outside it.
 *
 * @param number of the chapter in the book, which keeps the notes of different chapters apart
 */
export function readChapter(xhtml: string, number: number): Chapter {
  const document = parseXhtml(xhtml)
  normaliseMarkup(document)
  for (const image of document.querySelectorAll('img')) {
    // An initial that is drawn: without it the chapter would begin in the middle of a word.
    const alt = image.getAttribute('alt') ?? ''
    if (/^\p{L}$/u.test(alt)) image.replaceWith(alt)
  }
  const blocks = cleanTree(document.body, 'about:blank').map((block) => block.node)
  for (const block of blocks) nameNotes(block, number)
  const written = writeMarkdown(treeOf(blocks))
  if (isBeyondParsing(written)) return unparsed(written)
  const tree = parseMarkdown(written)
  const isNote = (node: RootContent): boolean => node.type === 'footnoteDefinition'
  const first = tree.children.findIndex(isNote)
  const notesAt =
    first < 0 ? written.length : (tree.children[first]?.position?.start.offset ?? written.length)
  const body = tree.children.filter((node) => !isNote(node))
  const heading = body.find((node) => node.type === 'heading')
  const text = (children: RootContent[]): string => textOfTree({ type: 'root', children }, written)
  return {
    markdown: written.slice(0, notesAt).trim(),
    plain: text(body),
    notes: written.slice(notesAt).trim(),
    plainNotes: text(tree.children.filter(isNote)),
    heading: heading ? text([heading]).replaceAll('\n', ' ') || null : null,
    beginsWithList: body[0]?.type === 'list',
    endsWithList: body.at(-1)?.type === 'list',
  }
}

/** A chapter nested deeper than any text is: its words, without more. */
function unparsed(written: string): Chapter {
  return {
    markdown: written.trim(),
    plain: plainTextOf(written),
    notes: '',
    plainNotes: '',
    heading: null,
    beginsWithList: false,
    endsWithList: false,
  }
}

/** A file of the book as a document, made shallow first. */
export function parseXhtml(xhtml: string): DomDocument {
  const { html } = limitSource(asHtml(xhtml))
  const isWhole = /<html[\s>]/iu.test(html.slice(0, 5_000))
  const { document } = parseHTML(
    isWhole ? html : `<!doctype html><html><head></head><body>${html}</body></html>`,
  )
  // The type that linkedom declares asks for the browser's globals; `DomDocument` is the part of it that is used here.
  return document as unknown as DomDocument
}

function nameNotes(root: Nodes, number: number): void {
  const waiting: Nodes[] = [root]
  for (let node = waiting.pop(); node; node = waiting.pop()) {
    if (node.type === 'footnoteDefinition' || node.type === 'footnoteReference') {
      node.identifier = `${number}-${node.identifier}`
      node.label = node.identifier
    }
    if ('children' in node) waiting.push(...node.children)
  }
}

const VOID = new Set('area base br col embed hr img input link meta param source track wbr'.split(' '))

/**
 * XHTML as HTML reads it: an element closed in its own tag (`<title/>`, `<a id="p12"/>`, `<script/>`) gets an end tag,
 * since HTML would take all that follows for its content; prefixes of the XHTML name space and CDATA marks go.
 */
export function asHtml(xhtml: string): string {
  return xhtml
    .replace(/^\s*<\?xml[^>]*\?>/u, '')
    .replaceAll(/<!\[CDATA\[([^]*?)\]\]>/gu, (_all, text: string) =>
      text.replaceAll('&', '&amp;').replaceAll('<', '&lt;'),
    )
    .replaceAll(/<(\/?)(?:xhtml|html|h):(?=[a-z])/giu, '<$1')
    .replaceAll(
      /<([a-z][\w:.-]*)((?:\s+[^\s=>/"']+(?:\s*=\s*(?:"[^"]*"|'[^']*'))?)*)\s*\/>/giu,
      (tag, name: string, attributes: string) =>
        VOID.has(name.toLowerCase()) ? tag : `<${name}${attributes}></${name}>`,
    )
}
