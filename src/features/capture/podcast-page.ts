import { readTag } from './article-source.ts'

/** What a page says of the podcast that it may be an episode of. */
export interface PodcastPage {
  /** Addresses of feeds that it names, as it names them. */
  feeds: string[]
  /** Addresses of sound files in it. */
  audio: string[]
}

const SOUND = /https?:(?:\/|\\\/){2}[^\s"'<>]{1,1000}?\.(?:mp3|m4a|aac|ogg|opus)\b/giu
const MOST = 20

/** Looks for a feed and for sound in a page. Undefined where it is no page of an episode: one of the two is missing. */
export function readPodcastPage(html: string, url: string): PodcastPage | undefined {
  const feeds = new Set<string>()
  for (let at = html.indexOf('<link'); at >= 0 && feeds.size < MOST; at = html.indexOf('<link', at + 5)) {
    const attributes = readTag(html, at + 1)?.attributes ?? ''
    const href = valueOf(attributes, 'href')
    const isFeed =
      /\balternate\b/iu.test(valueOf(attributes, 'rel') ?? '') &&
      /^application\/(?:rss|atom)\+xml/iu.test(valueOf(attributes, 'type') ?? '')
    if (isFeed && href !== undefined && URL.canParse(href, url)) feeds.add(new URL(href, url).href)
  }
  if (feeds.size === 0) return undefined
  const audio = new Set<string>()
  for (const [address] of html.matchAll(SOUND)) {
    audio.add(address.replaceAll('\\/', '/').replaceAll('&amp;', '&'))
    if (audio.size === MOST) break
  }
  const isEpisode = audio.size > 0 || /<audio[\s>]|"PodcastEpisode"/u.test(html)
  return isEpisode ? { feeds: [...feeds], audio: [...audio] } : undefined
}

function valueOf(attributes: string, name: string): string | undefined {
  const value = new RegExp(`\\s${name}\\s*=\\s*(?:"([^"]*)"|'([^']*)')`, 'iu').exec(attributes)
  return (value?.[1] ?? value?.[2])?.replaceAll('&amp;', '&').trim()
}
