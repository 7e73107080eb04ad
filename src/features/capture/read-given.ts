import { Failure } from '../../core/failure.ts'
import type { Captured } from './captured.ts'
import { CAPTIONS, detectKind } from './detect-kind.ts'
import { extractCaptions } from './extract-captions.ts'
import { extractArticle } from './extract-article.ts'
import { extractEpub } from './extract-epub.ts'
import { extractPdf } from './extract-pdf.ts'
import { extractPlainFile } from './extract-plain-file.ts'
import { capturedRecording, UNKNOWN_RECORDING, type Recording } from './recording.ts'
import { youtubeAddress } from '../sources/youtube-address.ts'

/** A page or a file as it came, from the web or from the reader's disk. */
export interface Given {
  bytes: Uint8Array
  contentType?: string | undefined
  /** Name of the file it came from. */
  name?: string | undefined
  /** Address that was asked for. */
  url?: string | undefined
  /** Address that answered, and how. */
  finalUrl?: string | undefined
  status?: number | undefined
  /** What it is the text of, where that is known. */
  recording?: Recording | undefined
  /** What the reader should know of how it was come by. */
  remark?: string | undefined
}

const NOTHING_MORE = {
  language: null,
  site: null,
  published: null,
  description: null,
  publisher: null,
  canonicalUrl: null,
  coverUrl: null,
  cover: null,
  isbns: [],
  places: null,
  warnings: [],
} satisfies Partial<Captured>

/** Whether a file holds captions, by what it is. */
export const isCaptions = ({ bytes, contentType, name }: Given): boolean =>
  CAPTIONS.has(detectKind({ bytes, ...(contentType && { contentType }), ...(name && { fileName: name }) }))

/** Reads what was given by what it is, not by what it is called. Throws `Failure`. */
export async function readGiven(given: Given, signal?: AbortSignal): Promise<Captured> {
  const captured = await readByKind(given, signal)
  const { recording, remark } = given
  const warnings = [...(remark === undefined ? [] : [remark]), ...captured.warnings]
  if (!recording || captured.method === 'captions') return { ...captured, warnings }
  // Written about a recording, or down from it: what is known of the recording goes before what the writing says of itself.
  const { html, places, title, language, published, description, coverUrl, site } = captured
  const of = capturedRecording(recording, { ...captured, places: [] }, warnings)
  return {
    ...of,
    html,
    places,
    title: of.title || title,
    language: of.language ?? language,
    published: of.published ?? published,
    description: of.description ?? description,
    coverUrl: of.coverUrl ?? coverUrl,
    site: of.site ?? site,
  }
}

async function readByKind(given: Given, signal?: AbortSignal): Promise<Captured> {
  const { bytes, contentType, name } = given
  const options = signal ? { signal } : {}
  const fileName = name ?? fileNameOf(given.finalUrl ?? given.url)
  const kind = detectKind({ bytes, ...(contentType && { contentType }), ...(fileName && { fileName }) })
  switch (kind) {
    case 'pdf': {
      const pdf = await extractPdf(bytes, options)
      const title = pdf.title ?? titleFromName(fileName)
      return { ...NOTHING_MORE, ...pdf, title, html: null, kind: 'pdf', method: 'pdf', places: pdf.pages }
    }
    case 'epub': {
      const epub = await extractEpub(bytes, options)
      const { chapters, cover, ...book } = epub
      const title = book.title || titleFromName(fileName)
      return {
        ...NOTHING_MORE,
        ...book,
        title,
        kind: 'book',
        method: 'epub',
        places: chapters,
        cover: cover ?? null,
      }
    }
    case 'html':
      return readPage(given, options)
    case 'markdown':
    case 'text': {
      const file = await extractPlainFile({ bytes, contentType, kind, name: fileName }, options)
      if (file.words === 0) throw emptyFailure('The file has no words in it.')
      return { ...NOTHING_MORE, ...file, html: null, kind: 'article', method: kind }
    }
    case 'vtt':
    case 'srt':
    case 'caption-json':
    case 'caption-xml':
      return readRecording(given, fileName, options)
    default:
      throw new Failure(
        'unsupported_type',
        `${fileName ? `“${fileName}”` : 'This'} is nothing that can be read here.`,
        {
          hint: 'Web pages, PDF, EPUB, Markdown, plain text and captions (VTT, SRT) can be added.',
        },
      )
  }
}

/** Captions are the text of a recording; by themselves, of a video. */
async function readRecording(
  { bytes, contentType, recording }: Given,
  fileName: string | undefined,
  options: { signal?: AbortSignal },
): Promise<Captured> {
  const { chapters, seconds } = recording ?? {}
  const text = await extractCaptions(
    { bytes, contentType, name: fileName, ...(chapters && { chapters }), ...(seconds && { seconds }) },
    options,
  )
  const named = captionsName(fileName)
  const known = recording ?? { kind: 'video' as const, ...UNKNOWN_RECORDING }
  const facts = {
    ...known,
    title: known.title ?? named.title,
    language: known.language ?? text.language,
    canonicalUrl: known.canonicalUrl ?? named.url,
  }
  return capturedRecording(facts, { ...text, method: 'captions' })
}

async function readPage(given: Given, options: { signal?: AbortSignal }): Promise<Captured> {
  const { bytes, contentType } = given
  const url = given.finalUrl ?? given.url ?? 'about:blank'
  const asked = given.url === undefined ? undefined : { url: given.url, status: given.status ?? 200 }
  const article = await extractArticle({ bytes, contentType, url, asked }, options)
  if (article.words === 0) throw emptyFailure('The page has no text that could be read.')
  return { ...NOTHING_MORE, ...article, title: article.title || titleFromName(given.name), kind: 'article' }
}

const emptyFailure = (message: string): Failure =>
  new Failure('no_text', message, {
    hint: 'If it shows text in a browser, save the page there and add the file: `commonplace add page.html`.',
  })

function fileNameOf(url: string | undefined): string | undefined {
  if (!url) return undefined
  try {
    const name = new URL(url).pathname.split('/').pop()
    return name ? decodeURIComponent(name) : undefined
  } catch {
    return undefined
  }
}

/** `Title [id].en.vtt`, as programs that save the captions of YouTube name them. */
function captionsName(fileName: string | undefined): { title: string; url: string | null } {
  const [, title = '', id] = /^(.*?)\s*\[([\w-]{11})\](?:\.[\w-]+)?\.\w+$/u.exec(fileName ?? '') ?? []
  if (id !== undefined) return { title: titleFromName(`${title}.vtt`), url: youtubeAddress(id) }
  return { title: titleFromName(fileName?.replace(/\.[a-z]{2,3}(?:-[a-z]+)?(?=\.\w+$)/iu, '')), url: null }
}

const titleFromName = (name: string | undefined): string =>
  name
    ?.replace(/^.*[\\/]/, '')
    .replace(/\.[a-z0-9]{1,8}$/i, '')
    .replaceAll(/[_\s]+/g, ' ')
    .trim() || 'Untitled'
