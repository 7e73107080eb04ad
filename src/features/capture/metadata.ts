import type { DomDocument, DomElement } from './article-dom.ts'
import { findWork, namesIn, stringsIn } from './metadata-json-ld.ts'
import type { JsonLdNode } from './metadata-json-ld.ts'
import { authorsFrom } from './metadata-authors.ts'
import { readCivilDate } from './metadata-date.ts'

/** What a page says of itself; null where it says nothing. */
export interface PageMetadata {
  title: string | null
  authors: string[]
  site: string | null
  /** BCP 47, such as `en-GB`. */
  language: string | null
  /** `YYYY`, `YYYY-MM` or `YYYY-MM-DD`, as precise as the page has it, in the page's own zone. */
  published: string | null
  description: string | null
  canonicalUrl: string | null
  coverUrl: string | null
  ampUrl: string | null
}

/**
 * Reads the metadata of a page from JSON-LD (schema.org), OpenGraph, Dublin Core, Highwire (`citation_…`), microdata and
 * plain HTML. To be called before an extractor changes the document.
 */
export function readMetadata(document: DomDocument, base: string): PageMetadata {
  const meta = readMetaTags(document)
  const work = findWork(document, base)
  const first = (...names: string[]) => names.map((name) => meta.get(name)?.find(isUsable)).find(Boolean)
  const known = (...values: (string | undefined)[]) => clean(values.find((value) => value && isUsable(value)))
  const address = (...values: (string | null | undefined)[]) => {
    for (const value of values) {
      const url = value ? absolute(value, base) : undefined
      if (url) return url
    }
    return null
  }

  const site = known(first('og:site_name'), siteOf(work), first('application-name', 'citation_journal_title'))
  const title = known(
    first('citation_title', 'og:title'),
    stringsIn(work?.['headline'])[0] ?? stringsIn(work?.['name'])[0],
    first('twitter:title', 'dc.title', 'dcterms.title', 'parsely-title', 'sailthru.title'),
    onlyHeading(document),
    document.querySelector('title')?.textContent ?? undefined,
  )
  const host = new URL(base).hostname.replace(/^www\./, '')
  return {
    title: title && withoutSite(title, [site, host]),
    authors: readAuthors(document, meta, work, site),
    site,
    language: readLanguage(document, meta, work),
    published: readPublished(document, meta, work),
    description: known(
      first('og:description', 'description', 'twitter:description', 'dc.description', 'dcterms.abstract'),
      stringsIn(work?.['description'])[0],
    ),
    canonicalUrl: readCanonical(document, first('og:url'), base),
    coverUrl: address(
      first('og:image:secure_url', 'og:image', 'og:image:url', 'twitter:image', 'twitter:image:src'),
      imageOf(work),
      document.querySelector('link[rel="image_src"]')?.getAttribute('href'),
      first('thumbnail', 'parsely-image-url', 'sailthru.image.full', 'image'),
    ),
    ampUrl: address(linkOf(document, 'amphtml')),
  }
}

type MetaTags = Map<string, string[]>

function readMetaTags(document: DomDocument): MetaTags {
  const tags: MetaTags = new Map()
  for (const tag of document.querySelectorAll('meta')) {
    const content = tag.getAttribute('content')?.trim()
    if (!content) continue
    const names = ['property', 'name', 'itemprop', 'http-equiv'].map((name) => tag.getAttribute(name) ?? '')
    for (const name of new Set(names.flatMap((list) => list.toLowerCase().split(/\s+/)).filter(Boolean))) {
      const list = tags.get(name)
      if (list) list.push(content)
      else tags.set(name, [content])
    }
  }
  return tags
}

