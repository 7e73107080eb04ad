import { resolveName } from './epub-archive.ts'
import { all, asXml, parseXml, textIn } from './epub-package.ts'
import { parseXhtml } from './epub-chapter.ts'

/** An entry of a book's table of contents. */
export interface ContentsEntry {
  title: string
  /** File of the archive. */
  file: string
  /** Whether it points into the file rather than at its beginning. */
  isInside: boolean
}

const MOST_ENTRIES = 5_000

/** The table of contents of EPUB 3: the `nav` of type `toc`, nested lists flattened in order. */
export function contentsOfNav(xhtml: string, name: string): ContentsEntry[] {
  const document = parseXhtml(xhtml)
  const navs = [...document.querySelectorAll('nav')]
  const isContents = (type: string | null): boolean => /(?:^|\s)(?:toc|doc-toc)(?:\s|$)/u.test(type ?? '')
  const nav =
    navs.find(
      (node) => isContents(node.getAttribute('epub:type')) || isContents(node.getAttribute('role')),
    ) ?? navs[0]
  const entries = [...(nav?.querySelectorAll('a') ?? [])].map((link) =>
    entryOf(link.textContent ?? '', link.getAttribute('href') ?? '', name),
  )
  return entries.filter((entry) => entry !== undefined).slice(0, MOST_ENTRIES)
}

/** The table of contents of EPUB 2 (`toc.ncx`), likewise. */
export function contentsOfNcx(ncx: string, name: string): ContentsEntry[] {
  const entries: ContentsEntry[] = []
  const walk = (points: ReturnType<typeof all>, depth: number): void => {
    for (const point of points) {
      const title = textIn(asXml(asXml(point['navLabel'])['text']))
      const src = asXml(point['content'])['@src']
      const entry = typeof src === 'string' ? entryOf(title, src, name) : undefined
      if (entry && entries.length < MOST_ENTRIES) entries.push(entry)
      if (depth < 10) walk(all(point['navPoint']), depth + 1)
    }
  }
  walk(all(asXml(asXml(parseXml(ncx, 'table of contents')['ncx'])['navMap'])['navPoint']), 0)
  return entries
}

function entryOf(text: string, href: string, name: string): ContentsEntry | undefined {
  const title = text.replaceAll(/\s+/gu, ' ').trim()
  if (title === '' || href === '') return undefined
  return { title, file: resolveName(name, href), isInside: href.includes('#') }
}
