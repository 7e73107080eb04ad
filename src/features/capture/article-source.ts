import { Failure } from '../../core/failure.ts'

/** Deepest nesting that is kept: what lies deeper keeps its text and loses its own tags. Real pages stay under 100. */
export const MAX_DEPTH = 256
/** Extractors read the text below each element: their time is text times depth. Past this, the page is made shallower. */
const MAX_WEIGHT = 150_000_000
const SHALLOW_DEPTH = 40
const MAX_SPACES = 1000
const LONG_SPACES = /[\t\n\f\r ]{1000,}/g
/** Most start tags that are kept; the largest encyclopaedia pages have about 60,000. */
export const MAX_TAGS = 150_000
/** Most characters left after scripts, styles and comments are gone. */
export const MAX_CHARACTERS = 12_000_000

const VOID = new Set(
  'area base br col embed hr img input link meta param source track wbr basefont bgsound frame keygen'.split(
    ' ',
  ),
)
/** Elements whose content is text up to their end tag (HTML, 13.2.5.2 to 13.2.5.4). */
const RAW = new Set('script style textarea title xmp iframe noembed noframes plaintext'.split(' '))
/** Elements that are dropped with all they hold. */
const DROPPED = new Set('style textarea xmp noembed noframes plaintext svg select object applet'.split(' '))

const CLOSES_P = ['p']
const HEADINGS = 'h1 h2 h3 h4 h5 h6 p'.split(' ')
/** Start tags that end open elements, as HTML parsers infer them: `<li>` ends an open `<li>`. */
const IMPLIED_ENDS = new Map<string, string[]>([
  ['tr', ['tr', 'th', 'td']],
  ['th', ['th', 'td']],
  ['td', ['thead', 'th', 'td']],
  ['tbody', ['thead', 'tbody']],
  ['tfoot', ['thead', 'tbody']],
  ['li', ['li']],
  ['dt', ['dt', 'dd']],
  ['dd', ['dt', 'dd']],
  ['option', ['option']],
  ['optgroup', ['optgroup', 'option']],
  ...'h1 h2 h3 h4 h5 h6'.split(' ').map((name): [string, string[]] => [name, HEADINGS]),
  ...(
    'p address article aside blockquote details div dl fieldset figcaption figure footer form header hr main nav ol pre ' +
    'section table ul'
  )
    .split(' ')
    .map((name): [string, string[]] => [name, CLOSES_P]),
])

export interface ArticleSource {
  html: string
  /** Start tags that were kept. */
  tags: number
  /** True if tags were dropped because of a limit. */
  isCut: boolean
}

/**
 * Makes a page small and shallow before it is parsed: scripts (but JSON-LD and TeX), styles, comments, drawings and
 * embedded data go, tags past MAX_DEPTH and MAX_TAGS go, the text stays. One pass, linear in the length. Throws `too_large`.
 */
export function limitSource(html: string): ArticleSource {
  const source = limitTo(html, MAX_DEPTH)
  return source.weight <= MAX_WEIGHT ? source : limitTo(html, SHALLOW_DEPTH)
}

interface WeighedSource extends ArticleSource {
  /** Characters of text times the depth at which they stand. */
  weight: number
}

function limitTo(html: string, maxDepth: number): WeighedSource {
  const out: string[] = []
  const stack: string[] = []
  /** Open elements past the limits, by name: their end tags go as well. */
  const unkept = new Map<string, number>()
  /** Elements whose end tag is missing, so that the rest of the page is searched for it only once. */
  const unclosed = new Set<string>()
  let kept = 0
  let isCut = false
  let weight = 0
  let at = 0
  const text = (piece: string) => {
    weight += piece.length * (stack.length + 1)
    // Extractors try every start inside a run of spaces.
    out.push(piece.length < MAX_SPACES ? piece : piece.replace(LONG_SPACES, ' '))
  }
  while (at < html.length) {
    const open = html.indexOf('<', at)
    if (open === -1) {
      text(html.slice(at))
      break
    }
    if (open > at) text(html.slice(at, open))
    const next = html.charCodeAt(open + 1)
    if (next === 33 || next === 63) {
      at = endOfMarkup(html, open)
      continue
    }
    const isEnd = next === 47
    if (!isLetter(html.charCodeAt(isEnd ? open + 2 : open + 1))) {
      out.push(isEnd ? '' : '&lt;')
      at = isEnd ? endOfMarkup(html, open) : open + 1
      continue
    }
    const tag = readTag(html, isEnd ? open + 2 : open + 1)
    // The document ends inside a tag: HTML drops it.
    if (!tag) break
    at = tag.end
    const { name } = tag

    if (isEnd) {
      const waiting = unkept.get(name) ?? 0
      if (waiting > 0) unkept.set(name, waiting - 1)
      else {
        const position = stack.lastIndexOf(name)
        if (position !== -1) stack.length = position
        if (position !== -1 || name === 'p' || name === 'br') out.push(`</${name}>`)
      }
      continue
    }
    if (RAW.has(name) || DROPPED.has(name)) {
      const end = unclosed.has(name) ? undefined : endOfElement(html, at, name)
      if (!end) {
        unclosed.add(name)
        continue
      }
      if (name === 'script' ? isKeptScript(tag.attributes) : name === 'title') {
        out.push(`<${name}${tag.attributes}>`, html.slice(at, end.content), `</${name}>`)
      } else if (name === 'iframe') out.push(`<iframe${tag.attributes}></iframe>`)
      at = end.next
      continue
    }
    const implied = IMPLIED_ENDS.get(name)
    if (implied) while (stack.length > 0 && implied.includes(stack.at(-1) ?? '')) stack.pop()
    // Links do not nest: the next one ends the one before, and inside a block of another it is none.
    let isInsideLink = false
    if (name === 'a' && stack.includes('a')) {
      if (stack.at(-1) === 'a') {
        stack.pop()
        out.push('</a>')
      } else isInsideLink = true
    }
    const isVoid = VOID.has(name)
    if (isInsideLink || kept >= MAX_TAGS || (!isVoid && stack.length >= maxDepth)) {
      isCut ||= !isInsideLink
      // Words on both sides of a lost tag stay apart.
      if (out.at(-1) !== ' ') out.push(' ')
      if (!isVoid) unkept.set(name, (unkept.get(name) ?? 0) + 1)
      continue
    }
    kept++
    out.push(`<${name}${tag.attributes}>`)
    if (!isVoid) stack.push(name)
  }
  const limited = out.join('')
  if (limited.length > MAX_CHARACTERS) {
    throw new Failure('too_large', 'The page holds more than 12 million characters of text and markup.', {
      hint: 'Give the article’s own address instead of a collection, or save the part you want and give the file.',
      details: { characters: limited.length },
    })
  }
  return { html: limited, tags: kept, isCut, weight }
}

