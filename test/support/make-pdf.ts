import { constants, deflateRawSync, deflateSync } from 'node:zlib'

/** A piece of text on a page. Points; y grows upwards from the foot, as PDF counts. Courier: a character is 0.6 × size. */
export interface PdfPiece {
  text: string
  x: number
  y: number
  size?: number
  font?: 'Courier' | 'Times-Roman' | 'Helvetica-Bold'
  /** Turned counter-clockwise by a quarter. */
  upright?: boolean
}

export interface PdfPage {
  pieces?: readonly PdfPiece[]
  /** The page shows a picture. */
  picture?: boolean
  /** Degrees clockwise by which a viewer turns the page. */
  rotate?: number
  /** The page's drawing unpacks to so many MiB of blanks. */
  bombMb?: number
}

export interface PdfPlan {
  pages: readonly PdfPage[]
  info?: Record<string, string>
  language?: string
  /** XMP, as it goes into the file. */
  xmp?: string
  outline?: readonly { title: string; page: number; children?: readonly { title: string; page: number }[] }[]
  /** Roman numbers for the first so many pages, then 1, 2, 3. */
  romanPages?: number
  /** Needs a password that nobody knows. */
  locked?: boolean
  compressed?: boolean
}

const FONTS = ['Courier', 'Times-Roman', 'Helvetica-Bold'] as const

/** Writes a small PDF 1.7 by hand: standard fonts, one content stream a page, a classic cross-reference table. */
export function makePdf(plan: PdfPlan): Uint8Array {
  const objects: Buffer[] = []
  const add = (body: string | Buffer): number => objects.push(Buffer.isBuffer(body) ? body : latin(body))
  const set = (id: number, body: string): void => void (objects[id - 1] = latin(body))

  const catalog = add('')
  const tree = add('')
  const fonts = FONTS.map((name) =>
    add(`<< /Type /Font /Subtype /Type1 /BaseFont /${name} /Encoding /WinAnsiEncoding >>`),
  )
  const picture = add(
    stream(
      Buffer.from([200, 120, 40]),
      '/Type /XObject /Subtype /Image /Width 1 /Height 1 /ColorSpace /DeviceRGB /BitsPerComponent 8',
    ),
  )
  const resources = `<< /Font << ${fonts.map((id, i) => `/F${i} ${id} 0 R`).join(' ')} >> /XObject << /Im ${picture} 0 R >> >>`
  const pageIds = plan.pages.map((page) => {
    const drawn = latin(drawingOf(page))
    const content = add(
      page.bombMb !== undefined
        ? stream(bombOf(page.bombMb), '/Filter /FlateDecode')
        : plan.compressed
          ? stream(deflateSync(drawn), '/Filter /FlateDecode')
          : stream(drawn, ''),
    )
    const rotate = page.rotate === undefined ? '' : `/Rotate ${page.rotate}`
    return add(
      `<< /Type /Page /Parent ${tree} 0 R /MediaBox [0 0 612 792] ${rotate} /Resources ${resources} /Contents ${content} 0 R >>`,
    )
  })
  set(
    tree,
    `<< /Type /Pages /Count ${pageIds.length} /Kids [${pageIds.map((id) => `${id} 0 R`).join(' ')}] >>`,
  )
  const extras: string[] = []
  if (plan.language !== undefined) extras.push(`/Lang ${literal(plan.language)}`)
  if (plan.xmp !== undefined) {
    extras.push(
      `/Metadata ${add(stream(Buffer.from(plan.xmp, 'utf8'), '/Type /Metadata /Subtype /XML'))} 0 R`,
    )
  }
  if (plan.romanPages !== undefined) {
    extras.push(`/PageLabels << /Nums [0 << /S /r >> ${plan.romanPages} << /S /D >>] >>`)
  }
  if (plan.outline !== undefined) extras.push(`/Outlines ${addOutline(plan.outline, pageIds, add, set)} 0 R`)
  set(catalog, `<< /Type /Catalog /Pages ${tree} 0 R ${extras.join(' ')} >>`)
  const info = add(
    `<< ${Object.entries(plan.info ?? {})
      .map(([key, value]) => `/${key} ${literal(value)}`)
      .join(' ')} >>`,
  )
  const junk = `<${'5a'.repeat(32)}>`
  const lock = plan.locked
    ? `/Encrypt ${add(`<< /Filter /Standard /V 1 /R 2 /O ${junk} /U ${junk} /P -4 >>`)} 0 R /ID [${junk} ${junk}]`
    : ''
  return assemble(objects, `/Root ${catalog} 0 R /Info ${info} 0 R ${lock}`)
}

