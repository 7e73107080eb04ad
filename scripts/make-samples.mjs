#!/usr/bin/env node
// Writes the PDF and the EPUB of samples/ from sample-texts.mjs. The same words give the same bytes.
import { deflateSync } from 'node:zlib'
import { writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { join } from 'node:path'
import { strToU8, zipSync } from 'fflate'
import { epubSample, pdfSample } from './sample-texts.mjs'

const samples = fileURLToPath(new URL('../samples', import.meta.url))
writeFileSync(join(samples, 'what-stays.pdf'), makePdf(pdfSample))
writeFileSync(join(samples, 'the-slow-index.epub'), makeEpub(epubSample))

// ---- PDF ----------------------------------------------------------------------------------------------------------

/** Widths of Times-Roman in thousandths of its size (Adobe Core 14 metrics), from space to `z`. */
function widthsOfTimes() {
  const widths =
    '250 333 408 500 500 833 778 333 333 333 500 564 250 333 250 278 500 500 500 500 500 500 500 500 500 500 278 278 564 ' +
    '564 564 444 921 722 667 667 722 611 556 722 722 333 389 722 611 889 722 722 556 722 667 556 611 722 722 944 722 722 ' +
    '611 333 278 333 469 500 333 444 500 444 500 444 333 500 500 278 278 500 278 778 500 500 500 500 333 389 278 500 500 ' +
    '722 500 500 444'
  return widths.split(' ').map(Number)
}

function makePdf({ title, author, text }) {
  const widths = widthsOfTimes()
  const widthOf = (line, size) =>
    [...line].reduce((sum, char) => sum + (widths[char.charCodeAt(0) - 32] ?? 500), 0) * (size / 1000)
  const page = { width: 420, height: 595, left: 56, right: 56, top: 72, bottom: 64 }
  const measure = page.width - page.left - page.right
  const pages = [[]]
  const outline = []
  let y = page.height - page.top
  const show = (line, size, font, x = page.left) =>
    pages
      .at(-1)
      .push(`BT /${font} ${size} Tf 1 0 0 1 ${x.toFixed(2)} ${y.toFixed(2)} Tm ${literal(line)} Tj ET`)
  const room = (needed) => {
    if (y - needed >= page.bottom) return
    pages.push([])
    y = page.height - page.top
  }
  for (const line of wrap('What Stays', 24, measure, widthOf)) {
    show(line, 24, 'F2')
    y -= 28
  }
  show('Notes on Memory and Reading', 12, 'F3')
  y -= 34
  for (const [index, paragraph] of text.entries()) {
    if (paragraph.startsWith('# ')) {
      y -= 12
      room(60)
      show(paragraph.slice(2), 14, 'F2')
      outline.push({ title: paragraph.slice(2), page: pages.length - 1, y: y + 16 })
      y -= 22
      continue
    }
    const indent = index === 0 || text[index - 1].startsWith('# ') ? 0 : 14
    for (const [n, line] of wrap(paragraph, 11, measure, widthOf, indent).entries()) {
      room(0)
      show(line, 11, 'F1', page.left + (n === 0 ? indent : 0))
      y -= 14.5
    }
  }
  for (const [index, drawn] of pages.entries()) {
    if (index === 0) continue
    drawn.push(`BT /F3 9 Tf 1 0 0 1 ${page.left} ${page.height - 44} Tm ${literal('What Stays')} Tj ET`)
    drawn.push(
      `BT /F1 9 Tf 1 0 0 1 ${page.width - page.right - 8} ${page.height - 44} Tm ${literal(String(index + 1))} Tj ET`,
    )
  }
  return writePdf({ title, author, pages, outline, page })
}

function wrap(text, size, measure, widthOf, indent = 0) {
  const lines = []
  let line = ''
  for (const word of text.split(' ')) {
    const longer = line === '' ? word : `${line} ${word}`
    if (line !== '' && widthOf(longer, size) > measure - (lines.length === 0 ? indent : 0)) {
      lines.push(line)
      line = word
    } else {
      line = longer
    }
  }
  return [...lines, line]
}

function writePdf({ title, author, pages, outline, page }) {
  const objects = []
  const add = (body) => objects.push(body)
  const catalog = add('')
  const tree = add('')
  const fonts = ['Times-Roman', 'Times-Bold', 'Times-Italic'].map((name) =>
    add(`<< /Type /Font /Subtype /Type1 /BaseFont /${name} /Encoding /WinAnsiEncoding >>`),
  )
  const resources = `<< /Font << ${fonts.map((id, n) => `/F${n + 1} ${id} 0 R`).join(' ')} >> >>`
  const ids = pages.map((drawn) => {
    const bytes = deflateSync(Buffer.from(drawn.join('\n'), 'latin1'), { level: 9 })
    const content = add(
      Buffer.concat([
        Buffer.from(`<< /Length ${bytes.length} /Filter /FlateDecode >>\nstream\n`),
        bytes,
        Buffer.from('\nendstream'),
      ]),
    )
    return add(
      `<< /Type /Page /Parent ${tree} 0 R /MediaBox [0 0 ${page.width} ${page.height}] /Resources ${resources} /Contents ${content} 0 R >>`,
    )
  })
  objects[tree - 1] =
    `<< /Type /Pages /Count ${ids.length} /Kids [${ids.map((id) => `${id} 0 R`).join(' ')}] >>`
  const root = add('')
  const entries = outline.map(() => add(''))
  for (const [n, entry] of outline.entries()) {
    const links = [`/Parent ${root} 0 R`, `/Dest [${ids[entry.page]} 0 R /XYZ 0 ${entry.y.toFixed(2)} 0]`]
    if (n > 0) links.push(`/Prev ${entries[n - 1]} 0 R`)
    if (n < entries.length - 1) links.push(`/Next ${entries[n + 1]} 0 R`)
    objects[entries[n] - 1] = `<< /Title ${literal(entry.title)} ${links.join(' ')} >>`
  }
  objects[root - 1] =
    `<< /Type /Outlines /First ${entries[0]} 0 R /Last ${entries.at(-1)} 0 R /Count ${entries.length} >>`
  objects[catalog - 1] =
    `<< /Type /Catalog /Pages ${tree} 0 R /Outlines ${root} 0 R /Lang (en-GB) /ViewerPreferences << /DisplayDocTitle true >> >>`
  const info = add(
    `<< /Title ${literal(title)} /Author ${literal(author)} /CreationDate (D:20261130090000Z) >>`,
  )
  const parts = [Buffer.from('%PDF-1.7\n%\xe2\xe3\xcf\xd3\n', 'latin1')]
  const offsets = []
  for (const [n, body] of objects.entries()) {
    offsets.push(parts.reduce((sum, part) => sum + part.length, 0))
    parts.push(
      Buffer.concat([
        Buffer.from(`${n + 1} 0 obj\n`),
        Buffer.isBuffer(body) ? body : Buffer.from(body, 'latin1'),
        Buffer.from('\nendobj\n'),
      ]),
    )
  }
  const start = parts.reduce((sum, part) => sum + part.length, 0)
  const table = offsets.map((offset) => `${String(offset).padStart(10, '0')} 00000 n \n`).join('')
  parts.push(
    Buffer.from(
      `xref\n0 ${objects.length + 1}\n0000000000 65535 f \n${table}trailer\n<< /Size ${objects.length + 1} /Root ${catalog} 0 R /Info ${info} 0 R >>\nstartxref\n${start}\n%%EOF\n`,
    ),
  )
  return Buffer.concat(parts)
}

function literal(text) {
  return `(${text.replaceAll(/[\\()]/g, (sign) => `\\${sign}`)})`
}

// ---- EPUB ---------------------------------------------------------------------------------------------------------

function makeEpub({ title, author, description, published, language, chapters }) {
  const page = (heading, body) => `<?xml version="1.0" encoding="utf-8"?>
<!DOCTYPE html>
<html xmlns="http://www.w3.org/1999/xhtml" xmlns:epub="http://www.idpf.org/2007/ops" lang="${language}" xml:lang="${language}">
<head><title>${heading}</title></head>
<body>
${body}
</body>
</html>
`
  const names = chapters.map((_chapter, n) => `chapter-${n + 1}.xhtml`)
  const item = (id, href, type, more = '') => `<item id="${id}" href="${href}" media-type="${type}"${more}/>`
  const xhtml = 'application/xhtml+xml'
  const opf = `<?xml version="1.0" encoding="utf-8"?>
<package xmlns="http://www.idpf.org/2007/opf" version="3.0" unique-identifier="id" xml:lang="${language}">
<metadata xmlns:dc="http://purl.org/dc/elements/1.1/">
<dc:identifier id="id">urn:uuid:5e4d9a34-6f1b-4c3e-9d0a-2b7c51f0c0de</dc:identifier>
<dc:title>${title}</dc:title>
<dc:creator id="author">${author}</dc:creator>
<meta refines="#author" property="role" scheme="marc:relators">aut</meta>
<dc:language>${language}</dc:language>
<dc:date>${published}</dc:date>
<dc:description>${description}</dc:description>
<dc:rights>CC0 1.0</dc:rights>
<meta property="dcterms:modified">2026-11-30T09:00:00Z</meta>
</metadata>
<manifest>
${[item('nav', 'nav.xhtml', xhtml, ' properties="nav"'), item('cover', 'cover.png', 'image/png', ' properties="cover-image"'), ...names.map((name, n) => item(`c${n + 1}`, name, xhtml))].join('\n')}
</manifest>
<spine>
${names.map((_name, n) => `<itemref idref="c${n + 1}"/>`).join('\n')}
</spine>
</package>
`
  const nav = chapters.map((chapter, n) => `<li><a href="${names[n]}">${chapter.title}</a></li>`).join('\n')
  const files = {
    mimetype: 'application/epub+zip',
    'META-INF/container.xml':
      '<?xml version="1.0"?>\n<container version="1.0" xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><rootfiles><rootfile full-path="EPUB/package.opf" media-type="application/oebps-package+xml"/></rootfiles></container>\n',
    'EPUB/package.opf': opf,
    'EPUB/nav.xhtml': page('Contents', `<nav epub:type="toc"><h1>Contents</h1><ol>\n${nav}\n</ol></nav>`),
    'EPUB/cover.png': drawCover(),
  }
  for (const [n, chapter] of chapters.entries()) {
    const paragraphs = chapter.text.map((paragraph) => `<p>${paragraph}</p>`).join('\n')
    files[`EPUB/${names[n]}`] = page(chapter.title, `<h1>${chapter.title}</h1>\n${paragraphs}`)
  }
  return zipSync(
    Object.fromEntries(
      Object.entries(files).map(([name, content]) => [
        name,
        [
          typeof content === 'string' ? strToU8(content) : content,
          { level: name === 'mimetype' ? 0 : 9, mtime: '2026-11-30T09:00:00' },
        ],
      ]),
    ),
  )
}

/** A cabinet of small drawers, each with its label and knob; one of them stands open. */
function drawCover() {
  const width = 400
  const height = 600
  const colours = ['f3ead7', '6b4226', '8a5a36', 'c9a227', 'fbf6ea', '3d2414'].map((hex) => [
    ...Buffer.from(hex, 'hex'),
  ])
  const pixels = new Uint8Array(width * height)
  const fill = (x, y, w, h, colour) => {
    for (let row = y; row < y + h; row++) pixels.fill(colour, row * width + x, row * width + x + w)
  }
  fill(40, 90, 320, 420, 5)
  for (let row = 0; row < 8; row++) {
    for (let column = 0; column < 4; column++) {
      const isOpen = row === 3 && column === 2
      const x = 50 + column * 76
      const y = 100 + row * 51 + (isOpen ? 6 : 0)
      fill(x, y, 72, 45, isOpen ? 2 : 1)
      fill(x + 14, y + 9, 44, 14, 3)
      fill(x + 16, y + 11, 40, 10, 4)
      fill(x + 33, y + 30, 6, 6, 3)
      if (isOpen) fill(x + 6, y - 8, 60, 8, 4)
    }
  }
  fill(60, 510, 20, 30, 5)
  fill(320, 510, 20, 30, 5)
  const rows = Buffer.concat(
    Array.from({ length: height }, (_row, y) =>
      Buffer.concat([Buffer.from([0]), pixels.subarray(y * width, (y + 1) * width)]),
    ),
  )
  const header = Buffer.alloc(13)
  header.writeUInt32BE(width, 0)
  header.writeUInt32BE(height, 4)
  header.set([8, 3, 0, 0, 0], 8)
  return Buffer.concat([
    Buffer.from('89504e470d0a1a0a', 'hex'),
    pngChunk('IHDR', header),
    pngChunk('PLTE', Buffer.from(colours.flat())),
    pngChunk('IDAT', deflateSync(rows, { level: 9 })),
    pngChunk('IEND', Buffer.alloc(0)),
  ])
}

function pngChunk(type, data) {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), data])
  const chunk = Buffer.alloc(body.length + 8)
  chunk.writeUInt32BE(data.length, 0)
  body.copy(chunk, 4)
  let crc = ~0
  for (const byte of body) {
    crc ^= byte
    for (let bit = 0; bit < 8; bit++) crc = (crc >>> 1) ^ (crc & 1 ? 0xedb88320 : 0)
  }
  chunk.writeUInt32BE(~crc >>> 0, body.length + 4)
  return chunk
}
