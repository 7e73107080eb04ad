import type { SourceKind } from '../../db/schema.ts'
import { parseHttp } from '../sources/url-key.ts'

/** The address as it is given, or null where it is none of the web. */
export function webAddress(stated: string): string | null {
  const text = stated.trim()
  return text.length <= 8000 && parseHttp(text) ? text : null
}

/** What an address leads to, as far as it shows; what is fetched from there says it better. */
export function kindOfAddress(url: string): SourceKind {
  const parsed = parseHttp(url)
  if (!parsed) return 'article'
  const host = parsed.hostname.replace(/^(?:www|m)\./, '')
  if (/\.pdf$/i.test(parsed.pathname)) return 'pdf'
  const isVideo =
    (/^(?:music\.)?youtube\.com$/.test(host) && /^\/(?:watch|shorts|live)/.test(parsed.pathname)) ||
    (host === 'youtu.be' && parsed.pathname.length > 1) ||
    (host === 'vimeo.com' && /^\/\d+/.test(parsed.pathname))
  return isVideo ? 'video' : 'article'
}
