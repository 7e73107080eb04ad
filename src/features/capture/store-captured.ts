import type { Failure } from '../../core/failure.ts'
import type { Change } from '../../core/library.ts'
import { reanchorHighlights, reanchorInCurrent } from '../highlights/highlights.ts'
import { indexSource } from '../search/index-source.ts'
import { isbn13Of } from '../sources/isbn.ts'
import { findMatch, matchKey } from '../sources/match.ts'
import { mergeSource } from '../sources/merge-source.ts'
import { addSourceUrl, authorsOf, findSource, type Source } from '../sources/source-store.ts'
import { trashSource } from '../sources/trash.ts'
import { trustsCanonical } from '../sources/url-key.ts'
import { addTextVersion } from '../texts/text-store.ts'
import { UNTITLED, afterCapture, type Capture } from './capture-store.ts'
import type { Captured } from './captured.ts'
import { capturedRecording, type Recording } from './recording.ts'
import { RENDERER_VERSION } from './sanitise.ts'

export interface Fetched {
  captured: Captured
  /** Media hash of the page or file as it came, compressed. */
  raw: string
  cover: string | null
  finalUrl: string | null
}

/**
 * Puts what was captured into the library in one transaction: text version, what the page says of itself where the reader
 * has said nothing, anchors, search. A page that turns out to be one the library has joins it.
 */
export async function storeCaptured(change: Change, capture: Capture, fetched: Fetched): Promise<void> {
  const { captured } = fetched
  const requested = await findSource(change.db, capture.source_id)
  if (!requested) return
  const addresses = addressesOf(requested, fetched)
  const twin = await findMatch(change.db, {
    urls: addresses,
    isbns: captured.isbns,
    ...(requested.url === null && { title: captured.title, authors: captured.authors }),
  })
  const source = twin && twin.id !== requested.id ? await mergeSource(change, requested, twin) : requested
  for (const url of addresses) await addSourceUrl(change, source.id, url)
  const places = captured.places && JSON.stringify(captured.places)
  const { verdict, textId } = await addTextVersion(change, source, {
    markdown: captured.markdown,
    plain: captured.plain,
    html: captured.html,
    renderer: captured.html === null ? null : String(RENDERER_VERSION),
    method: captured.method,
    words: captured.words,
    places,
    raw: fetched.raw,
  })
  if (verdict !== 'kept') await describeSource(change, source, capture, fetched)
  if (verdict === 'current') {
    await reanchorHighlights(change, source.id, { id: textId, plain: captured.plain, places })
  } else if (source !== requested) await reanchorInCurrent(change, source.id)
  await change.db
    .updateTable('capture')
    .set({
      state: 'completed',
      outcome: verdict,
      text_id: textId,
      warnings: captured.warnings.length > 0 ? JSON.stringify(captured.warnings) : null,
      source_id: source.id,
      finished_at: change.at,
    })
    .where('id', '=', capture.id)
    .execute()
  await change.hasten(afterCapture(capture.id))
  await indexSource(change, source.id)
}

/** Notes what is known of a video or an episode that has no text, so that it can be told by more than its address. */
export async function storeWithoutText(
  change: Change,
  capture: Capture,
  recording: Recording,
): Promise<void> {
  const source = await findSource(change.db, capture.source_id)
  if (!source || source.text_id !== null) return
  const captured = capturedRecording(recording, undefined)
  await describeSource(change, source, capture, { captured, raw: '', cover: null, finalUrl: null })
}

/**
 * Notes that an attempt failed. What can never be captured, or is not wanted any more, goes to the trash unless there is
 * something to keep; what may work another time stays, so that saving it again tries once more. So does a video or an episode
 * without a text: it is there, and its captions can be given.
 */
export async function storeFailure(change: Change, capture: Capture, failure: Failure): Promise<void> {
  const { code, message, hint } = failure
  const { numUpdatedRows } = await change.db
    .updateTable('capture')
    .set({ state: 'failed', failure: JSON.stringify({ code, message, hint }), finished_at: change.at })
    .where('id', '=', capture.id)
    // Another process may have completed it in the meantime.
    .where('state', '<>', 'completed')
    .executeTakeFirst()
  if (numUpdatedRows === 0n) return
  await change.hasten(afterCapture(capture.id))
  const source = await findSource(change.db, capture.source_id)
  if (!source) return
  const isHopeless = (failure.kind === 'invalid' && !isRecording(source.kind)) || failure.code === 'cancelled'
  if (isHopeless && source.text_id === null && !(await hasHighlights(change, source.id))) {
    await trashSource(change, source)
  } else await indexSource(change, source.id)
}

const isRecording = (kind: Source['kind']): boolean => kind === 'video' || kind === 'podcast'

async function hasHighlights(change: Change, sourceId: number): Promise<boolean> {
  const row = await change.db
    .selectFrom('highlight')
    .select('id')
    .where('source_id', '=', sourceId)
    .executeTakeFirst()
  return row !== undefined
}

function addressesOf(source: Source, { captured, finalUrl }: Fetched): string[] {
  if (source.url === null) return captured.canonicalUrl ? [captured.canonicalUrl] : []
  const landed = finalUrl ?? source.url
  const canonical = captured.canonicalUrl
  // Where a redirect led is an address of the page too, unless it led to another kind of place altogether.
  return [
    ...(canonical && trustsCanonical(landed, canonical) ? [canonical] : []),
    ...(trustsCanonical(landed, source.url) ? [landed] : []),
    source.url,
  ]
}

/** Fills in what is not known yet; a title that is only the address or the file's name counts as none. */
async function describeSource(
  change: Change,
  source: Source,
  capture: Capture,
  { captured, cover }: Fetched,
): Promise<void> {
  const placeholder = [UNTITLED, source.url, capture.url, capture.given_name].includes(source.title)
  const title = placeholder && captured.title !== '' ? captured.title : source.title
  const authors = authorsOf(source).length > 0 ? authorsOf(source) : captured.authors
  const isbns = captured.isbns.map(isbn13Of).filter((isbn) => isbn !== undefined)
  const [first, ...more] = isbns
  await change.update('source', source.id, {
    kind: source.text_id === null ? kindOf(source, captured) : source.kind,
    title,
    authors: JSON.stringify(authors),
    match_key: matchKey(title, authors),
    language: source.language ?? captured.language,
    site: source.site ?? captured.site,
    published: source.published ?? captured.published,
    description: source.description ?? captured.description,
    publisher: source.publisher ?? captured.publisher,
    isbn13: source.isbn13 ?? first ?? null,
    isbns: source.isbn13 === null ? JSON.stringify(more) : source.isbns,
    cover: source.cover ?? cover,
    url: source.url ?? captured.canonicalUrl,
    updated_at: change.at,
  })
}

/** Captions by themselves do not say whether there is something to be seen. */
function kindOf(source: Source, captured: Captured): Source['kind'] {
  return captured.method === 'captions' && isRecording(source.kind) ? source.kind : captured.kind
}
