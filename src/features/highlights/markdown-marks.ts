/** Tags that Markdown lets through. Other words in angle brackets may be the text's own. */
const TAG = new RegExp(
  '</?(?:a|abbr|b|blockquote|cite|code|del|details|div|em|figcaption|figure|h[1-6]|i|img|ins|kbd|li|mark|ol|p|q|s|small' +
    '|span|strong|sub|summary|sup|table|tbody|td|th|thead|tr|u|ul)(?:\\s[^<>]{0,400})?>',
  'gi',
)
const LINK = /!?\[((?:\\.|[^[\]\\])*)\](?:\((?:\\.|[^()\\]|\([^()]*\))*\)|\[[^[\]]*\])/gs
/** Escapes and code say what they hold; stars, ticks and strikes go, and underscores but inside words. */
const INLINE = /\\([!-/:-@[-`{-~\n])|(`{1,3})([^`]+)\2|\*+|`+|~~|(?<![\p{L}\p{N}])_+|_+(?![\p{L}\p{N}])/gu
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
    .replaceAll(/<((?:https?:|mailto:)[^<>\s]*)>/g, '$1')
    .replaceAll(/<br[ \t]*\/?>/gi, '\n')
    .replaceAll(TAG, '')
    .replaceAll(INLINE, (_whole, escaped?: string, _ticks?: string, code?: string) => escaped ?? code ?? '')
    .replaceAll(/&#x([0-9a-f]{1,6});/gi, (_whole, hex: string) => {
      const codePoint = Number.parseInt(hex, 16)
      return codePoint <= 0x10ffff ? String.fromCodePoint(codePoint) : ''
    })
    .replaceAll(/&(amp|lt|gt|quot|nbsp);/g, (_whole, name: string) => ENTITY[name] ?? '')
}
