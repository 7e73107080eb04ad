import { strToU8, zipSync, type Zippable } from 'fflate'

export interface EpubPlan {
  version?: 2 | 3
  title?: string
  /** Metadata elements as they go into the package file, after the title. */
  metadata?: string
  /** Chapters by file name, bodies only. Names stand in the archive as given and percent-encoded in the package. */
  chapters: Record<string, string>
  /** Entries of the contents: title and address. */
  contents?: readonly (readonly [title: string, href: string])[]
  cover?: Uint8Array
  /** More files, or other ones: `null` leaves a file out. */
  files?: Record<string, Uint8Array | string | null>
}

/** Writes a small EPUB, deterministic: `OEBPS/book.opf` with a nav (EPUB 3) or an NCX (EPUB 2). */
export function makeEpub(plan: EpubPlan): Uint8Array {
  const version = plan.version ?? 3
  const names = Object.keys(plan.chapters)
  const files: Record<string, Uint8Array | string | null> = {
    mimetype: 'application/epub+zip',
    'META-INF/container.xml':
      '<?xml version="1.0"?><container version="1.0" xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><rootfiles><rootfile full-path="OEBPS/book.opf" media-type="application/oebps-package+xml"/></rootfiles></container>',
    'OEBPS/book.opf': packageOf(plan, version, names),
  }
  const contents = plan.contents ?? []
  if (contents.length > 0) {
    if (version === 3) {
      const items = contents
        .map(([title, href]) => `<li><a href="${href}"><span>${title}</span></a></li>`)
        .join('')
      files['OEBPS/nav.xhtml'] = page(
        'Contents',
        `<nav epub:type="toc"><h1>Contents</h1><ol>${items}</ol></nav>`,
      )
    } else {
      const points = contents.map(
        ([title, href], n) =>
          `<navPoint id="n${n}" playOrder="${n + 1}"><navLabel><text>${title}</text></navLabel><content src="${href}"/></navPoint>`,
      )
      files['OEBPS/toc.ncx'] =
        `<?xml version="1.0"?><ncx xmlns="http://www.daisy.org/z3986/2005/ncx/" version="2005-1"><navMap>${points.join('')}</navMap></ncx>`
    }
  }
  for (const name of names) files[`OEBPS/${name}`] = page(name, plan.chapters[name] ?? '')
  if (plan.cover) files['OEBPS/images/front.png'] = plan.cover
  return zipOf({ ...files, ...plan.files })
}

export function zipOf(files: Record<string, Uint8Array | string | null>): Uint8Array {
  const entries: Zippable = {}
  for (const [name, content] of Object.entries(files)) {
    if (content === null) continue
    entries[name] = [
      typeof content === 'string' ? strToU8(content) : content,
      { level: name === 'mimetype' ? 0 : 9, mtime: '2020-01-01T00:00:00' },
    ]
  }
  return zipSync(entries)
}

function packageOf(plan: EpubPlan, version: 2 | 3, names: readonly string[]): string {
  const items = names.map(
    (name, n) => `<item id="c${n}" href="${encodeURI(name)}" media-type="application/xhtml+xml"/>`,
  )
  if (version === 3) {
    items.push('<item id="nav" href="nav.xhtml" media-type="application/xhtml+xml" properties="nav"/>')
    if (plan.cover)
      items.push('<item id="pic" href="images/front.png" media-type="image/png" properties="cover-image"/>')
  } else {
    items.push('<item id="ncx" href="toc.ncx" media-type="application/x-dtbncx+xml"/>')
    if (plan.cover) items.push('<item id="pic" href="images/front.png" media-type="image/png"/>')
  }
  const coverMeta = version === 2 && plan.cover ? '<meta name="cover" content="pic"/>' : ''
  const spine = names.map((_name, n) => `<itemref idref="c${n}"/>`).join('')
  return `<?xml version="1.0" encoding="utf-8"?><package xmlns="http://www.idpf.org/2007/opf" version="${version}.0"><metadata xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:opf="http://www.idpf.org/2007/opf"><dc:title>${plan.title ?? 'A Book'}</dc:title>${plan.metadata ?? ''}${coverMeta}</metadata><manifest>${items.join('')}</manifest><spine${version === 2 ? ' toc="ncx"' : ''}>${spine}</spine></package>`
}

/** A chapter as tools write them, with an empty element closed in its own tag. */
function page(title: string, body: string): string {
  return `<?xml version="1.0" encoding="utf-8"?>\n<!DOCTYPE html>\n<html xmlns="http://www.w3.org/1999/xhtml" xmlns:epub="http://www.idpf.org/2007/ops"><head><title>${title}</title><script src="x.js"/></head><body>${body}</body></html>`
}