type Add = (body: string) => number
type Put = (id: number, body: string) => void

function addOutline(
  entries: NonNullable<PdfPlan['outline']>,
  pages: readonly number[],
  add: Add,
  put: Put,
): number {
  const root = add('')
  const addLevel = (
    level: readonly { title: string; page: number; children?: readonly { title: string; page: number }[] }[],
    parent: number,
  ): [number, number] => {
    const ids = level.map(() => add(''))
    for (const [index, entry] of level.entries()) {
      const id = ids[index] ?? 0
      const links = [`/Parent ${parent} 0 R`, `/Dest [${pages[entry.page - 1]} 0 R /Fit]`]
      if (index > 0) links.push(`/Prev ${ids[index - 1]} 0 R`)
      if (index < ids.length - 1) links.push(`/Next ${ids[index + 1]} 0 R`)
      if (entry.children) {
        const [first, last] = addLevel(entry.children, id)
        links.push(`/First ${first} 0 R /Last ${last} 0 R /Count ${entry.children.length}`)
      }
      put(id, `<< /Title ${literal(entry.title)} ${links.join(' ')} >>`)
    }
    return [ids[0] ?? 0, ids.at(-1) ?? 0]
  }
  const [first, last] = addLevel(entries, root)
  put(root, `<< /Type /Outlines /First ${first} 0 R /Last ${last} 0 R /Count ${entries.length} >>`)
  return root
}

/** A zlib stream of one packed mebibyte over and over. */
function bombOf(megabytes: number): Buffer {
  const packed = deflateRawSync(Buffer.alloc(2 ** 20, ' '), { finishFlush: constants.Z_FULL_FLUSH, level: 9 })
  const times = Array.from({ length: megabytes }, () => packed)
  return Buffer.concat([Buffer.from([0x78, 0xda]), ...times, Buffer.from([0x03, 0x00])])
}

function drawingOf(page: PdfPage): string {
  const parts: string[] = []
  if (page.picture) parts.push('q 400 0 0 500 100 100 cm /Im Do Q')
  for (const piece of page.pieces ?? []) {
    const font = FONTS.indexOf(piece.font ?? 'Courier')
    const matrix = piece.upright ? '0 1 -1 0' : '1 0 0 1'
    parts.push(
      `BT /F${font} ${piece.size ?? 10} Tf ${matrix} ${piece.x} ${piece.y} Tm ${literal(piece.text)} Tj ET`,
    )
  }
  return parts.join('\n')
}

function stream(bytes: Buffer, dictionary: string): Buffer {
  return Buffer.concat([
    latin(`<< ${dictionary} /Length ${bytes.length} >>\nstream\n`),
    bytes,
    latin('\nendstream'),
  ])
}

/** A string of a PDF; what Latin-1 lacks goes in as UTF-16 (in metadata; page text stays within WinAnsi). */
function literal(text: string): string {
  if (/[\u0100-\uffff]/u.test(text)) {
    const utf16 = Buffer.from(`\ufeff${text}`, 'utf16le').swap16()
    return `<${utf16.toString('hex')}>`
  }
  return `(${text.replaceAll(/[\\()]/gu, (sign) => `\\${sign}`)})`
}

function assemble(objects: readonly Buffer[], trailer: string): Uint8Array {
  const parts: Buffer[] = [latin('%PDF-1.7\n%\u00e2\u00e3\u00cf\u00d3\n')]
  let length = parts[0]?.length ?? 0
  const offsets: number[] = []
  for (const [index, body] of objects.entries()) {
    const object = Buffer.concat([latin(`${index + 1} 0 obj\n`), body, latin('\nendobj\n')])
    offsets.push(length)
    length += object.length
    parts.push(object)
  }
  const table = offsets.map((offset) => `${String(offset).padStart(10, '0')} 00000 n \n`).join('')
  parts.push(
    latin(
      `xref\n0 ${objects.length + 1}\n0000000000 65535 f \n${table}trailer\n<< /Size ${objects.length + 1} ${trailer} >>\nstartxref\n${length}\n%%EOF\n`,
    ),
  )
  return new Uint8Array(Buffer.concat(parts))
}

function latin(text: string): Buffer {
  return Buffer.from(text, 'latin1')
}

/** Cuts words into lines of at most `width` characters, as a typewriter would. */
export function wrap(text: string, width: number): string[] {
  const lines: string[] = []
  let line = ''
  for (const word of text.split(' ')) {
    if (line !== '' && line.length + 1 + word.length > width) {
      lines.push(line)
      line = word
    } else {
      line = line === '' ? word : `${line} ${word}`
    }
  }
  if (line !== '') lines.push(line)
  return lines
}
