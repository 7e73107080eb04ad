import * as fc from 'fast-check'
import { writeMarkdown } from './markdown.ts'
import { describe, expect, it } from 'vitest'
import { plainTextOf } from '../texts/plain-text.ts'
import { linkedText } from './linked-text.ts'

const links = (text: string) => linkedText(text).flatMap((node) => (node.type === 'link' ? [node.url] : []))

describe('linkedText', () => {
  it.each([
    ['See https://example.com/a_b_c?x=1&copy=2.', ['https://example.com/a_b_c?x=1&copy=2']],
    [
      '(https://example.com/a_(b)), and http://b.example:80/',
      ['https://example.com/a_(b)', 'http://b.example:80/'],
    ],
    ['no http:// here, nor javascript:alert(1)', []],
  ])('finds the addresses in %j', (text, found) => {
    expect(links(text)).toEqual(found)
  })

  it('changes no word', () => {
    const part = fc.oneof(
      fc.webUrl({ withQueryParameters: true, withFragments: true }),
      fc.constantFrom('word', '(', ').', '*', '_', '$5', 'x$'),
    )
    fc.assert(
      fc.property(fc.array(part, { minLength: 1 }), (parts) => {
        const text = parts.join(' ')
        const root = {
          type: 'root' as const,
          children: [{ type: 'paragraph' as const, children: linkedText(text) }],
        }
        expect(plainTextOf(writeMarkdown(root))).toBe(text)
      }),
    )
  })
})
