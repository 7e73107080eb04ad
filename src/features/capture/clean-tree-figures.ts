import type { Block, Inline } from './clean-tree-inlines.ts'
import { breaksAs, isBlank, space, tidyInlines } from './clean-tree-inlines.ts'

/** One block of the article and where it came from. */
export interface CleanBlock {
  node: Block
  /** Class and id names of the elements it stood in, innermost first. */
  names: string[]
  /** What the block is beyond its Markdown. */
  role: 'text' | 'figure' | 'caption' | 'note'
}

export function holdsImage(node: Inline): boolean {
  return node.type === 'image' || ('children' in node && node.children.some(holdsImage))
}

export function holdsOnlyImage(nodes: Inline[]): boolean {
  return nodes.some(holdsImage) && nodes.every((node) => node.type === 'image' || isBlank(node))
}

/** A picture and its caption: the image, a line break, the caption in emphasis. Renderers make a figure of it. */
export function figure(images: Inline[], caption: Inline[]): Block {
  const words = tidyInlines(breaksAs(space, plainEmphasis(caption)))
  const children = distinctImages(images).map((image) =>
    image.type === 'image' && isSaidBy(image.alt ?? '', words) ? { ...image, alt: '' } : image,
  )
  if (words.length > 0) children.push({ type: 'break' }, { type: 'emphasis', children: words })
  return { type: 'paragraph', children }
}

/** An alternative text that the caption says as well would be read twice. */
function isSaidBy(alt: string, caption: Inline[]): boolean {
  const said = caption.map(wordsIn).join(' ').toLowerCase()
  const words = alt.toLowerCase().match(/[\p{L}\p{N}]{3,}/gu) ?? []
  return said !== '' && words.filter((word) => said.includes(word)).length >= words.length * 0.6
}

function wordsIn(node: Inline): string {
  if ('value' in node) return node.value
  return 'children' in node ? node.children.map((child) => wordsIn(child as Inline)).join('') : ' '
}

function plainEmphasis(nodes: Inline[]): Inline[] {
  return nodes.flatMap((node) =>
    node.type === 'emphasis' || node.type === 'strong' ? plainEmphasis(node.children) : [node],
  )
}

function distinctImages(images: Inline[]): Inline[] {
  const seen = new Set<string>()
  return images.filter((image) => {
    if (image.type !== 'image' || seen.has(image.url)) return false
    seen.add(image.url)
    return true
  })
}

const CAPTION =
  /(?:^|[\s_-])(?:captions?|credits?|photo-?credit|copyright-?holder|(?:image|photo|media)-?(?:caption|credit|source|copyright))(?:$|[\s_-])/i
const MAX_CAPTION_LENGTH = 600

/** Captions that are no `figcaption` but are named so join the picture next to them. */
export function joinCaptions(blocks: CleanBlock[]): CleanBlock[] {
  const out: CleanBlock[] = []
  for (const block of blocks) {
    const isCaption =
      block.role === 'caption' ||
      (block.node.type === 'paragraph' &&
        block.role === 'text' &&
        block.names.slice(0, 2).some((name) => CAPTION.test(name)) &&
        block.node.children.map(wordsIn).join('').length <= MAX_CAPTION_LENGTH)
    if (!isCaption || block.node.type !== 'paragraph') {
      out.push(block)
      continue
    }
    const before = out.at(-1)
    if (before?.role === 'figure' && before.node.type === 'paragraph') {
      joinCaption(before, block)
    } else out.push({ ...block, role: 'caption' })
  }
  return out
}

/** Makes a paragraph the caption of a figure, after what it says already. */
export function joinCaption(picture: CleanBlock, words: CleanBlock): void {
  if (picture.node.type !== 'paragraph' || words.node.type !== 'paragraph') return
  const images = picture.node.children.filter(({ type }) => type === 'image')
  const known = picture.node.children.flatMap((node) =>
    node.type === 'emphasis' ? [...node.children, space] : [],
  )
  picture.node = figure(images, [...known, ...words.node.children])
}
