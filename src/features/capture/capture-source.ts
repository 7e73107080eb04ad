import { Failure } from '../../core/failure.ts'
import type { Change, Library } from '../../core/library.ts'
import { addNoteOnce } from '../notes/note-store.ts'
import { indexSource } from '../search/index-source.ts'
import { findMatch, matchKey, type Wanted } from '../sources/match.ts'
import { addSourceUrl, authorsOf, type Source } from '../sources/source-store.ts'
import { restoreSource } from '../sources/trash.ts'
import { parseHttp } from '../sources/url-key.ts'
import { youtubeVideoId } from '../sources/youtube-address.ts'
import { addTags } from '../tags/tag-store.ts'
import { UNTITLED, findByFile } from './capture-store.ts'
import { captureJob } from './jobs/capture.ts'

export interface CaptureRequest {
  url?: string
  /** A page or file that was handed in: its media hash and what it was called. */
  given?: { hash: string; name: string | null }
  note?: string
  tags?: readonly string[]
  title?: string
  /** Capture again though there is a text. */
  refresh?: boolean
}

export interface Requested {
  sourceId: number
  /** The attempt under way, or undefined where the text is there already. */
  captureId: number | undefined
  /** Whether the attempt is this request's own: of those who joined it, each waits, and none may end it. */
  begun: boolean
  /** Whether the library had no such source before. */
  created: boolean
}

/**
 * Notes in the library that a page or file is wanted and queues its capture. What is there already is not captured again
 * unless `refresh` says so or its last capture failed; the note and the tags are added once either way.
 * Throws `invalid_url`.
 */
export async function requestCapture(change: Change, request: CaptureRequest): Promise<Requested> {
  if (request.url !== undefined) checkUrl(request.url)
  const wanted: Wanted = request.url === undefined ? {} : { urls: [request.url] }
  const ofSameFile = request.given && (await findByFile(change.db, request.given.hash))
  const known = (await findMatch(change.db, wanted)) ?? ofSameFile
  const sourceId = known?.id ?? (await insertStub(change, request))
  if (known) await restoreSource(change, known)
  if (request.url !== undefined) await addSourceUrl(change, sourceId, request.url)
  if (request.note !== undefined) await addNoteOnce(change, { sourceId, body: request.note })
  if (request.tags) await addTags(change, sourceId, request.tags)
  if (known && request.title !== undefined) await renameSource(change, known, request.title)
  if (known) await indexSource(change, sourceId)
  const created = known === undefined
  // What is handed in is read whatever else is under way, but for a file that was read already.
  const isNew = request.given !== undefined && ofSameFile?.id !== sourceId
  const waiting = await change.db
    .selectFrom('capture')
    .select('id')
    .where('source_id', '=', sourceId)
    .where('state', 'in', ['pending', 'processing'])
    .executeTakeFirst()
  if (waiting && !isNew) return { sourceId, captureId: waiting.id, begun: false, created }
  if (known && known.text_id !== null && !request.refresh && !isNew) {
    return { sourceId, captureId: undefined, begun: false, created }
  }
  const captureId = await change.newId()
  await change.db
    .insertInto('capture')
    .values({
      id: captureId,
      source_id: sourceId,
      url: request.url ?? null,
      given: request.given?.hash ?? null,
      given_name: request.given?.name ?? null,
      state: 'pending',
      requested_at: change.at,
      failure: null,
      outcome: null,
      text_id: null,
      warnings: null,
      finished_at: null,
    })
    .execute()
  await change.later(captureJob, { captureId })
  return { sourceId, captureId, begun: true, created }
}

/** Stores a page or file that was handed in, so that it can be captured whatever becomes of the original. */
export async function storeGiven(
  library: Library,
  bytes: Uint8Array,
  name: string | null,
): Promise<{ hash: string; name: string | null }> {
  if (bytes.length === 0) {
    throw new Failure('no_text', `${name ?? 'The file'} is empty.`, {
      hint: 'Add a file that has something in it.',
    })
  }
  return { hash: await library.outside.media.put(bytes), name }
}

function checkUrl(url: string): void {
  if (parseHttp(url)) return
  throw new Failure('invalid_url', `${JSON.stringify(url.slice(0, 100))} is no address of a web page.`, {
    hint: 'Give a whole address that begins with https:// or http://.',
  })
}

async function renameSource(change: Change, source: Source, title: string): Promise<void> {
  await change.update('source', source.id, {
    title,
    match_key: matchKey(title, authorsOf(source)),
    updated_at: change.at,
  })
}

function insertStub(change: Change, { url, given, title }: CaptureRequest): Promise<number> {
  return change.insert('source', {
    kind: url !== undefined && youtubeVideoId(url) !== undefined ? 'video' : 'article',
    title: title ?? url ?? given?.name ?? UNTITLED,
    match_key: '',
    authors: '[]',
    url: url ?? null,
    created_at: change.at,
    updated_at: change.at,
  })
}
