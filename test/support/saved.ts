import { onTestFinished } from 'vitest'
import type { Library } from '../../src/core/library.ts'
import { requestCapture } from '../../src/features/capture/capture-source.ts'
import { waitForCapture } from '../../src/features/capture/capture-store.ts'
import { saveUrl } from '../../src/features/capture/tools/save-url.ts'
import { readItem } from '../../src/features/texts/tools/read-item.ts'
import { JOBS } from '../../src/jobs/registry.ts'
import { startWorker, type Worker } from '../../src/jobs/worker.ts'
import { call } from './call.ts'
import { testLibrary, type TestWorld } from './library.ts'

export type Web = NonNullable<TestWorld['pages']>

/** A library that captures, as a server has it, until the test ends. `web` can be changed while it runs. */
export async function capturingLibrary(web: Web): Promise<Library> {
  let worker: Worker | undefined
  const library = await testLibrary({ pages: web, wake: () => worker?.wake() })
  worker = startWorker(library, JOBS, { pollMs: 50 })
  onTestFinished(() => worker?.stop())
  return library
}

export type Saved = {
  item: { id: string; title: string; url: string | null; authors: string[] }
  state: string
  created: boolean
  note?: string
}

export const save = async (library: Library, url: string, note?: string): Promise<Saved> =>
  (await call(saveUrl, library, { url, ...(note !== undefined && { note }) })) as Saved

/** The Markdown of an item, as an assistant reads it. */
export const markdownOf = async (library: Library, id: string): Promise<string> =>
  String((await call(readItem, library, { id }))['markdown'])

/** Captures a page anew; gives how the attempt ended. */
export async function captureAgain(
  library: Library,
  url: string,
): Promise<{ state: string; outcome: string | null; failure: string | null }> {
  const { captureId } = await library.change((change) => requestCapture(change, { url, refresh: true }))
  const signal = new AbortController().signal
  const { state, outcome, failure } = await waitForCapture(library, captureId!, { timeoutMs: 20_000, signal })
  return { state, outcome, failure: failure && (JSON.parse(failure) as { code: string }).code }
}
