import { strToU8 } from 'fflate'
import { describe, expect, it } from 'vitest'
import { makeEpub, zipOf } from '../../../test/support/make-epub.ts'
import { plainTextOf } from '../texts/plain-text.ts'
import { resolveName } from './epub-archive.ts'
import { extractEpub } from './extract-epub.ts'

const one = '<h1>The Lamp</h1><p>A lamp is lit, and the reader begins.</p>'
const two = '<h1>The Margin</h1><p>In the margin stands a <em>note</em>.</p>'

describe('extractEpub', () => {
  it('reads EPUB 3: chapters, contents, everybody who made it', async () => {
    const cover = strToU8('a picture')
    const text = await extractEpub(
      makeEpub({
        title: 'Lamp &amp; Margin',
        metadata: `<dc:creator id="a">Jane Roe</dc:creator><meta refines="#a" property="role" scheme="marc:relators">aut</meta>
          <dc:creator id="b">Zo\u00eb Poe</dc:creator><meta refines="#b" property="role" scheme="marc:relators">aut</meta>
          <dc:creator id="c">Sam Low</dc:creator><meta refines="#c" property="role" scheme="marc:relators">ill</meta>
          <dc:contributor id="d">Ann May</dc:contributor><meta refines="#d" property="role" scheme="marc:relators">trl</meta>
          <dc:identifier>urn:isbn:9780999999011</dc:identifier><dc:identifier>urn:uuid:1</dc:identifier>
          <dc:language>en-gb</dc:language><dc:date>1983-05</dc:date><dc:publisher>Quiet Press</dc:publisher>
          <dc:description>&lt;p&gt;Of &lt;b&gt;reading&lt;/b&gt; by night.&lt;/p&gt;</dc:description>`,
        chapters: { 'c1.xhtml': one, 'c2.xhtml': two },
        contents: [
          ['One: The Lamp', 'c1.xhtml'],
          ['Two: The Margin', 'c2.xhtml'],
        ],
        cover,
      }),
    )
    expect(text).toMatchObject({
      title: 'Lamp & Margin',
      authors: ['Jane Roe', 'Zo\u00eb Poe'],
      contributors: [
        { name: 'Jane Roe', role: 'aut' },
        { name: 'Zo\u00eb Poe', role: 'aut' },
        { name: 'Sam Low', role: 'ill' },
        { name: 'Ann May', role: 'trl' },
      ],
      isbns: ['9780999999011'],
      language: 'en-GB',
      published: '1983-05',
      publisher: 'Quiet Press',
      description: 'Of reading by night.',
      cover,
      warnings: [],
    })
    expect(text.markdown).toBe(
      '# The Lamp\n\nA lamp is lit, and the reader begins.\n\n# The Margin\n\nIn the margin stands a *note*.\n',
    )
    expect(text.plain).toBe(plainTextOf(text.markdown))
    expect(text.chapters).toMatchObject([
      { title: 'One: The Lamp', start: 0 },
      { title: 'Two: The Margin', start: text.plain.indexOf('The Margin') },
    ])
  })

  it('reads EPUB 2: roles in attributes, NCX, the cover by its id', async () => {
    const cover = strToU8('a picture')
    const text = await extractEpub(
      makeEpub({
        version: 2,
        metadata: `<dc:creator opf:role="aut" opf:file-as="Roe, Jane">Jane Roe</dc:creator><dc:creator opf:role="aut">Sam Poe</dc:creator>
          <dc:date opf:event="modification">2020-01-01</dc:date><dc:date opf:event="publication">1999</dc:date>
          <dc:identifier opf:scheme="ISBN">099999901X</dc:identifier><dc:language>en</dc:language>`,
        chapters: { 'c1.html': one },
        contents: [['The Lamp', 'c1.html#top']],
        cover,
      }),
    )
    expect(text).toMatchObject({
      authors: ['Jane Roe', 'Sam Poe'],
      published: '1999',
      isbns: ['9780999999011'],
      chapters: [{ title: 'The Lamp', start: 0 }],
      cover,
    })
  })

  it('finds files whose names are percent-encoded, accented or in another case', async () => {
    const text = await extractEpub(
      makeEpub({
        chapters: { 'Text/c 1.xhtml': one, 'Text/\u00e9t\u00e9.xhtml': two },
        contents: [
          ['Lamp', 'Text/c%201.xhtml'],
          ['Margin', 'text/%C3%A9t%C3%A9.XHTML'],
        ],
      }),
    )
    expect(text.words).toBe(18)
    expect(text.chapters.map((chapter) => chapter.title)).toEqual(['Lamp', 'Margin'])
  })

  it('marks chapters that begin inside a file', async () => {
    const text = await extractEpub(
      makeEpub({
        chapters: { 'all.xhtml': one + two.replace('<h1>', '<h1 id="m">') },
        contents: [
          ['The Lamp', 'all.xhtml'],
          ['The Margin', 'all.xhtml#m'],
        ],
      }),
    )
    expect(text.chapters).toMatchObject([
      { title: 'The Lamp', start: 0 },
      { title: 'The Margin', start: text.plain.indexOf('The Margin') },
    ])
  })

  it('takes headings for chapters where the contents are missing', async () => {
    const text = await extractEpub(makeEpub({ chapters: { 'a.xhtml': one, 'b.xhtml': two } }))
    expect(text.chapters.map((chapter) => chapter.title)).toEqual(['The Lamp', 'The Margin'])
  })

  it('counts code points, and keeps lists and notes of chapters apart', async () => {
    const list = '<ul><li>one</li><li>two</li></ul>'
    const note = (words: string) =>
      `<p>Text \u{1d49c} <a epub:type="noteref" href="#n1">1</a> goes on.</p><aside epub:type="footnote" id="n1"><p>${words}</p></aside>`
    const text = await extractEpub(
      makeEpub({
        chapters: {
          'a.xhtml': `${note('First note.')}${list}`,
          'b.xhtml': `${list}${note('Second note.')}<h2>End</h2>`,
        },
        contents: [['B', 'b.xhtml']],
      }),
    )
    expect(text.plain).toBe(plainTextOf(text.markdown))
    expect(text.plain).toContain('First note.')
    expect(text.plain).toContain('Second note.')
    const points = Array.from(text.plain)
    expect(points.slice(text.chapters[0]?.start).join('')).toMatch(/^one\ntwo/u)
  })

  it('leaves out links inside the book and keeps their words', async () => {
    const body =
      '<p>See <a href="c2.xhtml#x">the next chapter</a> or <a href="https://example.com/">the web</a>.<a id="p1"/></p><p>After.</p><img src="i.png" alt="T"/>'
    const text = await extractEpub(makeEpub({ chapters: { 'c1.xhtml': body } }))
    expect(text.markdown).toContain('See the next chapter or [the web](https://example.com/).')
    expect(text.markdown).toContain('\n\nAfter.')
  })

  it('reads a book with a missing chapter and says so', async () => {
    const text = await extractEpub(
      makeEpub({ chapters: { 'a.xhtml': one, 'b.xhtml': two }, files: { 'OEBPS/b.xhtml': null } }),
    )
    expect(text.warnings).toEqual(['A chapter is missing from the file: OEBPS/b.xhtml.'])
    expect(text.plain).toContain('The Lamp')
  })

  it('survives nesting that no text has', async () => {
    const body = `${'<div><blockquote>'.repeat(5_000)}deep${'</blockquote></div>'.repeat(5_000)}${one}`
    const text = await extractEpub(makeEpub({ chapters: { 'a.xhtml': body } }))
    expect(text.plain).toContain('deep')
    expect(text.plain).toContain('A lamp is lit')
  })

  it('passes over names that lead outside', async () => {
    const text = await extractEpub(
      makeEpub({
        chapters: { 'a.xhtml': one },
        files: { '../../../tmp/evil.xhtml': 'x', '/etc/evil': 'x', 'C:\\evil': 'x' },
      }),
    )
    expect(text.plain).toContain('The Lamp')
  })

  const encrypted = (algorithm: string) =>
    `<encryption xmlns="urn:oasis:names:tc:opendocument:xmlns:container" xmlns:enc="http://www.w3.org/2001/04/xmlenc#"><enc:EncryptedData><enc:EncryptionMethod Algorithm="${algorithm}"/><enc:CipherData><enc:CipherReference URI="OEBPS/a.xhtml"/></enc:CipherData></enc:EncryptedData></encryption>`

  it('reads a book whose fonts are scrambled', async () => {
    const text = await extractEpub(
      makeEpub({
        chapters: { 'a.xhtml': one },
        files: { 'META-INF/encryption.xml': encrypted('http://www.idpf.org/2008/embedding') },
      }),
    )
    expect(text.words).toBe(10)
  })

  it.each<[string, string, Record<string, Uint8Array | string | null>]>([
    [
      'drm_protected',
      'encrypted chapters',
      { 'META-INF/encryption.xml': encrypted('http://www.w3.org/2001/04/xmlenc#aes128-cbc') },
    ],
    ['drm_protected', 'an Adobe licence', { 'META-INF/rights.xml': '<rights/>' }],
    ['drm_protected', 'a Readium licence', { 'META-INF/license.lcpl': '{}' }],
    ['damaged_file', 'no chapter at all', { 'OEBPS/a.xhtml': null }],
    ['damaged_file', 'a package that is cut off', { 'OEBPS/book.opf': '<package><metadata/></package>' }],
    ['damaged_file', 'no package file', { 'OEBPS/book.opf': null }],
    ['no_text', 'pictures alone', { 'OEBPS/a.xhtml': '<html><body><img src="a.png"/></body></html>' }],
    ['too_large', 'a chapter that unpacks to 100 MB', { 'OEBPS/a.xhtml': new Uint8Array(100 * 2 ** 20) }],
  ])('fails with %s on %s', async (code, _what, files) => {
    const bytes = makeEpub({ chapters: { 'a.xhtml': one }, files })
    await expect(extractEpub(bytes)).rejects.toMatchObject({
      name: 'Failure',
      code,
      hint: expect.stringMatching(/\S/u),
    })
  })

  it.each([
    ['nothing', new Uint8Array()],
    ['a page about the book', strToU8('<html>Not found</html>')],
    ['another archive', zipOf({ 'a.txt': 'x' })],
    ['half a book', makeEpub({ chapters: { 'a.xhtml': one } }).slice(0, 600)],
  ])('fails with damaged_file on %s', async (_what, bytes) => {
    await expect(extractEpub(bytes)).rejects.toMatchObject({ code: 'damaged_file' })
  })
})

describe('resolveName', () => {
  it.each([
    ['OEBPS/book.opf', 'c%201.xhtml#x', 'OEBPS/c 1.xhtml'],
    ['OEBPS/book.opf', '../images/a.png', 'images/a.png'],
    ['OEBPS/book.opf', '../../../etc/passwd', 'etc/passwd'],
    ['book.opf', './a.xhtml?x=1', 'a.xhtml'],
    ['OEBPS/book.opf', '/a.xhtml', 'a.xhtml'],
    ['OEBPS/book.opf', '100%.xhtml', 'OEBPS/100%.xhtml'],
  ])('%s with %s is %s', (from, href, name) => {
    expect(resolveName(from, href)).toBe(name)
  })
})
