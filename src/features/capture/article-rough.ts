import type { Heading, ListItem, Paragraph, PhrasingContent } from 'mdast'
import { parsePage } from './article-engines.ts'
import { readTag } from './article-source.ts'
import type { Block } from './clean-tree-inlines.ts'

const ASIDE = new Set('nav footer aside dialog menu'.split(' '))
const MAIN = new Set('main article'.split(' '))
const UNREAD = new Set('head script noscript template iframe audio video canvas math'.split(' '))
/** Elements that do not part the words around them. */
const INLINE = new Set(
  (
    'a abbr acronym b bdi bdo big cite code data del dfn em font i ins kbd label mark math meter output q rp rt ruby s samp ' +
    'small span strike strong sub sup time tt u var wbr img picture source track noscript input'
  ).split(' '),
)

interface RoughBlock {
  node: Block
  /** Characters of its text. */
  size: number
  isMain: boolean
  isAside: boolean
}

/**
 * The words of a page as headings, paragraphs, items and code, without building its tree: what is left to do with a page
 * that is too much for extractors. Navigation and footers are left out, and what is outside of `main` and `article` where
 * they hold most of it. Takes what `limitSource` gives; linear in its length.
 */
export function readRoughly(html: string): Block[] {
  const reader = new RoughReader()
  let unread = ''
  /** Names whose end does not come any more. */
  const unclosed = new Set<string>()
  for (let at = 0; at < html.length;) {
    const open = html.indexOf('<', at)
    const end = open === -1 ? html.length : open
    if (unread === '' && end > at) reader.text(html.slice(at, end))
    if (open === -1) break
    const isEnd = html[open + 1] === '/'
    const tag = readTag(html, isEnd ? open + 2 : open + 1)
    if (!tag) break
    at = tag.end
    if (unread !== '') {
      if (isEnd && tag.name === unread) unread = ''
      continue
    }
    if (isEnd || !UNREAD.has(tag.name) || unclosed.has(tag.name)) reader.tag(tag.name, isEnd)
    else if (html.includes(`</${tag.name}>`, at)) unread = tag.name
    else unclosed.add(tag.name)
  }
  return reader.finish()
}

class RoughReader {
  readonly #blocks: RoughBlock[] = []
  /** Lines of the block that is being read, in pieces. */
  #lines: string[][] = [[]]
  readonly #lists: string[] = []
  #heading = 0
  #isItem = false
  #pre = 0
  #main = 0
  #aside = 0

  text(piece: string): void {
    this.#lines.at(-1)!.push(piece)
  }

  tag(name: string, isEnd: boolean): void {
    if (name === 'br') return void this.#lines.push([])
    if (INLINE.has(name)) return
    if (name === 'td' || name === 'th') return this.text(' ')
    this.#flush()
    const step = isEnd ? -1 : 1
    if (name === 'pre') this.#pre = Math.max(0, this.#pre + step)
    else if (MAIN.has(name)) this.#main = Math.max(0, this.#main + step)
    else if (ASIDE.has(name)) this.#aside = Math.max(0, this.#aside + step)
    else if (name === 'li') this.#isItem = !isEnd
    else if (name === 'ul' || name === 'ol') {
      this.#isItem = false
      if (!isEnd) this.#lists.push(name)
      else if (this.#lists.includes(name)) this.#lists.length = this.#lists.lastIndexOf(name)
    } else if (/^h[1-6]$/.test(name)) this.#heading = isEnd ? 0 : Number(name[1])
  }

  finish(): Block[] {
    this.#flush()
    const all = sizeOf(this.#blocks)
    const outside = this.#blocks.filter(({ isAside }) => !isAside)
    const inside = outside.filter(({ isMain }) => isMain)
    const chosen = [inside, outside].find((blocks) => sizeOf(blocks) * 2 >= all) ?? this.#blocks
    return joinLists(chosen.map(({ node }) => node))
  }

  #flush(): void {
    const lines = this.#lines.map((pieces) => decodeReferences(pieces.join('')))
    this.#lines = [[]]
    const isMain = this.#main > 0
    const isAside = this.#aside > 0
    if (this.#pre > 0) {
      const value = lines.join('\n').replace(/^\n|\s+$/g, '')
      if (value.trim() === '') return
      this.#blocks.push({ node: { type: 'code', value }, size: value.length, isMain, isAside })
      return
    }
    const words = lines
      .map((line) =>
        line
          .replace(/[\u00AD\uFEFF]/g, '')
          .replace(/\s+/g, ' ')
          .trim(),
      )
      .filter((line) => line !== '')
    if (words.length === 0) return
    this.#blocks.push({
      node: this.#nodeOf(words),
      size: words.reduce((sum, line) => sum + line.length, 0),
      isMain,
      isAside,
    })
  }

  #nodeOf(lines: readonly string[]): Block {
    if (this.#heading > 0) {
      const depth = this.#heading as Heading['depth']
      return { type: 'heading', depth, children: [{ type: 'text', value: lines.join(' ') }] }
    }
    const children = lines.flatMap((value, at): PhrasingContent[] =>
      at === 0 ? [{ type: 'text', value }] : [{ type: 'break' }, { type: 'text', value }],
    )
    const paragraph: Paragraph = { type: 'paragraph', children }
    if (!this.#isItem) return paragraph
    const item: ListItem = { type: 'listItem', spread: false, children: [paragraph] }
    return { type: 'list', ordered: this.#lists.at(-1) === 'ol', spread: false, children: [item] }
  }
}

function sizeOf(blocks: readonly RoughBlock[]): number {
  return blocks.reduce((sum, { size }) => sum + size, 0)
}

function joinLists(blocks: readonly Block[]): Block[] {
  const joined: Block[] = []
  for (const block of blocks) {
    const before = joined.at(-1)
    if (block.type === 'list' && before?.type === 'list' && before.ordered === block.ordered)
      before.children.push(...block.children)
    else joined.push(block)
  }
  return joined
}

const REFERENCE = /&(?:#x[0-9a-f]{1,6}|#\d{1,7}|[a-z][a-z0-9]{1,31});?/gi
const decoded = new Map<string, string>()

function decodeReferences(text: string): string {
  return text.includes('&') ? text.replace(REFERENCE, decodeReference) : text
}

/** Each is read once by the parser of pages. */
function decodeReference(reference: string): string {
  const known = decoded.get(reference)
  if (known !== undefined) return known
  const read = parsePage(`<p>${reference}</p>`, 'about:blank').querySelector('p')?.textContent ?? reference
  if (decoded.size < 5000) decoded.set(reference, read)
  return read
}
