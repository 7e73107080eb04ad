import type { SourceKind } from '../../db/schema.ts'

/** The address as it is given, or null where it is none of the web. */
export function webAddress(stated: string): string | null {
  const text = stated.trim()
  return /^https?:/i.test(text) && text.length <= 8000 && URL.canParse(text) ? text : null
}

const VIDEO =
  /^https?:\/\/(?:(?:(?:www|m|music)\.)?youtube\.com\/(?:watch\b|shorts\/|live\/)|youtu\.be\/.|(?:www\.)?vimeo\.com\/\d)/i

/** What an address leads to, as far as it shows; what is fetched from there says it better. */
export function kindOfAddress(url: string): SourceKind {
  if (VIDEO.test(url)) return 'video'
  return /^https?:[^?#]*\.pdf(?:$|[?#])/i.test(url) ? 'pdf' : 'article'
}
