import { parseFeed } from 'feedsmith'
import { Failure } from '../../core/failure.ts'
import { nameKey } from '../../core/text.ts'
import { urlKey } from '../sources/url-key.ts'
import { civilDate } from './civil-date.ts'
import { clockTime } from './caption-cues.ts'
import { decodeText } from './decode-text.ts'
import { languageTag } from './language-tag.ts'
import type { Recording } from './recording.ts'

/** A feed as it came, and which of its episodes is wanted. */
export interface GivenFeed {
  bytes: Uint8Array
  contentType?: string | undefined
  /** Address of the feed; those in it are relative to it. */
  url: string
  wanted: WantedEpisode
}

/** An episode by any of these: the address of its page, of its audio, or what a person would name it by. */
export interface WantedEpisode {
  pages?: readonly string[]
  audio?: readonly string[]
  /** Guid, title, page or audio. */
  name?: string
}

/** One episode as its feed tells of it. */
export interface Episode extends Recording {
  /** Its transcripts, best first. */
  transcripts: { url: string; type: string | undefined }[]
  chaptersUrl: string | null
  /** Show notes, as HTML. */
  notes: string
}

/** Forms of transcripts by how much of the times and speakers they keep. */
const FORMS = ['vtt', 'json', 'srt', 'html', 'plain']

/**
 * The episode that is wanted of a feed (RSS with the podcast namespace, Atom, JSON Feed), or the only one there is; null where
 * none is it. Seconds for a feed of thousands. Fails with `damaged_file`.
 */
export function readEpisode({ bytes, contentType, url, wanted }: GivenFeed): Episode | null {
  const feed = parsedFeed(decodeText(bytes, contentType).text)
  const items = listOf(feed['items'] ?? feed['entries'])
  const isAnyWanted = Object.keys(wanted).length === 0
  const own = isAnyWanted && items.length === 1 ? items[0] : items.find((item) => isWanted(item, wanted, url))
  return own ? episodeOf(own, feed, url) : null
}

type Fields = Record<string, unknown>

function parsedFeed(text: string): Fields {
  try {
    const { feed } = parseFeed(text)
    return fields(feed)
  } catch (cause) {
    throw new Failure('damaged_file', 'The feed cannot be read.', {
      hint: 'Check the address; a podcast’s feed is RSS or Atom.',
      cause,
    })
  }
}

function isWanted(item: Fields, { pages = [], audio = [], name }: WantedEpisode, base: string): boolean {
  const { link, guid, sounds } = addressesOf(item, base)
  const keys = new Set([link, guid].map((address) => (address ? urlKey(address) : undefined)))
  if (pages.some((page) => keys.has(urlKey(page)))) return true
  if (audio.some((address) => sounds.some((sound) => isSameSound(address, sound)))) return true
  if (name === undefined) return false
  return (
    [guid, link, ...sounds].includes(name) ||
    nameKey(textOf(item, 'title') ?? '') === nameKey(name) ||
    keys.has(urlKey(name) ?? '')
  )
}

