const LINK = /!?\[((?:\\.|[^[\]\\])*)\](?:\((?:\\.|[^()\\]|\([^()]*\))*\)|\[[^[\]]*\])/gs

/** Tags that Markdown lets through. Other words in angle brackets may be the text's own. */
const TAGS =
  'a|abbr|b|blockquote|br|cite|code|del|details|div|em|figcaption|figure|h[1-6]|i|img|ins|kbd|li|mark|ol|p|q|s|small|span|' +
  'strong|sub|summary|sup|table|tbody|td|th|thead|tr|u|ul'

/** What stands for something else inside a line, in one pass, so that what code holds is left alone. */
const INLINE = new RegExp(
  [
    String.raw`\\(?<escaped>[!-/:-@[-\x60{-~\n])`,
    '(?<ticks>`{1,3})(?<code>[^`]+)\\k<ticks>',
    String.raw`<(?<address>(?:https?:|mailto:)[^<>\s]*)>`,
    String.raw`</?(?<tag>${TAGS})(?:\s[^<>]{0,400}|/)?>`,
    '<!--[^>]{0,400}-->',
    '&(?:#x(?<hex>[0-9a-fA-F]{1,6})|(?<entity>amp|lt|gt|quot|nbsp));',
    String.raw`\*+|\x60+|~~|(?<![\p{L}\p{N}])_+|_+(?![\p{L}\p{N}])`,
  ].join('|'),
  'gu',
)
const ENTITY: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', nbsp: ' ' }

/**
 * The words of a quote that was copied out of Markdown: without emphasis, code ticks, links, footnote marks, headings,
 * quotes, list and table marks, tags and escapes. Meant for comparing, not for rendering: underscores inside words stay.
 */
export function withoutMarks(quote: string): string {
  return quote
    .replaceAll(/^[ \t]*(?:```|~~~).*$/gm, '')
    .replaceAll(/^[ \t]*\|.*$/gm, (row) => (/^[\s|:-]*$/.test(row) ? '' : row.replaceAll(/(?<!\\)\|/g, ' ')))
    .replaceAll(/^[ \t]*(?:(?:>|#{1,6}|[-*+]|\d{1,9}[.)])[ \t]+)+(?:\[[ xX]\][ \t]+)?/gm, '')
    .replaceAll(/\[\^[^\]\s]{1,64}\]/g, '')
    .replaceAll(LINK, '$1')
    .replaceAll(LINK, '$1')
    .replaceAll(INLINE, (...match: unknown[]) =>
      meaningOf(match.at(-1) as Record<string, string | undefined>),
    )
}

function meaningOf({ escaped, code, address, tag, hex, entity }: Record<string, string | undefined>): string {
  if (tag !== undefined) return tag === 'br' ? '\n' : ''
  if (hex !== undefined) {
    const codePoint = Number.parseInt(hex, 16)
    return codePoint <= 0x10ffff ? String.fromCodePoint(codePoint) : ''
  }
  return escaped ?? code ?? address ?? ENTITY[entity ?? ''] ?? ''
}
