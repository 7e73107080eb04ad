import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import { z } from 'zod'
import { defineJob } from '../../../core/define-job.ts'
import { Failure } from '../../../core/failure.ts'
import type { Library } from '../../../core/library.ts'
import { toFailure } from '../../../core/to-failure.ts'
import { isYoutube } from '../../sources/youtube-address.ts'
import { findCapture, isUnderWay, type Capture } from '../capture-store.ts'
import type { Captured } from '../captured.ts'
import { prepareImage } from '../images.ts'
import { isCaptions, readGiven, type Given } from '../read-given.ts'
import { storeCaptured, storeFailure, storeWithoutText } from '../store-captured.ts'
import type { Taken } from '../take-recording.ts'
import { watchForWithdrawal } from '../withdraw-capture.ts'

const compress = promisify(gzip)

const COVER_WIDTH = 800
const COVER_BYTES = 8 * 1024 * 1024

/** Fetches what was asked for, reads it and puts it into the library, unless it is withdrawn on the way. */
export const captureJob = defineJob({
  kind: 'capture',
  input: z.object({ captureId: z.number() }),
  // Someone waits for it, and what took all its time once takes it again.
  givesUpOn: ['timed_out'],
  concurrency: 2,
  async run(library, { captureId }, run) {
    const capture = await findCapture(library.db, captureId)
    if (!capture || !isUnderWay(capture)) return
    await library.db
      .updateTable('capture')
      .set({ state: 'processing' })
      .where('id', '=', captureId)
      .where('state', '=', 'pending')
      .execute()
    const withdrawal = watchForWithdrawal(library, captureId)
    try {
      await captureNow(library, capture, AbortSignal.any([run.signal, withdrawal.signal]))
    } catch (error) {
      if (!withdrawal.signal.aborted) throw error
    } finally {
      withdrawal.stop()
    }
  },
  async failed(library, { captureId }, failure) {
    const capture = await findCapture(library.db, captureId)
    if (capture) await library.change((change) => storeFailure(change, capture, toFailure(failure)))
  },
})

async function captureNow(library: Library, capture: Capture, signal: AbortSignal): Promise<void> {
  const given = await take(library, capture, signal)
  const captured = await readGiven(given, signal)
  const raw = await library.outside.media.put(await compress(given.bytes))
  const cover = await takeCover(library, captured, signal)
  await library.change(async (change) => {
    const current = await findCapture(change.db, capture.id)
    if (!current || !isUnderWay(current)) return
    await storeCaptured(change, capture, { captured, raw, cover, finalUrl: given.finalUrl ?? null })
  })
}

/** What there is to read. Throws `Failure` where nothing is; what is known of a video without a text is kept all the same. */
async function take(library: Library, capture: Capture, signal: AbortSignal): Promise<Given> {
  const { url, given, given_name } = capture
  const { pages } = library.outside
  if (given !== null) {
    const bytes = await library.outside.media.get(given)
    if (bytes) {
      const file = { bytes, name: given_name ?? undefined, url: url ?? undefined }
      return isCaptions(file)
        ? await (await import('../take-recording.ts')).knownRecording(pages, file, signal)
        : file
    }
    throw new Failure(
      'file_not_found',
      `The file ${given_name ?? ''} is no longer in the library's media folder.`,
      {
        hint: 'Add the file again.',
      },
    )
  }
  if (url === null)
    throw new Failure('invalid_url', 'There is nothing to capture.', { hint: 'Add a page or a file.' })
  if (isYoutube(url)) {
    const { takeVideo } = await import('../take-recording.ts')
    return known(library, capture, await takeVideo(pages, url, signal))
  }
  const fetched = await pages.fetch(url, { signal })
  const page = {
    bytes: fetched.bytes,
    contentType: fetched.headers['content-type'],
    url,
    finalUrl: fetched.url,
    status: fetched.status,
  }
  const { takeEpisode } = await import('../take-episode.ts')
  const episode = await takeEpisode(pages, page, signal)
  return episode ? known(library, capture, episode) : page
}

async function known(library: Library, capture: Capture, taken: Taken): Promise<Given> {
  if ('bytes' in taken) return taken
  await library.change((change) => storeWithoutText(change, capture, taken.recording))
  throw taken.failure
}

/** A cover is worth having and never worth failing for. */
async function takeCover(library: Library, captured: Captured, signal: AbortSignal): Promise<string | null> {
  try {
    const bytes =
      captured.cover ??
      (captured.coverUrl === null
        ? undefined
        : (
            await library.outside.pages.fetch(captured.coverUrl, {
              signal,
              maxBytes: COVER_BYTES,
              deadlineMs: 10_000,
            })
          ).bytes)
    if (!bytes) return null
    const image = await prepareImage(bytes, { maxWidth: COVER_WIDTH })
    return await library.outside.media.put(image.bytes)
  } catch {
    signal.throwIfAborted()
    return null
  }
}
