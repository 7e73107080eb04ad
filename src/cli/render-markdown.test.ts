import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { displayWidth } from './measure.ts'
import { renderMarkdown } from './render-markdown.ts'

const lines = (markdown: string, columns = 40) =>
  renderMarkdown(markdown, columns).map((line) =>
    line
      .map(({ text }) => text)
      .join('')
      .trimEnd(),
  )

describe('renderMarkdown', () => {
  it('sets headings, paragraphs, lists and quotes', () => {
    expect(
      lines(
        '# Title\n\nA paragraph with **bold** and `code` that is longer than a line.\n\n- one\n- two\n  1. deep\n\n> A quote\n> goes on.\n\n---\n',
      ),
    ).toEqual([
      'Title',
      '━━━━━',
      '',
      'A paragraph with bold and code that is',
      'longer than a line.',
      '',
      '• one',
      '• two',
      '  1. deep',
      '',
      '│ A quote goes on.',
      '',
      '─'.repeat(24),
    ])
  })

  it('numbers links, once for each address, and gives the addresses at the end', () => {
    expect(
      lines(
        'See [here](https://a.test/), [there](https://b.test/) and [here](https://a.test/). <https://c.test/>',
      ),
    ).toEqual([
      'See here[1], there[2] and here[1].',
      'https://c.test/',
      '',
      'Links',
      '[1] https://a.test/',
      '[2] https://b.test/',
    ])
  })

  it('keeps the lines of code and of poems', () => {
    expect(lines('```\nlet a = 1\n\tb\n```\n\nRoses  \nare red')).toEqual([
      '    let a = 1',
      '        b',
      '',
      'Roses',
      'are red',
    ])
  })

  it('fits tables into the line', () => {
    const table = lines('| a | b |\n|---|---|\n| short | a cell that is far too long for one line |\n')
    expect(table).toHaveLength(3)
    expect(table[2]).toMatch(/^short │ a cell that .*…$/)
  })

  it('shows pictures, tasks, footnotes and what is struck out in words', () => {
    expect(
      lines('![a heron](x.png)\n\n- [x] done\n- [ ] not\n\nA claim[^1], ~~wrong~~.\n\n[^1]: The source.'),
    ).toEqual([
      '[picture: a heron]',
      '',
      '• [x] done',
      '• [ ] not',
      '',
      'A claim[^1], wrong.',
      '',
      '[^1] The source.',
    ])
  })

  it('takes any Markdown, and keeps lines of prose within the columns', () => {
    const block = fc.constantFrom(
      '# h',
      '- i\n  - j',
      '> q\n> > r',
      '1. a',
      '| a | b |\n|-|-|\n| 備份 | d |',
      'text *em* [l](u)',
      '`c`',
      '***',
      '<b>x</b>',
    )
    fc.assert(
      fc.property(fc.array(fc.oneof(block, fc.string({ unit: 'grapheme' })), { maxLength: 12 }), (blocks) => {
        for (const line of renderMarkdown(blocks.join('\n\n'), 60)) {
          const text = line.map((span) => span.text).join('')
          if (!text.startsWith('    ') && !text.startsWith('['))
            expect(displayWidth(text)).toBeLessThanOrEqual(60)
        }
      }),
    )
  })

  it('goes on where nesting is deeper than the parser can follow', () => {
    expect(lines(`${'> '.repeat(20_000)}deep`).join('')).toContain('deep')
  })
})
