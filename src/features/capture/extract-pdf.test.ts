import { describe, expect, it } from 'vitest'
import { makePdf, wrap, type PdfPiece } from '../../../test/support/make-pdf.ts'
import { plainTextOf } from '../texts/plain-text.ts'
import { extractPdf } from './extract-pdf.ts'

/** Lines under each other, the first at `y`. */
function lines(texts: readonly string[], x = 60, y = 700, size = 10): PdfPiece[] {
  return texts.map((text, index) => ({ text, x, y: y - index * size * 1.2, size }))
}

const sentences = (topic: string, count: number) =>
  Array.from(
    { length: count },
    (_, n) => `Sentence ${n} about ${topic} says that memory is kept by hand.`,
  ).join(' ')

describe('extractPdf', () => {
  it('reads two columns in order, with a title across them', async () => {
    const left = wrap(sentences('rivers', 12), 38)
    const right = wrap(sentences('bridges', 12), 38)
    const inTurn = left.flatMap((_, n) => [
      ...lines([left[n] ?? ''], 60, 700 - n * 12),
      ...lines([right[n] ?? ''], 320, 700 - n * 12),
    ])
    const pieces = [{ text: 'A Title Across', x: 150, y: 740, size: 18 }, ...inTurn]
    const { markdown, plain } = await extractPdf(makePdf({ pages: [{ pieces }] }))
    expect(markdown.split('\n\n')[0]).toBe('# A Title Across')
    expect(plain).toContain(sentences('rivers', 12))
    expect(plain.indexOf('bridges')).toBeGreaterThan(plain.lastIndexOf('rivers'))
    expect(plain).toContain(
      'Sentence 5 about bridges says that memory is kept by hand. Sentence 6 about bridges',
    )
  })

  it('joins words that line ends cut, and paragraphs over pages', async () => {
    const first = lines(
      ['A reader who keeps a common-', 'place book copies the well-', 'known passages by hand and then goes'],
      60,
      100,
    )
    const second = lines(['on to the next page without a pause.'], 60, 700)
    const { markdown, pages, plain } = await extractPdf(
      makePdf({ pages: [{ pieces: first }, { pieces: second }] }),
    )
    expect(markdown.trim()).toBe(
      'A reader who keeps a commonplace book copies the well-known passages by hand and then goes on to the next page without a pause.',
    )
    expect(pages).toMatchObject([
      { page: 1, label: null, start: 0 },
      { page: 2, label: null, start: plain.indexOf('on to the next') },
    ])
  })

  it('parts paragraphs at indents and at gaps', async () => {
    const pieces = [
      ...lines(wrap(sentences('ink', 3), 70), 60, 700),
      ...lines(wrap(sentences('paper', 3), 70), 60, 600),
      { text: 'Indented words begin a paragraph that is set with an indent', x: 75, y: 540, size: 10 },
      { text: 'instead of a gap.', x: 60, y: 528, size: 10 },
      { text: 'And so does this one, which is the last paragraph of the page.', x: 75, y: 516, size: 10 },
    ]
    const { markdown } = await extractPdf(makePdf({ pages: [{ pieces }] }))
    expect(markdown.trim().split('\n\n')).toEqual([
      sentences('ink', 3),
      sentences('paper', 3),
      'Indented words begin a paragraph that is set with an indent instead of a gap.',
      'And so does this one, which is the last paragraph of the page.',
    ])
  })

  it('takes away running heads and page numbers, not the text', async () => {
    const pages = Array.from({ length: 5 }, (_, n) => ({
      pieces: [
        { text: `The Keeping of Books ${n + 11}`, x: 60, y: 760, size: 9 },
        ...lines(wrap(sentences(`topic ${n}`, 6), 70), 60, 700),
        { text: String(n + 11), x: 300, y: 30, size: 9 },
      ],
    }))
    const { plain } = await extractPdf(makePdf({ pages }))
    expect(plain).not.toContain('The Keeping of Books')
    expect(plain).not.toMatch(/\b1[1-5]\b/u)
    for (let n = 0; n < 5; n++) expect(plain).toContain(`Sentence 5 about topic ${n}`)
  })

  it('keeps a line that only one page has at its foot', async () => {
    const pieces = [...lines(wrap(sentences('feet', 4), 70)), { text: '1984', x: 300, y: 30, size: 9 }]
    const { plain } = await extractPdf(makePdf({ pages: [{ pieces }] }))
    expect(plain).toContain('1984')
  })

  it('takes headings from the table of contents and from the size of the text', async () => {
    const page = (title: string, size: number) => ({
      pieces: [{ text: title, x: 60, y: 720, size }, ...lines(wrap(sentences(title, 4), 70))],
    })
    const pdf = makePdf({
      pages: [page('Beginnings', 10), page('The Middle', 16), page('A Part', 10)],
      outline: [
        { title: 'Beginnings', page: 1 },
        { title: 'The Middle', page: 2, children: [{ title: '1. A Part', page: 3 }] },
      ],
    })
    const { markdown } = await extractPdf(pdf)
    expect(markdown.match(/^#.*$/gmu)).toEqual(['## Beginnings', '## The Middle', '### A Part'])
  })

  it('takes short lines in a font of their own for headings', async () => {
    const pieces = ['Beginnings', 'The Middle'].flatMap((title, n) => [
      { text: title, x: 60, y: 700 - n * 200, size: 10, font: 'Helvetica-Bold' as const },
      ...lines(wrap(sentences(title, 4), 70), 60, 680 - n * 200),
    ])
    const { markdown } = await extractPdf(makePdf({ pages: [{ pieces }] }))
    expect(markdown.match(/^#.*$/gmu)).toEqual(['## Beginnings', '## The Middle'])
  })

  it('keeps the lines of a program', async () => {
    const prose = (y: number) =>
      wrap(sentences('code', 5), 80).map((text, n) => ({
        text,
        x: 60,
        y: y - n * 12,
        font: 'Times-Roman' as const,
      }))
    const code = lines(['if (lamp) {', 'read()', '}'], 60, 600).map((piece, n) =>
      n === 1 ? { ...piece, x: 72 } : piece,
    )
    const pieces = [...prose(700), ...code, ...prose(550)]
    const { markdown, plain } = await extractPdf(makePdf({ pages: [{ pieces }] }))
    expect(markdown).toContain('```\nif (lamp) {\n  read()\n}\n```')
    expect(plain).toBe(plainTextOf(markdown))
  })

  it('keeps the entries of a table of contents apart', async () => {
    const pieces = lines([
      'Contents of this book',
      'Chapter One . . . . . . . . . . 3',
      'Chapter Two .......... 14',
    ])
    const { plain } = await extractPdf(makePdf({ pages: [{ pieces }] }))
    expect(plain).toContain('Chapter One … 3\n\nChapter Two … 14')
  })

  it('takes away running heads that change with the chapter', async () => {
    const pages = Array.from({ length: 6 }, (_, n) => ({
      pieces: [
        { text: `${n < 3 ? 'Lamps' : 'Margins'} and what they do ${n + 1}`, x: 60, y: 760, size: 9 },
        ...lines(wrap(sentences(`topic ${n}`, 6), 70), 60, 700),
      ],
    }))
    const { plain } = await extractPdf(makePdf({ pages }))
    expect(plain).not.toContain('what they do')
  })

  it('reads lists, and signs that Markdown would take for its own', async () => {
    const pieces = lines([
      '\u0095 bread and *butter*',
      '\u0095 a_b_c, $5 and $6, <script>, [link](x)',
      '\u0095 # not a heading',
    ])
    const { markdown, plain } = await extractPdf(makePdf({ pages: [{ pieces }] }))
    expect(markdown).toMatch(/^- bread/u)
    expect(plain).toContain('bread and *butter*')
    expect(plain).toContain('a_b_c, $5 and $6, <script>, [link](x)')
    expect(plain).toContain('# not a heading')
    expect(plain).toBe(plainTextOf(markdown))
  })

  it('reads a page that is turned, and leaves out marks in its margin', async () => {
    const pieces = [
      ...wrap(sentences('turning', 4), 60).map((text, n) => ({
        text,
        x: 100 + n * 12,
        y: 60,
        upright: true,
      })),
      { text: 'stamp', x: 10, y: 10, size: 10 },
    ]
    for (const rotate of [0, 90]) {
      const { plain } = await extractPdf(makePdf({ pages: [{ pieces, rotate }] }))
      expect(plain).toBe(sentences('turning', 4))
    }
  })

  it('tells what the file states of itself', async () => {
    const xmp = `<?xpacket begin="" id="W5M0MpCehiHzreSzNTczkc9d"?><x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"><rdf:Description rdf:about="" xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:prism="http://prismstandard.org/namespaces/basic/2.0/"><prism:publicationDate>2019-03</prism:publicationDate><dc:creator><rdf:Seq><rdf:li>Jane Roe</rdf:li><rdf:li>Zo\u00eb P\u0151</rdf:li></rdf:Seq></dc:creator></rdf:Description></rdf:RDF></x:xmpmeta><?xpacket end="w"?>`
    const text = await extractPdf(
      makePdf({
        pages: [{ pieces: lines(['One.']) }, { pieces: lines(['Two.']) }, { pieces: lines(['Three.']) }],
        info: {
          Title: 'On Reading \u201cSlowly\u201d',
          Author: 'x',
          CreationDate: "D:20200101120000Z00'00'",
        },
        language: 'en-gb',
        romanPages: 2,
        xmp,
      }),
    )
    expect(text).toMatchObject({
      title: 'On Reading \u201cSlowly\u201d',
      authors: ['Jane Roe', 'Zo\u00eb P\u0151'],
      published: '2019-03',
      created: '2020-01-01',
      language: 'en-GB',
      pageCount: 3,
      words: 3,
      warnings: [],
    })
    expect(text.pages.map((page) => page.label)).toEqual(['i', 'ii', '1'])
  })

  it('says which pages have no text', async () => {
    const text = await extractPdf(makePdf({ pages: [{ pieces: lines(['Words.']) }, { picture: true }] }))
    expect(text.warnings).toEqual(['Page 2 has no text: blank, or a picture.'])
    expect(text.pages[1]?.start).toBe(6)
  })

  it('reads 300 pages', async () => {
    const pages = Array.from({ length: 300 }, (_, n) => ({
      pieces: lines(wrap(sentences(`page ${n + 1}`, 40), 82), 60, 740),
    }))
    const text = await extractPdf(makePdf({ pages, compressed: true }))
    expect(text.pageCount).toBe(300)
    for (const [index, { start }] of text.pages.entries()) {
      expect(text.plain.slice(start, start + 40)).toMatch(`Sentence 0 about page ${index + 1} `)
    }
  })

  it.each([
    ['encrypted_file', 'password', makePdf({ pages: [{ pieces: lines(['Secret.']) }], locked: true })],
    ['no_text', 'OCR', makePdf({ pages: [{ picture: true }, { picture: true }] })],
    ['no_text', 'OCR', makePdf({ pages: [{}] })],
    ['damaged_file', '', new TextEncoder().encode('<html>Not found</html>')],
    ['damaged_file', '', new Uint8Array()],
    ['damaged_file', '', new TextEncoder().encode('%PDF-1.7\nnothing more')],
    ['damaged_file', '', makePdf({ pages: [{ pieces: lines(['Words.']) }] }).slice(0, 400)],
  ])('fails with %s and a hint', async (code, hint, bytes) => {
    await expect(extractPdf(bytes)).rejects.toMatchObject({
      name: 'Failure',
      code,
      hint: expect.stringContaining(hint),
    })
  })

  it('stops when told to, and at the deadline', async () => {
    const pages = Array.from({ length: 200 }, () => ({
      pieces: lines(wrap(sentences('time', 40), 82), 60, 740),
    }))
    const bytes = makePdf({ pages })
    await expect(extractPdf(bytes, { deadlineMs: 1 })).rejects.toMatchObject({ code: 'timed_out' })
    await expect(extractPdf(bytes, { signal: AbortSignal.abort() })).rejects.toMatchObject({
      code: 'cancelled',
    })
    const stop = new AbortController()
    const reading = extractPdf(bytes, { signal: stop.signal })
    setTimeout(() => stop.abort(), 5)
    await expect(reading).rejects.toMatchObject({ code: 'cancelled' })
    expect(bytes.byteLength).toBeGreaterThan(0)
  })

  it('stops a file that unpacks to more than memory', async () => {
    const bomb = makePdf({ pages: [{ bombMb: 4000 }] })
    await expect(extractPdf(bomb)).rejects.toMatchObject({
      code: 'too_large',
    })
  })
})
