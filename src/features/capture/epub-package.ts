import { XMLParser } from 'fast-xml-parser'
import { isbn13Of } from '../sources/isbn.ts'
import { damagedEpub, resolveName } from './epub-archive.ts'
import { civilDate } from './civil-date.ts'
import { languageTag } from './language-tag.ts'

/** What the package file of an EPUB (2 or 3) says. Names are those of the archive. */
export interface EpubPackage {
  title: string | null
  /** Creators that are authors, in order; all creators when none is marked as one. */
  authors: string[]
  /** Everybody named, with the MARC relator code of what they did (`aut`, `trl`, `ill`), where given. */
  contributors: { name: string; role: string | null }[]
  language: string | null
  /** `YYYY`, `YYYY-MM` or `YYYY-MM-DD`. */
  published: string | null
  publisher: string | null
  /** May be HTML. */
  description: string | null
  /** ISBN-13, each once. */
  isbns: string[]
  /** Chapter files in reading order. */
  spine: string[]
  /** Navigation document of EPUB 3. */
  nav: string | null
  /** Table of contents of EPUB 2. */
  ncx: string | null
  /** The picture, or in old books a page that shows it. */
  cover: string | null
  coverPage: string | null
}

interface Xml {
  [name: string]: unknown
}

const parser = new XMLParser({
  ignoreAttributes: false,
  attributeNamePrefix: '@',
  removeNSPrefix: true,
  parseTagValue: false,
  parseAttributeValue: false,
  htmlEntities: true,
})

export function parseXml(text: string, what: string): Xml {
  try {
    const parsed: unknown = parser.parse(text)
    return asXml(parsed)
  } catch (error) {
    throw damagedEpub(`Its ${what} is broken.`, error)
  }
}

/** Where the package file stands, by `META-INF/container.xml`. */
export function packageName(container: string): string | undefined {
  const files = all(asXml(asXml(parseXml(container, 'container file')['container'])['rootfiles'])['rootfile'])
  const wanted =
    files.find((file) => file['@media-type'] === 'application/oebps-package+xml') ?? files.find(() => true)
  const path = wanted?.['@full-path']
  return typeof path === 'string' ? resolveName('', path) : undefined
}

export function readPackage(opf: string, name: string): EpubPackage {
  const root = asXml(parseXml(opf, 'package file')['package'])
  const metadata = asXml(root['metadata'])
  // The first EPUBs kept the Dublin Core terms one level deeper.
  const terms = { ...metadata, ...asXml(metadata['dc-metadata']) }
  const metas = [...all(metadata['meta']), ...all(asXml(metadata['x-metadata'])['meta'])]
  const manifest = new Map<string, Xml>()
  for (const item of all(asXml(root['manifest'])['item'])) manifest.set(String(item['@id']), item)
  const hrefOf = (item: Xml | undefined): string | null =>
    typeof item?.['@href'] === 'string' ? resolveName(name, item['@href']) : null
  const items = [...manifest.values()]
  const nav = hrefOf(items.find((item) => wordsIn(item['@properties']).includes('nav')))
  const spineNode = asXml(root['spine'])
  return {
    title: mainTitle(all(terms['title']), metas),
    ...people(all(terms['creator']), all(terms['contributor']), metas),
    language:
      all(terms['language'])
        .map((node) => languageTag(textIn(node)))
        .find((tag) => tag !== null) ?? null,
    published: publicationDate(all(terms['date'])),
    publisher:
      all(terms['publisher'])
        .map(textIn)
        .find((text) => text !== '') ?? null,
    description:
      all(terms['description'])
        .map(textIn)
        .find((text) => text !== '') ?? null,
    isbns: isbnsIn(all(terms['identifier'])),
    spine: spineOf(spineNode, manifest, hrefOf).filter((chapter) => chapter !== nav),
    nav,
    ncx: hrefOf(
      manifest.get(String(spineNode['@toc'])) ??
        items.find((item) => item['@media-type'] === 'application/x-dtbncx+xml'),
    ),
    cover: coverOf(items, manifest, metas, hrefOf, name),
    coverPage: coverPageOf(asXml(root['guide']), name),
  }
}

/** What refines `id` (EPUB 3.3, 5.3.2), by property. */
function refinement(metas: readonly Xml[], id: unknown, property: string): string | undefined {
  if (typeof id !== 'string') return undefined
  const found = metas.find((meta) => meta['@refines'] === `#${id}` && meta['@property'] === property)
  return found && textIn(found)
}

function mainTitle(titles: readonly Xml[], metas: readonly Xml[]): string | null {
  const main = titles.find((title) => refinement(metas, title['@id'], 'title-type') === 'main')
  const text = textIn(main ?? titles[0] ?? {})
  return text === '' ? null : text
}