/** Counters stand before or behind an address: `https://count.test/e/cdn.test/1.mp3?from=feed`. */
function isSameSound(one: string, other: string): boolean {
  const bare = (address: string) => address.replace(/^https?:\/\//u, '').replace(/[?#].*$/su, '')
  const [a, b] = [bare(one), bare(other)]
  return a.length > 8 && b.length > 8 && (a.endsWith(b) || b.endsWith(a))
}

function addressesOf(item: Fields, base: string): { link?: string; guid?: string; sounds: string[] } {
  const link = absolute(
    textOf(item, 'link') ?? textOf(firstOf(item, 'links'), 'href') ?? textOf(item, 'url'),
    base,
  )
  const guid = textOf(fields(item['guid']), 'value') ?? textOf(item, 'id')
  const sounds = [...listOf(item['enclosures']), ...listOf(item['attachments'])].flatMap(
    (enclosure) => absolute(textOf(enclosure, 'url'), base) ?? [],
  )
  return { ...(link && { link }), ...(guid && { guid }), sounds }
}

function episodeOf(item: Fields, feed: Fields, base: string): Episode {
  const itunes = fields(item['itunes'])
  const podcast = fields(item['podcast'])
  const { link } = addressesOf(item, base)
  const show = textOf(feed, 'title') ?? null
  const seconds = Number(itunes['duration'])
  const home = absolute(textOf(feed, 'link'), base)
  const chapters = listOf(fields(item['psc'])['chapters']).flatMap((chapter) => {
    const start = clockTime((textOf(chapter, 'start') ?? '').replace(/^(\d+)$/u, '0:$1'))
    const title = textOf(chapter, 'title')
    return start === undefined || title === undefined ? [] : [{ start, title }]
  })
  const authors = [
    ...listOf(podcast['persons']).flatMap((person) => textOf(person, 'display') ?? []),
    ...[textOf(itunes, 'author'), textOf(firstOf(item, 'authors'), 'name')].filter(
      (name) => name !== undefined,
    ),
  ]
  const ofShow = textOf(fields(feed['itunes']), 'author')
  return {
    kind: 'podcast',
    title: textOf(item, 'title') ?? textOf(itunes, 'title') ?? null,
    authors: [...new Set(authors.length > 0 ? authors : [ofShow ?? show].filter((name) => name != null))],
    site: show,
    language: languageTag(textOf(feed, 'language')),
    published: dayOf(textOf(item, 'pubDate') ?? textOf(item, 'published') ?? textOf(item, 'date_published')),
    description: textOf(itunes, 'summary') ?? null,
    coverUrl: absolute(textOf(itunes, 'image') ?? textOf(fields(feed['itunes']), 'image'), base) ?? null,
    // Careless feeds give the show's own page for every episode.
    canonicalUrl: link !== undefined && (home === undefined || urlKey(link) !== urlKey(home)) ? link : null,
    seconds: Number.isFinite(seconds) && seconds > 0 ? seconds : null,
    chapters,
    transcripts: listOf(podcast['transcripts'])
      .flatMap((transcript) => {
        const url = absolute(textOf(transcript, 'url'), base)
        return url === undefined ? [] : [{ url, type: textOf(transcript, 'type') }]
      })
      .toSorted((a, b) => rankOf(a) - rankOf(b)),
    chaptersUrl: absolute(textOf(fields(podcast['chapters']), 'url'), base) ?? null,
    notes:
      textOf(fields(item['content']), 'encoded') ??
      textOf(item, 'content') ??
      textOf(item, 'content_html') ??
      textOf(item, 'description') ??
      textOf(itunes, 'summary') ??
      '',
  }
}

const MONTHS = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec']

/** The day of `Thu, 29 Feb 2024 10:00:00 GMT` (RFC 822) or an ISO date, in the zone in which it is written. */
function dayOf(date: string | undefined): string | null {
  const [, day, month, year] = /\b(\d{1,2})\s+([a-z]{3})[a-z]*\s+(\d{4})\b/iu.exec(date ?? '') ?? []
  if (day === undefined) return civilDate(date)
  const number = MONTHS.indexOf(month?.toLowerCase() ?? '') + 1
  return number === 0 ? null : civilDate(`${year}-${number}-${day}`)
}

function rankOf({ url, type = '' }: { url: string; type: string | undefined }): number {
  const form = FORMS.findIndex((name) =>
    (type === '' ? url : type).toLowerCase().includes(name === 'srt' ? 'sr' : name),
  )
  return form < 0 ? FORMS.length : form
}

function absolute(address: string | undefined, base: string): string | undefined {
  if (address === undefined || !URL.canParse(address, base)) return undefined
  const url = new URL(address, base)
  return url.protocol === 'https:' || url.protocol === 'http:' ? url.href : undefined
}

const fields = (value: unknown): Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : {}

const listOf = (value: unknown): Fields[] => (Array.isArray(value) ? value.map(fields) : [])

const firstOf = (value: Fields, key: string): Fields => listOf(value[key])[0] ?? {}

function textOf(value: Fields, key: string): string | undefined {
  const text = value[key]
  return typeof text === 'string' && text.trim() !== '' ? text.trim().toWellFormed() : undefined
}
