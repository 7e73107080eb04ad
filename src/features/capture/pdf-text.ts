import type { RootContent } from 'mdast'
import { gfmToMarkdown } from 'mdast-util-gfm'
import { mathToMarkdown } from 'mdast-util-math'
import { toMarkdown } from 'mdast-util-to-markdown'
import { plainTextOf } from '../texts/plain-text.ts'
import type { Block } from './pdf-blocks.ts'
import { linkedText } from './linked-text.ts'
import { placesInMarkdown } from './places-in-markdown.ts'

/** Where a page of a document begins in its plain text. */
export interface PageMark {
  /** From 1. */
  page: number
  /** The page's own number, such as `xii` or `A-3`, where the file gives one. */
  label: string | null
  /** Offset in Unicode code points of the plain text. */
  start: number
  /** The same in the Markdown, where it was found. */
  at?: number
}

export interface RenderedBlocks {
  markdown: string
  plain: string
  pages: PageMark[]
}

/**
 * Writes blocks as Markdown, and finds the pages in its plain text. Signs that Markdown would take for its own are
 * escaped. `pageCount` pages are listed; one without text begins where the next one does.
 */
export function renderBlocks(
  blocks: readonly Block[],
  pageCount: number,
  labels: readonly string[] | null,
): RenderedBlocks {
  const markdown = toMarkdown(
    { type: 'root', children: nodesOf(blocks) },
    { bullet: '-', fences: true, extensions: [gfmToMarkdown(), mathToMarkdown()] },
  )
  const plain = plainTextOf(markdown)
  const starts = startsOf(blocks, plain)
  const total = codePointsIn(plain, 0, plain.length)
  const pages: PageMark[] = []
  let after = total
  for (let page = pageCount; page >= 1; page--) {
    after = Math.min(starts.get(page) ?? after, after)
    pages.push({ page, label: labels?.[page - 1] ?? null, start: after })
  }
  return { markdown, plain, pages: placesInMarkdown(markdown, plain, pages.toReversed()) }
}

function nodesOf(blocks: readonly Block[]): RootContent[] {
  const nodes: RootContent[] = []
  for (const block of blocks) {
    const text = linkedText(block.text)
    if (block.kind === 'heading') {
      nodes.push({ type: 'heading', depth: headingDepth(block.level), children: text })
    } else if (block.kind === 'code') {
      nodes.push({ type: 'code', value: block.text })
    } else if (block.kind === 'paragraph') {
      nodes.push({ type: 'paragraph', children: text })
    } else {
      const item = {
        type: 'listItem' as const,
        spread: false,
        children: [{ type: 'paragraph' as const, children: text }],
      }
      const last = nodes.at(-1)
      if (last?.type === 'list') last.children.push(item)
      else nodes.push({ type: 'list', ordered: false, spread: false, children: [item] })
    }
  }
  return nodes
}

function headingDepth(level: number): 1 | 2 | 3 | 4 | 5 | 6 {
  if (level <= 1) return 1
  if (level === 2 || level === 3 || level === 4 || level === 5) return level
  return 6
}

/** Finds every block in the plain text, in order, and from it the offset of each page. */
function startsOf(blocks: readonly Block[], plain: string): Map<number, number> {
  const starts = new Map<number, number>()
  let units = 0
  let points = 0
  for (const block of blocks) {
    const found = plain.indexOf(block.text, units)
    // A block that Markdown shows otherwise than it was given is passed over; its pages begin at the last known place.
    const at = found < 0 ? units : found
    points += codePointsIn(plain, units, at)
    for (const start of block.starts) {
      const inside = found < 0 ? 0 : codePointsIn(plain, at, at + start.offset)
      if (!starts.has(start.page)) starts.set(start.page, points + inside)
    }
    units = at
    if (found >= 0) {
      points += codePointsIn(plain, at, at + block.text.length)
      units = at + block.text.length
    }
  }
  return starts
}

function codePointsIn(text: string, from: number, to: number): number {
  let count = 0
  for (let i = from; i < to; i++) {
    const unit = text.charCodeAt(i)
    // The second half of a surrogate pair counts with its first.
    if (unit >= 0xdc00 && unit <= 0xdfff && i > from) continue
    count++
  }
  return count
}
