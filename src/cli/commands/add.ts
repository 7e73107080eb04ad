import { basename, relative, resolve } from 'node:path'
import { addAbortSignal } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import type { LocalLibrary } from '../../app/open-local.ts'
import { Failure } from '../../core/failure.ts'
import { toFailure } from '../../core/to-failure.ts'
import {
  failureOf,
  listEnded,
  remarkOn,
  sourceOf,
  type Capture,
} from '../../features/capture/capture-store.ts'
import type { Db } from '../../db/schema.ts'
import { requestCapture, storeGiven, type CaptureRequest } from '../../features/capture/capture-source.ts'
import { beginReading } from '../../features/imports/begin-reading.ts'
import { checkSupported } from '../../features/capture/check-supported.ts'
import { outcomeJson, printOutcome, type Added, type Outcome } from '../add-outcome.ts'
import { defineCommand, type Context } from '../command.ts'
import { EXIT } from '../exit-code.ts'
import { usage } from '../flags.ts'
import { filesBelow, kindOfPath, readSupported } from '../gather-files.ts'
import { withLibrary } from '../open-library.ts'
import { oneLine } from '../print.ts'
import { startProgress } from '../progress.ts'
import { count } from '../when.ts'

/** How long nothing may come of the captures that are waited for; their own deadlines are shorter. */
const WAIT_MS = 300_000
const LOOK_MS = 80

export const add = defineCommand({
  name: 'add',
  usage: ['URL|FILE|DIR|-… [--wait] [--read] [--note TEXT] [--tag NAME]…'],
  about:
    'Brings pages and files into the library: addresses of pages, videos and episodes, HTML, PDF, EPUB, Markdown, text and caption files, whole folders, or standard input (`-`). What is there already is not added twice.\nFiles are stored before the command returns. The capture itself goes on in the background; with --wait it is done here and its outcome shown.',
  flags: [
    { name: 'wait', short: 'w', help: 'Capture now and show what came of it' },
    { name: 'note', value: 'TEXT', help: 'A note to keep with it' },
    { name: 'tag', short: 't', value: 'NAME', many: true, help: 'A tag to put on it' },
    { name: 'title', value: 'TEXT', help: 'A title instead of its own (for one item)' },
    { name: 'url', value: 'URL', help: 'Where the given file or page came from (for one item)' },
    {
      name: 'read',
      short: 'r',
      help: 'Have the reading aid mark the passages worth keeping, in the background',
    },
    { name: 'refresh', help: 'Capture again though it is there already' },
  ],
  examples: [
    'commonplace add https://example.org/essay --wait --tag essays',
    'commonplace add book.epub paper.pdf ~/notes',
    'commonplace add https://example.org/essay --read',
    'curl -s https://example.org/ | commonplace add - --url https://example.org/ --wait',
  ],
  words: { least: 1 },
  async run(context) {
    const { args, signal, json } = context
    const alone = args.positionals.length === 1
    for (const flag of ['title', 'url']) {
      if (args.given(flag) && !alone)
        throw usage(`--${flag} goes with one item only.`, 'Add the items one by one.')
    }
    if (args.positionals.some((word) => word.trim() === '')) {
      // As a path it would be the folder one stands in, with everything below it.
      throw usage(
        'An empty word names no file and no address.',
        'A variable of the shell may be empty. `commonplace add .` adds the folder you are in.',
      )
    }
    return await withLibrary(
      context,
      async (local) => {
        const outcome: Outcome = { items: [], leftOut: [] }
        for (const word of args.positionals) {
          signal.throwIfAborted()
          await take(context, local, word, outcome)
        }
        if (args.on('wait')) await finish(context, local, outcome)
        if (json) context.out.json(await outcomeJson(local, outcome))
        else printOutcome(context, outcome)
        return outcome.items.some(({ failure }) => failure) ? EXIT.notCaptured : EXIT.ok
      },
      { create: true },
    )
  },
})

async function take(context: Context, local: LocalLibrary, word: string, outcome: Outcome): Promise<void> {
  const { args, signal } = context
  if (/^[a-z][a-z0-9+.-]*:\/\//i.test(word)) {
    if (args.given('url')) throw usage('--url says where a file came from; an address says that itself.')
    await request(context, local, word, { url: word }, outcome)
    return
  }
  if (word === '-') {
    await given(
      context,
      local,
      'standard input',
      null,
      async () => {
        if (process.stdin.isTTY)
          throw usage('Standard input is the keyboard.', 'Pipe a page or a file into `commonplace add -`.')
        const bytes = new Uint8Array(await buffer(addAbortSignal(signal, process.stdin)))
        checkSupported(bytes, 'standard input')
        return bytes
      },
      outcome,
    )
    return
  }
  const path = resolve(word)
  let kind: 'folder' | 'file'
  try {
    kind = await kindOfPath(path)
  } catch (error) {
    outcome.items.push({ given: word, state: 'failed', failure: toFailure(error) })
    return
  }
  if (kind === 'file')
    return await given(context, local, word, basename(path), () => readSupported(path), outcome)
  const { files, leftOut } = await filesBelow(path)
  outcome.leftOut.push(
    ...leftOut.map(({ path: inner, reason }) => ({ path: relative('', inner) || inner, reason })),
  )
  const progress = startProgress(context.err, `Reading ${word}`)
  try {
    for (const [at, file] of files.entries()) {
      signal.throwIfAborted()
      progress.say(`Reading ${at + 1} of ${files.length}: ${basename(file)}`)
      const shown = relative('', file) || file
      try {
        const bytes = await readSupported(file)
        await given(context, local, shown, basename(file), async () => bytes, outcome)
      } catch (error) {
        // In a folder what cannot be read is no failure: it is left out and said.
        const failure = toFailure(error)
        if (failure.kind === 'internal') throw error
        outcome.leftOut.push({ path: shown, reason: REASONS[failure.code] ?? oneLine(failure.message) })
      }
    }
  } finally {
    progress.stop()
  }
}