function isLetter(code: number): boolean {
  return (code >= 97 && code <= 122) || (code >= 65 && code <= 90)
}

/** After a comment, doctype, CDATA section or processing instruction. */
function endOfMarkup(html: string, open: number): number {
  const isComment = html.startsWith('<!--', open)
  const end = isComment ? html.indexOf('-->', open + 2) : html.indexOf('>', open)
  return end === -1 ? html.length : end + (isComment ? 3 : 1)
}

export interface Tag {
  name: string
  /** Source of the attributes with the space before each, embedded data emptied. */
  attributes: string
  end: number
}

const MAX_DATA_URL = 200

/** Reads a tag from its name on, by the states of HTML's tokenizer; undefined if the document ends before the tag does. */
export function readTag(html: string, start: number): Tag | undefined {
  const nameEnd = indexOf(/[\t\n\f\r />]/g, html, start)
  if (nameEnd === -1) return undefined
  const name = html.slice(start, nameEnd).toLowerCase()
  let attributes = ''
  let at = nameEnd
  for (;;) {
    at = indexOf(/[^\t\n\f\r /]/g, html, at)
    if (at === -1) return undefined
    if (html[at] === '>') return { name, attributes, end: at + 1 }
    const keyEnd = indexOf(/[\t\n\f\r />=]/g, html, at + 1)
    if (keyEnd === -1) return undefined
    const key = html.slice(at, keyEnd)
    const equals = indexOf(/[^\t\n\f\r ]/g, html, keyEnd)
    if (equals === -1) return undefined
    if (html[equals] !== '=') {
      attributes += ` ${key}`
      at = keyEnd
      continue
    }
    const valueStart = indexOf(/[^\t\n\f\r ]/g, html, equals + 1)
    if (valueStart === -1) return undefined
    const quote = html[valueStart]
    if (quote === '"' || quote === "'") {
      const close = html.indexOf(quote, valueStart + 1)
      if (close === -1) return undefined
      const isData =
        close - valueStart > MAX_DATA_URL && /^\s*data:/i.test(html.slice(valueStart + 1, valueStart + 20))
      attributes += ` ${key}=${isData ? '""' : html.slice(valueStart, close + 1)}`
      at = close + 1
    } else if (quote === '>') {
      attributes += ` ${key}`
      at = valueStart
    } else {
      const valueEnd = indexOf(/[\t\n\f\r >]/g, html, valueStart)
      if (valueEnd === -1) return undefined
      attributes += ` ${key}="${html.slice(valueStart, valueEnd).replaceAll('"', '&quot;')}"`
      at = valueEnd
    }
  }
}

function indexOf(pattern: RegExp, text: string, from: number): number {
  pattern.lastIndex = from
  return pattern.exec(text)?.index ?? -1
}

function isKeptScript(attributes: string): boolean {
  return /\btype\s*=\s*["']?\s*(?:application\/ld\+json|math\/(?:tex|asciimath))/i.test(attributes)
}

/** Where the element's content ends, and where the page goes on. Nested `svg` and `object` are counted. */
function endOfElement(
  html: string,
  from: number,
  name: string,
): { content: number; next: number } | undefined {
  if (name === 'plaintext') return { content: html.length, next: html.length }
  const edge = new RegExp(`<(/?)${name}(?=[\\t\\n\\f\\r />])`, 'gi')
  edge.lastIndex = from
  let depth = 1
  for (let match = edge.exec(html); match; match = edge.exec(html)) {
    if (match[1] === '/') depth--
    else if (!RAW.has(name)) depth++
    if (depth > 0) continue
    const end = html.indexOf('>', match.index)
    return { content: match.index, next: end === -1 ? html.length : end + 1 }
  }
  // A raw element that is never closed holds the rest of the page; others lose their start tag only.
  return RAW.has(name) ? { content: html.length, next: html.length } : undefined
}
