import { boundKey } from '../../core/bound-key.ts'
import { youtubeVideoId } from './youtube-address.ts'

/** Parameters that say where a reader came from and nothing about what is read. */
const TRACKING =
  /^(?:utm_\w+|fbclid|gclid|dclid|gbraid|wbraid|gclsrc|msclkid|twclid|ttclid|li_fat_id|yclid|igshid|igsh|mc_cid|mc_eid|mkt_tok|_hsenc|_hsmi|hsctatracking|__s|_ga|_gl|vero_id|vero_conv|oly_enc_id|oly_anon_id|s_kwcid|ref_src|ref_url|cmpid|wt_mc|ncid|sr_share|at_campaign|at_medium)$/i

/**
 * What makes two addresses the same page, or undefined where `url` is no http(s) address. Drops the scheme, `www.`, the
 * default port, a closing slash, tracking parameters, and a fragment unless it is a route (`#/…`, `#!…`); the path's case and
 * all other parameters stay byte for byte and in order. A video of YouTube is the same under all addresses that show it.
 */
export function urlKey(url: string): string | undefined {
  const parsed = parseHttp(url)
  if (!parsed) return undefined
  const video = youtubeVideoId(url)
  if (video !== undefined) return `youtube.com/watch?v=${video}`
  const [, query = '', fragment = ''] = /^[^?#]*(\?[^#]*)?(#.*)?$/s.exec(url.trim()) ?? []
  const kept = query
    .slice(1)
    .split('&')
    .filter((parameter) => parameter !== '' && !TRACKING.test(parameter.split('=', 1)[0]!))
  const port = parsed.port === '' || parsed.port === '80' || parsed.port === '443' ? '' : `:${parsed.port}`
  const host = parsed.hostname.replace(/^www\./, '').replace(/\.$/, '')
  const path = parsed.pathname.replace(/\/+$/, '')
  const rest = `${kept.length > 0 ? `?${kept.join('&')}` : ''}${/^#[/!]/.test(fragment) ? fragment : ''}`
  return boundKey(`${host}${port}${path}${rest}`)
}

/** The address as a URL, or undefined where it is none that a page could be fetched from. */
export function parseHttp(url: string): URL | undefined {
  try {
    const parsed = new URL(url.trim())
    return parsed.protocol === 'http:' || parsed.protocol === 'https:' ? parsed : undefined
  } catch {
    return undefined
  }
}

const MOBILE_LABELS = /^(?:www|m|mobile|amp|touch)\./

/**
 * Whether a page may be taken for the page that it names as canonical: on the same host but for a mobile or AMP label, or
 * served by an AMP cache, and not its front page, which careless sites name on every page.
 */
export function trustsCanonical(pageUrl: string, canonicalUrl: string): boolean {
  const page = parseHttp(pageUrl)
  const canonical = parseHttp(canonicalUrl)
  if (!page || !canonical) return false
  const bare = (host: string): string => host.replace(MOBILE_LABELS, '')
  const ampCache = /(?:^|\.)(?:cdn\.ampproject\.org|ampproject\.net|google\.[a-z.]+)$/.test(page.hostname)
  if (bare(page.hostname) !== bare(canonical.hostname) && !ampCache) return false
  const front = (url: URL): boolean => url.pathname === '/' && url.search === '' && !/^#[/!]/.test(url.hash)
  return !front(canonical) || front(page)
}
