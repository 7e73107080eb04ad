import { decodeNamedCharacterReference } from 'decode-named-character-reference'

export interface HtmlTag {
  /** Lower case. */
  name: string
  isClosing: boolean
  /** By lower-case name, decoded; the first of two with one name. */
  attributes: ReadonlyMap<string, string>
  /** The text between this tag and the next, decoded; markup that is no tag is part of it. */
  text: string
  /** Line at which it begins, from 1. */
  line: number
}

/**
 * The tags of an export in their order, as a browser's tokeniser sees them, without making a tree: bookmark files have
 * hundreds of thousands of them, and are not well-formed.
 */
export function* htmlTags(html: string): Generator<HtmlTag, void, undefined> {
  let line = 1
  let lineEnd = html.indexOf('\n')
  for (let at = html.indexOf('<'); at !== -1;) {
    const end = tagEnd(html, at)
    if (end === undefined) return
    const next = nextTag(html, end)
    const name = /^<(\/?)([a-z][a-z0-9-]*)/i.exec(html.slice(at, Math.min(end, at + 40)))
    if (name) {
      for (; lineEnd !== -1 && lineEnd < at; lineEnd = html.indexOf('\n', lineEnd + 1)) line++
      yield {
        name: name[2]!.toLowerCase(),
        isClosing: name[1] === '/',
        attributes: attributesOf(html.slice(at + name[0].length, end - 1)),
        text: decodeHtml(html.slice(end, next === -1 ? html.length : next)),
        line,
      }
    }
    at = next
  }
}

/** Tags that end the text of a link, a heading or a description; others (`<b>`, `<br>`) are within it. */
const STRUCTURE = new Set([
  'a',
  'dl',
  'dt',
  'dd',
  'ul',
  'ol',
  'li',
  'h1',
  'h2',
  'h3',
  'h4',
  'h5',
  'h6',
  'p',
  'hr',
])

/**
 * The tags that make up a list of links, each with all of the text up to the next of them; closing tags too, without those of
 * `<p>`, `<dt>` and the like that HTML lets one leave out.
 */
export function* structureTags(html: string): Generator<HtmlTag, void, undefined> {
  let open: HtmlTag | undefined
  for (const tag of htmlTags(html)) {
    if (STRUCTURE.has(tag.name)) {
      if (open) yield open
      open = { ...tag }
    } else if (open) open.text += tag.name === 'br' ? `\n${tag.text}` : tag.text
  }
  if (open) yield open
}

/** Where a tag or a comment ends; undefined where it never does. */
function tagEnd(html: string, start: number): number | undefined {
  if (html.startsWith('<!--', start)) {
    const close = html.indexOf('-->', start + 4)
    return close === -1 ? undefined : close + 3
  }
  for (let at = start + 1; ;) {
    const close = html.indexOf('>', at)
    if (close === -1) return undefined
    // A quotation mark opens a value only after an equals sign.
    const value = /=\s*(["'])/g
    value.lastIndex = at
    const opened = value.exec(html.slice(0, close))
    if (!opened) return close + 1
    const shut = html.indexOf(opened[1]!, opened.index + opened[0].length)
    if (shut === -1) return close + 1
    at = shut + 1
  }
}

const nextTag = (html: string, from: number): number => {
  for (let at = html.indexOf('<', from); at !== -1; at = html.indexOf('<', at + 1))
    if (/[a-z/!?]/i.test(html.charAt(at + 1))) return at
  return -1
}

function attributesOf(text: string): ReadonlyMap<string, string> {
  const attributes = new Map<string, string>()
  if (text.trim() === '') return attributes
  for (const [, name, quoted, single, bare] of text.matchAll(
    /([^\s"'<>/=]+)(?:\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'<>`]+)))?/g,
  )) {
    const key = name!.toLowerCase()
    if (!attributes.has(key)) attributes.set(key, decodeHtml(quoted ?? single ?? bare ?? ''))
  }
  return attributes
}

/** Character references of HTML as the characters they stand for. */
export function decodeHtml(text: string): string {
  if (!text.includes('&')) return text
  return text.replaceAll(
    /&(?:#(\d{1,7})|#x([\da-f]{1,6})|([a-z][a-z\d]{1,31}));/gi,
    (all, decimal, hex, name) => {
      if (name !== undefined) return decodeNamedCharacterReference(String(name)) || String(all)
      const point = decimal === undefined ? Number.parseInt(String(hex), 16) : Number(decimal)
      const isCharacter = point > 0 && point <= 0x10ffff && !(point >= 0xd800 && point <= 0xdfff)
      return isCharacter ? String.fromCodePoint(point) : '\uFFFD'
    },
  )
}