const REASONS: Partial<Record<Failure['code'], string>> = {
  unsupported_type: 'no page, book or text',
  no_text: 'empty',
  file_not_found: 'cannot be read',
}

async function given(
  context: Context,
  local: LocalLibrary,
  shown: string,
  name: string | null,
  read: () => Promise<Uint8Array>,
  outcome: Outcome,
): Promise<void> {
  try {
    const stored = await storeGiven(local.library, await read(), name)
    const url = context.args.one('url')
    await request(context, local, shown, { given: stored, ...(url !== undefined && { url }) }, outcome)
  } catch (error) {
    const failure = toFailure(error)
    if (endsAll(failure) || (shown === 'standard input' && failure.code === 'invalid_input')) throw error
    outcome.items.push({ given: shown, state: 'failed', failure })
  }
}

async function request(
  { args }: Context,
  { library }: LocalLibrary,
  shown: string,
  what: CaptureRequest,
  outcome: Outcome,
): Promise<void> {
  const [note, title] = [args.one('note'), args.one('title')]
  try {
    const { sourceId, captureId, created } = await library
      .on({ connection: 'cli', tool: 'add' })
      .change(async (change) => {
        const requested = await requestCapture(change, {
          ...what,
          ...(note !== undefined && { note }),
          ...(title !== undefined && { title }),
          tags: args.all('tag'),
          refresh: args.on('refresh'),
        })
        if (args.on('read')) await beginReading(change, requested, what.url ?? null)
        return requested
      })
    outcome.items.push({
      given: shown,
      state: captureId === undefined ? 'there already' : 'queued',
      sourceId,
      captureId,
      created,
    })
  } catch (error) {
    const failure = toFailure(error)
    if (endsAll(failure)) throw error
    outcome.items.push({ given: shown, state: 'failed', failure })
  }
}

/** What would be the same for every further item: the command ends with it. */
const endsAll = ({ code, kind }: Failure): boolean =>
  kind === 'internal' ||
  code === 'invalid_input' ||
  code.startsWith('library_') ||
  code === 'read_only' ||
  code === 'cancelled'

/** Captures in this process and waits for all of it; what nothing comes of for long goes on in the background. */
async function finish({ err, signal }: Context, local: LocalLibrary, { items }: Outcome): Promise<void> {
  const { db } = local.library
  const waiting = new Map<number, Added[]>()
  for (const item of items) {
    if (item.captureId === undefined) continue
    const same = waiting.get(item.captureId)
    if (same) same.push(item)
    else waiting.set(item.captureId, [item])
  }
  const total = waiting.size
  const [first] = [...waiting.values()].flat()
  const end = new AbortController()
  let refusal: unknown
  if (total > 0) void watchQueue(local, end.signal).catch((error: unknown) => (refusal = error))
  const progress = startProgress(
    err,
    `Capturing ${first && total === 1 ? first.given : count(total, 'item')}`,
  )
  try {
    for (let since = Date.now(); waiting.size > 0 && Date.now() - since < WAIT_MS;) {
      signal.throwIfAborted()
      if (refusal !== undefined) throw refusal
      for (const capture of await listEnded(db, [...waiting.keys()])) {
        const same = waiting.get(capture.id) ?? []
        for (const item of same) await settle(db, item, capture)
        waiting.delete(capture.id)
        since = Date.now()
        if (total > 1) progress.say(`Captured ${total - waiting.size} of ${total} · ${same[0]?.given ?? ''}`)
      }
      if (waiting.size > 0) await new Promise((resolve) => setTimeout(resolve, LOOK_MS))
    }
  } finally {
    end.abort()
    progress.stop()
  }
  for (const item of items) {
    if (!item.source && item.sourceId !== undefined && item.state === 'there already')
      item.source = await sourceOf(db, { source_id: item.sourceId })
  }
}

/** Sees to it that the work is done. Throws what keeps the queue from being read or written, such as a full disk. */
async function watchQueue(local: LocalLibrary, signal: AbortSignal): Promise<void> {
  const worker = local.work()
  while (!signal.aborted) {
    await worker.drained()
    await new Promise((resolve) => setTimeout(resolve, 10 * LOOK_MS))
  }
}

async function settle(db: Db, item: Added, capture: Capture): Promise<void> {
  if (capture.state === 'failed') {
    item.state = 'failed'
    const failure = failureOf(capture)
    if (failure) item.failure = failure
    return
  }
  item.state = capture.outcome === 'unchanged' ? 'there already' : 'captured'
  const remark = remarkOn(capture)
  if (remark !== undefined) item.remark = remark
  item.source = await sourceOf(db, capture)
}
