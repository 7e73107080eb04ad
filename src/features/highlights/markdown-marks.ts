/** Tags that Markdown lets through. Other words in angle brackets may be the text's own. */
const TAG =
  /<\/?(?:a|abbr|b|br|cite|code|del|div|em|i|img|ins|kbd|mark|p|q|s|small|span|strong|sub|sup|u)(?:\s[^<>]{0,400})?>/gi

/**
 * The words of a quote that was copied out of Markdown: without emphasis, code ticks, links, footnote marks, headings,
 * quotes, list and table marks, tags and escapes. Meant for comparing, not for rendering: underscores inside words stay.
 */
export function withoutMarks(quote: string): string {
  return quote
    .replaceAll(/^[ \t]*(?:```|~~~).*$/gm, '')
    .replaceAll(/^[ \t]*\|.*$/gm, (row) => (/^[\s|:-]*$/.test(row) ? '' : row.replaceAll('|', ' ')))
    .replaceAll(/^[ \t]*(?:(?:>|#{1,6}|[-*+]|\d{1,9}[.)])[ \t]+)+/gm, '')
    .replaceAll(/\[\^[^\]\s]{1,64}\]/g, '')
    .replaceAll(/!?\[((?:\\.|[^[\]\\])*)\](?:\((?:\\.|[^()\\]|\([^()]*\))*\)|\[[^[\]]*\])/gs, '$1')
    .replaceAll(/<((?:https?:|mailto:)[^<>\s]*)>/g, '$1')
    .replaceAll(/<br[ \t]*\/?>/gi, '\n')
    .replaceAll(TAG, '')
    .replaceAll(/\\([!-/:-@[-`{-~\n])|[*`]+|~~|(?<![\p{L}\p{N}])_+|_+(?![\p{L}\p{N}])/gu, '$1')
    .replaceAll(/&#x([0-9a-f]{1,6});/gi, (_whole, hex: string) => {
      const codePoint = Number.parseInt(hex, 16)
      return codePoint <= 0x10ffff ? String.fromCodePoint(codePoint) : ''
    })
}