/** False for what templates leave behind: `{{title}}`, `undefined`, marks without a letter or digit. */
function isUsable(value: string): boolean {
  return /[\p{L}\p{N}]/u.test(value) && !/\{\{|\}\}|^\s*(?:undefined|null|none|n\/a|\[object)/i.test(value)
}

function clean(value: string | undefined): string | null {
  return value?.replace(/\s+/g, ' ').trim().slice(0, 2000) || null
}

function absolute(value: string, base: string): string | undefined {
  if (!URL.canParse(value.trim(), base)) return undefined
  const url = new URL(value.trim(), base)
  return /^https?:$/.test(url.protocol) ? url.href : undefined
}

function linkOf(document: DomDocument, rel: string): string | null {
  return document.querySelector(`link[rel~="${rel}"]`)?.getAttribute('href') ?? null
}

/** A canonical link to the front page of the site is a mistake of the template, not the page's address. */
function readCanonical(document: DomDocument, openGraph: string | undefined, base: string): string | null {
  for (const value of [linkOf(document, 'canonical'), openGraph]) {
    const url = value ? absolute(value, base) : undefined
    if (!url) continue
    const isFront = /^\/?$/.test(new URL(url).pathname) && new URL(url).search === ''
    if (!isFront || /^\/?$/.test(new URL(base).pathname)) return url
  }
  return null
}

function onlyHeading(document: DomDocument): string | undefined {
  const headings = [...document.querySelectorAll('h1')]
  return headings.length === 1 ? (headings[0]?.textContent ?? undefined) : undefined
}

/** Takes ` | Site` or `Site: ` off a title. */
function withoutSite(title: string, names: (string | null)[]): string {
  const fold = (text: string) => text.toLowerCase().replace(/^the\s+|\.(?:com|org|net)$|[^\p{L}\p{N}]/gu, '')
  const sites = new Set(names.flatMap((name) => (name ? [fold(name)] : [])).filter(Boolean))
  const tail = /^(.+?)\s+[|–—·»«:-]\s+([^|–—·»«]+)$/.exec(title)
  if (tail?.[1] && tail[2] && sites.has(fold(tail[2]))) return withoutSite(tail[1], names)
  const lead = /^([^|–—·»«:]+?)\s*[|–—·»«:]\s+(.+)$/.exec(title)
  return lead?.[1] && lead[2] && sites.has(fold(lead[1])) ? lead[2] : title
}

function siteOf(work: JsonLdNode | undefined): string | undefined {
  return namesIn(work?.['publisher'])[0] ?? namesIn(work?.['isPartOf'])[0]
}

function imageOf(work: JsonLdNode | undefined): string | undefined {
  const image = work?.['image']
  const one = Array.isArray(image) ? image[0] : image
  if (typeof one === 'object' && one !== null && 'url' in one) return stringsIn(one.url)[0]
  return stringsIn(one)[0] ?? stringsIn(work?.['thumbnailUrl'])[0]
}

function readAuthors(
  document: DomDocument,
  meta: MetaTags,
  work: JsonLdNode | undefined,
  site: string | null,
): string[] {
  const sources: (() => string[])[] = [
    () => (meta.get('citation_author') ?? []).map(firstNameFirst),
    () => namesIn(work?.['author']),
    () => meta.get('article:author') ?? [],
    () => meta.get('parsely-author') ?? [],
    () => meta.get('sailthru.author') ?? [],
    () => (meta.get('dc.creator') ?? meta.get('dcterms.creator') ?? []).map(firstNameFirst),
    () => meta.get('byl') ?? [],
    () => meta.get('author') ?? [],
    () => microdataNames(document),
    () => textsOf(document, 'a[rel~="author"], .byline a[href*="author"], .author-name', 3),
  ]
  for (const source of sources) {
    const authors = authorsFrom(source().filter(isUsable), site)
    if (authors.length > 0) return authors
  }
  return []
}

/** Citation tags write `Last, First`. */
function firstNameFirst(name: string): string {
  const parts = /^([^,]+),\s*([^,]+)$/.exec(name)
  return parts ? `${parts[2]} ${parts[1]}` : name
}

function microdataNames(document: DomDocument): string[] {
  const names: string[] = []
  for (const element of document.querySelectorAll('[itemprop~="author"]')) {
    const name = element.querySelector('[itemprop~="name"]') ?? element
    const text = name.getAttribute('content') ?? name.textContent ?? ''
    if (text.length < 120) names.push(text)
    if (names.length > 10) break
  }
  return names
}

/** Texts of the matching elements, or none where there are too many to be this page's own. */
function textsOf(document: DomDocument, selector: string, most: number): string[] {
  const found = [...document.querySelectorAll(selector)].map(
    (element: DomElement) => element.textContent ?? '',
  )
  return found.length <= most ? found.filter((text) => text.trim() !== '' && text.length < 100) : []
}

function readLanguage(document: DomDocument, meta: MetaTags, work: JsonLdNode | undefined): string | null {
  const root = document.documentElement
  const sources = [
    root?.getAttribute('lang'),
    root?.getAttribute('xml:lang'),
    stringsIn(work?.['inLanguage'])[0],
    meta.get('content-language')?.[0],
    meta.get('og:locale')?.[0],
    meta.get('dc.language')?.[0],
    meta.get('language')?.[0],
  ]
  for (const source of sources) {
    const tag = source?.split(',')[0]?.trim().replaceAll('_', '-')
    if (!tag) continue
    try {
      const language = Intl.getCanonicalLocales(tag)[0]
      if (language) return language
    } catch {
      // Not a language tag: the next source may have one.
    }
  }
  return null
}

function readPublished(document: DomDocument, meta: MetaTags, work: JsonLdNode | undefined): string | null {
  const names = [
    'article:published_time',
    'citation_publication_date',
    'citation_date',
    'citation_online_date',
    'datepublished',
    'parsely-pub-date',
    'sailthru.date',
    'dc.date.issued',
    'dcterms.issued',
    'dc.date',
    'dcterms.date',
    'dcterms.created',
    'publish-date',
    'publish_date',
    'publishdate',
    'pubdate',
    'og:published_time',
    'date',
  ]
  const candidates = [
    ...stringsIn(work?.['datePublished']),
    ...names.flatMap((name) => meta.get(name) ?? []),
    ...stringsIn(work?.['dateCreated']),
    ...datesOf(document),
  ]
  for (const candidate of candidates) {
    const date = readCivilDate(candidate)
    if (date) return date
  }
  return null
}

function datesOf(document: DomDocument): string[] {
  const marked = document.querySelectorAll('[itemprop~="datePublished"], time[pubdate]')
  const times = [
    ...document.querySelectorAll('article time[datetime], header time[datetime], time[datetime]'),
  ]
  // A time inside a link to another page dates that page.
  const own = times.filter((time) => !time.closest('a[href]') || times.length === 1)
  return [...marked, ...own.slice(0, 1)].map(
    (element) =>
      element.getAttribute('datetime') ??
      element.getAttribute('content') ??
      element.textContent?.trim() ??
      '',
  )
}