function people(
  creators: readonly Xml[],
  others: readonly Xml[],
  metas: readonly Xml[],
): Pick<EpubPackage, 'authors' | 'contributors'> {
  const named = (node: Xml): { name: string; role: string | null }[] => {
    const stated = node['@role'] ?? refinement(metas, node['@id'], 'role')
    const role = typeof stated === 'string' && stated !== '' ? stated.toLowerCase() : null
    // Some tools put several people into one element.
    return textIn(node)
      .split(/\s*;\s*/u)
      .filter((name) => name !== '' && !/^(?:unknown|anonymous|unbekannt)$/iu.test(name))
      .map((name) => ({ name, role }))
  }
  const made = creators.flatMap(named)
  const helped = others.flatMap(named)
  const isAuthor = ({ role }: { role: string | null }): boolean => role === null || role === 'aut'
  const authors = made.some(isAuthor) ? made.filter(isAuthor) : made
  return { authors: [...new Set(authors.map(({ name }) => name))], contributors: [...made, ...helped] }
}

function publicationDate(dates: readonly Xml[]): string | null {
  const of = (event: string | undefined): Xml | undefined => dates.find((date) => date['@event'] === event)
  const date = of('publication') ?? of('original-publication') ?? of(undefined)
  return date ? civilDate(textIn(date)) : null
}

function isbnsIn(identifiers: readonly Xml[]): string[] {
  const found = identifiers.flatMap((node) => {
    const text = textIn(node).replace(/^urn:isbn:/iu, '')
    // Ten digits without a name may be any shop's number.
    const isNamed = /isbn/iu.test(`${String(node['@scheme'] ?? '')} ${textIn(node)}`)
    if (!isNamed && !/^97[89][\d-]+$/u.test(text)) return []
    return isbn13Of(text) ?? []
  })
  return [...new Set(found)]
}

function spineOf(
  spine: Xml,
  manifest: ReadonlyMap<string, Xml>,
  hrefOf: (item: Xml | undefined) => string | null,
): string[] {
  const chapters: string[] = []
  for (const ref of all(spine['itemref'])) {
    let item = manifest.get(String(ref['@idref']))
    // A chapter in a form of its own names another that shows the same.
    for (let hops = 0; item && hops < 5 && !isPage(item); hops++)
      item = manifest.get(String(item['@fallback']))
    const href = item && isPage(item) ? hrefOf(item) : null
    if (href !== null && !chapters.includes(href)) chapters.push(href)
  }
  return chapters
}

function isPage(item: Xml): boolean {
  const type = String(item['@media-type'] ?? '').toLowerCase()
  return (
    /^(?:application\/xhtml\+xml|text\/html|text\/x-oeb1-document)$/u.test(type) ||
    (type === '' && /\.x?html?$/iu.test(String(item['@href'])))
  )
}

function coverOf(
  items: readonly Xml[],
  manifest: ReadonlyMap<string, Xml>,
  metas: readonly Xml[],
  hrefOf: (item: Xml | undefined) => string | null,
  name: string,
): string | null {
  const isPicture = (item: Xml | undefined): boolean =>
    String(item?.['@media-type'] ?? '').startsWith('image/')
  const marked = items.find((item) => wordsIn(item['@properties']).includes('cover-image'))
  if (isPicture(marked)) return hrefOf(marked)
  const meta = metas.find((node) => node['@name'] === 'cover')?.['@content']
  if (typeof meta === 'string') {
    const item = manifest.get(meta)
    if (isPicture(item)) return hrefOf(item)
    // Some books give the file's name instead of its id.
    if (/\.(?:jpe?g|png|gif|webp)$/iu.test(meta)) return resolveName(name, meta)
  }
  const called = items.find(
    (item) => isPicture(item) && /cover/iu.test(`${String(item['@id'])} ${String(item['@href'])}`),
  )
  return hrefOf(called)
}

function coverPageOf(guide: Xml, name: string): string | null {
  const href = all(guide['reference']).find((node) => String(node['@type']).toLowerCase() === 'cover')?.[
    '@href'
  ]
  return typeof href === 'string' ? resolveName(name, href) : null
}

export function asXml(value: unknown): Xml {
  if (Array.isArray(value)) return asXml(value[0])
  if (typeof value === 'string') return { '#text': value }
  return typeof value === 'object' && value !== null ? { ...value } : {}
}

/** One node, several or none, as a list. */
export function all(value: unknown): Xml[] {
  if (value === undefined || value === null || value === '') return []
  return Array.isArray(value) ? value.map(asXml) : [asXml(value)]
}

export function textIn(node: Xml): string {
  const text = node['#text']
  return typeof text === 'string' ? text.replaceAll(/\s+/gu, ' ').trim() : ''
}

function wordsIn(value: unknown): string[] {
  return typeof value === 'string' ? value.split(/\s+/u) : []
}
