import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { plainTextOf } from '../texts/plain-text.ts'
import { splitFrontMatter } from './plain-file-front-matter.ts'
import { readPlainFile } from './plain-file.ts'

const markdown = (text: string, name?: string) => readPlainFile(text, { kind: 'markdown', name })
const plain = (text: string, name?: string) => readPlainFile(text, { kind: 'text', name })

describe('readPlainFile, Markdown', () => {
  it('reads front matter and leaves the body as it is', () => {
    const body = '# Heading\n\nSome *words*,  with a `code`   and\na soft break.\n\n* a list\n+ of the reader'
    const file = markdown(
      `\ufeff---\r\ntitle: "On Reading: \\"slowly\\""\r\nauthors:\r\n  - Jane Roe\r\n  - name: Sam Poe\r\ndate: 2019-03-04T10:00:00+09:00\r\nlang: en_GB\r\nsource: https://example.com/a?b=1\r\ntags: [x, y]\r\n---\r\n\r\n${body.replaceAll('\n', '\r\n')}\r\n`,
    )
    expect(file).toEqual({
      markdown: `${body}\n`,
      title: 'On Reading: "slowly"',
      authors: ['Jane Roe', 'Sam Poe'],
      published: '2019-03-04',
      language: 'en-GB',
      description: null,
      canonicalUrl: 'https://example.com/a?b=1',
    })
  })

  it('reads TOML', () => {
    const file = markdown('+++\ntitle = \'Lamps\'\nauthor = "Jane Roe"\ndate = 2019\n+++\nText.')
    expect(file).toMatchObject({
      title: 'Lamps',
      authors: ['Jane Roe'],
      published: '2019',
      markdown: 'Text.\n',
    })
  })

  it.each([
    ['---\n\nA rule, then text.\n\n---\n\nMore.'],
    ['---\nNo key here\n---\n'],
    ['---\ntitle: never ends\n\nText.'],
  ])('takes a rule for a rule: %j', (text) => {
    expect(splitFrontMatter(text).body).toBe(text)
  })

  it.each([
    ['```\n# not this\n```\n\nText\n\n# The *real* `one` #', undefined, 'The real one'],
    ['A Title\n=======\n\nText.', undefined, 'A Title'],
    ['## Second level\n\nText.', 'my-notes_on ink.md', 'my-notes on ink'],
    ['Just text, *with marks*.', 'stdin', 'Just text, with marks.'],
    ['Just text.', 'on-reading.md', 'on reading'],
    ['', undefined, ''],
  ])('finds a title in %j (%s)', (text, name, title) => {
    expect(markdown(text, name).title).toBe(title)
  })

  it.each(['javascript:alert(1)', 'file:///etc/passwd', 'not an address', '[[A note]]'])(
    'takes no address but of the web: %s',
    (url) => {
      expect(markdown(`---\nurl: ${url}\n---\nx`).canonicalUrl).toBeNull()
    },
  )

  it('leaves every body as it is, line ends and outer blank lines apart', () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        fc.pre(!/^(?:---|\+\+\+)|[\r\0\ufeff]|^\s|\s$/u.test(text) && text !== '')
        expect(markdown(text).markdown).toBe(`${text}\n`)
      }),
    )
  })
})

describe('readPlainFile, text', () => {
  it('keeps paragraphs, joins wrapped lines, keeps verse', () => {
    const file = plain(
      'On Lamps\n\nA lamp is lit at the hour when the day has no more use for the\nreader, and the reader begins to have some use for the day that\nwas.\n\nThe light is low,\nthe page is near,\nthe hour is slow.\n\fThe end of it.',
    )
    expect(plainTextOf(file.markdown).split('\n\n')).toEqual([
      'On Lamps',
      'A lamp is lit at the hour when the day has no more use for the reader, and the reader begins to have some use for the day that was.',
      'The light is low,\nthe page is near,\nthe hour is slow.',
      'The end of it.',
    ])
    expect(file.title).toBe('On Lamps')
  })

  it.each([
    ['A long first line that ends as a sentence does.\n\nText.', 'field-notes.txt', 'field notes'],
    ['A Title\n\nText.', 'x.txt', 'A Title'],
    ['Sentence one is here.\nAnd two.', undefined, 'Sentence one is here.'],
  ])('finds a title in %j (%s)', (text, name, title) => {
    expect(plain(text, name).title).toBe(title)
  })

  it.each([
    '# not a heading',
    '1. not a list',
    '- nor this',
    '> no quote',
    '*stars* and _lines_ and `ticks` and ~~waves~~',
    '$5 and $10, a_b_c, <b>bold</b> &amp; [a](b) ![c](d) [^1]',
    '| a | b |',
    '--- *** ___',
    'http://example.com/a_b_c www.example.com me@example.com',
    '    four spaces',
    'back\\slash and \\* more',
    '+ plus\n= equals\n===',
  ])('gives the words back that Markdown would take: %j', (text) => {
    expect(plainTextOf(plain(text).markdown).split(/\s+/u)).toEqual(text.trim().split(/\s+/u))
  })

  it('gives every word back', () => {
    const word = fc.oneof(
      fc.constantFrom(
        '#',
        '-',
        '*',
        '_',
        '`',
        '~~',
        '$',
        '$$',
        '<b>',
        '&lt;',
        '[x]',
        '](y)',
        '![',
        '|',
        '1.',
        '\\',
        '>',
        '+',
        '=',
        '---',
        ':-:',
        '[^a]',
        '```',
        'http://a.b/_c_',
        'w',
      ),
      fc.string({ minLength: 1, maxLength: 8 }).filter((text) => !/[\s\0\ufeff\p{Cc}]/u.test(text)),
    )
    const space = fc.constantFrom(' ', '\n', '\n\n', '\t')
    fc.assert(
      fc.property(fc.array(fc.tuple(word, space), { maxLength: 20 }), (parts) => {
        const text = parts.flat().join('')
        const words = text.split(/\s+/u).filter(Boolean)
        expect(plainTextOf(plain(text).markdown).split(/\s+/u).filter(Boolean)).toEqual(words)
      }),
      { numRuns: 200 },
    )
  })

  it('fails with too_large on more than anybody reads', () => {
    expect(() => plain('x'.repeat(20_000_001))).toThrow(expect.objectContaining({ code: 'too_large' }))
  })
})
