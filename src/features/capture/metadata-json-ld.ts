import type { DomDocument } from './article-dom.ts'

export type JsonLdNode = Record<string, unknown>

const MAX_SCRIPT = 500_000
const MAX_NODES = 2000
const WORKS =
  /^(?:NewsArticle|ReportageNewsArticle|AnalysisNewsArticle|OpinionNewsArticle|BlogPosting|LiveBlogPosting|SocialMediaPosting|DiscussionForumPosting|Article|TechArticle|ScholarlyArticle|MedicalScholarlyArticle|Report|Recipe|HowTo|Review|Book|Chapter|CreativeWork|PodcastEpisode|VideoObject)$/
const PAGES = /^(?:WebPage|ItemPage|AboutPage|FAQPage|ProfilePage)$/

/** The node of the page's JSON-LD that describes its article: by type, and of several the one that names this address. */
export function findWork(document: DomDocument, url: string): JsonLdNode | undefined {
  const nodes: JsonLdNode[] = []
  for (const script of document.querySelectorAll('script[type*="ld+json"]')) {
    const source = script.textContent ?? ''
    if (source.length > MAX_SCRIPT) continue
    const data = parseLeniently(source)
    if (data !== undefined) collect(data, nodes)
  }
  const byId = new Map(
    nodes.flatMap((node) => (typeof node['@id'] === 'string' ? [[node['@id'], node] as const] : [])),
  )
  const works = nodes.filter((node) => typesOf(node).some((type) => WORKS.test(type)))
  const own = works.find((node) => namesAddress(node, url)) ?? works[0]
  const found = own ?? nodes.find((node) => typesOf(node).some((type) => PAGES.test(type)))
  return found && withReferences(found, byId)
}

/** Pages escape too little: control characters inside strings, or comments around the JSON. */
function parseLeniently(source: string): unknown {
  const text = source
    .replace(/^\s*(?:\/\/\s*)?(?:<!--|<!\[CDATA\[|\/\*.*?\*\/)|(?:\/\/\s*)?(?:-->|\]\]>)\s*;?\s*$/g, '')
    .trim()
  // eslint-disable-next-line no-control-regex -- raw line ends inside strings are the commonest fault
  for (const attempt of [text, text.replace(/[\u0000-\u001F]+/g, ' '), text.replace(/;\s*$/, '')]) {
    try {
      return JSON.parse(attempt)
    } catch {
      // The next attempt forgives more.
    }
  }
  return undefined
}

function collect(data: unknown, into: JsonLdNode[]): void {
  const waiting: { value: unknown; depth: number }[] = [{ value: data, depth: 0 }]
  for (let next = waiting.shift(); next && into.length < MAX_NODES; next = waiting.shift()) {
    const { value, depth } = next
    if (depth > 6) continue
    if (Array.isArray(value))
      waiting.push(...value.slice(0, MAX_NODES).map((item: unknown) => ({ value: item, depth: depth + 1 })))
    else if (isNode(value)) {
      if (value['@type'] !== undefined) into.push(value)
      for (const key of ['@graph', 'mainEntity', 'mainEntityOfPage', 'hasPart'])
        waiting.push({ value: value[key], depth: depth + 1 })
    }
  }
}

function isNode(value: unknown): value is JsonLdNode {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function typesOf(node: JsonLdNode): string[] {
  return stringsIn(node['@type']).map((type) => type.replace(/^.*[/:#]/, ''))
}

function namesAddress(node: JsonLdNode, url: string): boolean {
  const page = node['mainEntityOfPage']
  const names = [node['url'], node['@id'], page, isNode(page) ? page['@id'] : undefined].flatMap(stringsIn)
  const fold = (address: string) => address.replace(/^https?:\/\/(?:www\.)?|[?#].*$|\/$/g, '')
  return names.some((name) => fold(name) === fold(url))
}

/** Authors and publishers are often given by `@id` only and described elsewhere in the graph. */
function withReferences(node: JsonLdNode, byId: Map<string, JsonLdNode>): JsonLdNode {
  const resolve = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(resolve)
    return isNode(value) && typeof value['@id'] === 'string' && value['name'] === undefined
      ? (byId.get(value['@id']) ?? value)
      : value
  }
  const full: JsonLdNode = { ...node }
  for (const key of ['author', 'creator', 'publisher', 'isPartOf', 'image']) full[key] = resolve(node[key])
  full['author'] ??= full['creator']
  return full
}

/** All strings of a value that may be one, a list, or `{ "@value": … }`; numbers count as strings. */
export function stringsIn(value: unknown): string[] {
  if (typeof value === 'string') return value.trim() === '' ? [] : [decodeEntities(value.trim())]
  if (typeof value === 'number') return [String(value)]
  if (Array.isArray(value)) return value.slice(0, 50).flatMap(stringsIn)
  return isNode(value) ? stringsIn(value['@value']) : []
}

/** The names of people or organisations: plain strings, objects with a name, or lists of both. */
export function namesIn(value: unknown): string[] {
  if (Array.isArray(value)) return value.slice(0, 50).flatMap(namesIn)
  if (!isNode(value)) return stringsIn(value)
  const names = stringsIn(value['name'])
  if (names.length > 0) return names.slice(0, 1)
  const parts = [...stringsIn(value['givenName']).slice(0, 1), ...stringsIn(value['familyName']).slice(0, 1)]
  return parts.length > 0 ? [parts.join(' ')] : []
}

const NAMED: Record<string, string> = {
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  apos: "'",
  nbsp: ' ',
  rsquo: '’',
  lsquo: '‘',
  ldquo: '“',
  rdquo: '”',
  ndash: '–',
  mdash: '—',
  hellip: '…',
}

/** Scripts are not decoded by HTML, yet many pages write entities into their JSON. */
function decodeEntities(text: string): string {
  return text.replace(/&(?:#(\d{1,7})|#x([\da-f]{1,6})|([a-z]{2,6}));/gi, (all, decimal, hex, name) => {
    if (name) return NAMED[String(name).toLowerCase()] ?? String(all)
    const code = decimal ? Number(decimal) : Number.parseInt(String(hex), 16)
    return code > 0 && code <= 0x10ffff ? String.fromCodePoint(code) : String(all)
  })
}
