import * as fc from 'fast-check'
import type { PhrasingContent, Root } from 'mdast'
import { gfmToMarkdown } from 'mdast-util-gfm'
import { mathToMarkdown } from 'mdast-util-math'
import { toMarkdown } from 'mdast-util-to-markdown'
import { describe, expect, it } from 'vitest'
import { treeOf, writeMarkdown } from './markdown.ts'

/** The same writer without a way of its own for text. */
const written = (root: Root) =>
  toMarkdown(root, {
    bullet: '-',
    emphasis: '*',
    fences: true,
    rule: '-',
    listItemIndent: 'one',
    incrementListMarker: true,
    resourceLink: true,
    extensions: [gfmToMarkdown({ tablePipeAlign: false }), mathToMarkdown()],
  })

const piece = fc.oneof(
  fc.constantFrom(...'.-,;?"\'’…–! #*_[]()<>&$~|:@\\/+=`1w'),
  fc.constantFrom('www.a', 'http://', 'a', 'é', '漢', '10. ', '- ', '1) ', '  ', 'word '),
)
const text = fc
  .array(piece, { minLength: 1, maxLength: 8 })
  .map((pieces): PhrasingContent => ({ type: 'text', value: pieces.join('') }))
const inline = fc.oneof(
  { weight: 4, arbitrary: text },
  text.map((child): PhrasingContent => ({ type: 'emphasis', children: [child] })),
  text.map((child): PhrasingContent => ({ type: 'link', url: 'https://example.org/', children: [child] })),
  fc.constant<PhrasingContent>({ type: 'break' }),
  fc.constant<PhrasingContent>({ type: 'inlineCode', value: 'code' }),
)

describe('writeMarkdown', () => {
  it('writes harmless text as it is and escapes the rest, as the writer underneath would', () => {
    fc.assert(
      fc.property(fc.array(inline, { minLength: 1, maxLength: 6 }), fc.boolean(), (children, isHeading) => {
        const root = treeOf([
          isHeading ? { type: 'heading', depth: 2, children } : { type: 'paragraph', children },
          { type: 'list', children: [{ type: 'listItem', children: [{ type: 'paragraph', children }] }] },
          { type: 'table', children: [{ type: 'tableRow', children: [{ type: 'tableCell', children }] }] },
        ])
        expect(writeMarkdown(root)).toBe(written(root))
      }),
      { numRuns: 700 },
    )
  })
})
