const ID = /^[\w-]{11}(?=$|[?&#/])/

/** What stands where a video's id would, and is none. */
const NO_IDS = new Set(['videoseries', 'live_stream'])

/**
 * The id of the video that an address of YouTube shows, whatever the form: watch, share, shorts, live and embed addresses,
 * on phones, in the music and the cookieless player, with a list or a time. Undefined for every other address.
 */
export function youtubeVideoId(url: string): string | undefined {
  const parsed = webAddress(url)
  if (!parsed) return undefined
  const host = parsed.hostname.replace(/\.$/, '').replace(/^(?:www|m|music|gaming|web)\./, '')
  const [first = '', second = ''] = parsed.pathname.split('/').filter(Boolean)
  if (host === 'youtu.be') return idIn(first)
  if (host !== 'youtube.com' && host !== 'youtube-nocookie.com') return undefined
  if (first === 'watch') return idIn(parsed.searchParams.get('v') ?? second)
  if (/^(?:shorts|live|embed|v|e)$/.test(first)) return idIn(second)
  if (first !== 'attribution_link') return undefined
  const to = parsed.searchParams.get('u')
  return to === null || !URL.canParse(to, 'https://www.youtube.com') || to.includes('attribution_link')
    ? undefined
    : youtubeVideoId(new URL(to, 'https://www.youtube.com').href)
}

/** Whether an address is one of YouTube's own. */
export function isYoutube(url: string): boolean {
  const host = webAddress(url)?.hostname.replace(/\.$/, '') ?? ''
  return /(?:^|\.)(?:youtube\.com|youtube-nocookie\.com|youtu\.be)$/.test(host)
}

function webAddress(url: string): URL | undefined {
  const text = url.trim()
  return /^https?:/i.test(text) && URL.canParse(text) ? new URL(text) : undefined
}

function idIn(text: string): string | undefined {
  const id = ID.exec(text)?.[0]
  return id === undefined || NO_IDS.has(id) ? undefined : id
}

/** The address of a video, from `seconds` on where they are given. */
export const youtubeAddress = (id: string, seconds?: number): string =>
  `https://www.youtube.com/watch?v=${id}${seconds === undefined ? '' : `&t=${Math.floor(seconds)}s`}`

/** Where a moment of a recording can be heard; null where its address has no form for that. */
export function addressOfMoment(url: string | null, seconds: number | null): string | null {
  const id = url === null || seconds === null ? undefined : youtubeVideoId(url)
  return id === undefined || seconds === null ? null : youtubeAddress(id, seconds)
}
