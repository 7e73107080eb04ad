import type { IncomingMessage, ServerResponse } from 'node:http'
import { Failure } from '../core/failure.ts'
import { parseId } from '../core/ids.ts'
import type { ApiCall, ApiParts, ApiRoute } from './api.ts'
import { contentTag, isUnchanged } from './conditional.ts'
import { jobStatus, type JobStatus } from './job-status.ts'
import { OpenCount } from './turns.ts'
import { needScopes, stillCalls } from './who-calls.ts'

/** How often a job's row is looked at; whichever process does the job writes it there. */
const LOOK_MS = 500
/** Proxies close what is silent for longer. */
const HEARTBEAT_MS = 15_000
/** How many looks at a job there are to one at whether its listener's token or session still holds. */
const LOOKS_PER_CHECK = 4
/** A stream ends after this, and its client comes again. */
const LONGEST_MS = 10 * 60_000
/** How soon a client comes again. */
const RETRY_MS = 2_000
/** Streams that may be open at once: of one reader, and of all in this process. */
const AT_ONCE = { each: 8, all: 500 }

const COUNTED = { name: 'Jobs', effect: 'read' } as const

/** How far a job is, at once and as it goes on. */
export function createJobEvents({ server, ending, onError }: ApiParts): ApiRoute[] {
  const open = new OpenCount(AT_ONCE)
  const streams = new Set<() => void>()
  ending.addEventListener('abort', () => streams.forEach((end) => end()), { once: true })

  /** Throws `job_not_found`. */
  function find({ caller, params }: ApiCall): Promise<JobStatus> {
    const id = parseId(params[0] ?? '')
    return server.libraries.use(caller.readerId, async ({ library }) => {
      const status = id === undefined ? undefined : await jobStatus(library.db, id)
      if (status) return status
      throw new Failure('job_not_found', 'There is no such job in the library.', {
        hint: 'Jobs that ended are forgotten after some days; what they did is in the library.',
      })
    })
  }

  async function admit({ caller }: ApiCall): Promise<void> {
    // Who asked for the work may see it come.
    if (!caller.scopes.has('sources:write')) needScopes(caller, ['sources:read'])
    await server.limiter.admit(COUNTED, caller.counted)
  }

  async function status(call: ApiCall): Promise<void> {
    const { req, res } = call
    await admit(call)
    const body = JSON.stringify(await find(call))
    const etag = `W/"${contentTag(body)}"`
    const headers = { etag, 'cache-control': 'private, no-cache', vary: 'Authorization, Cookie' }
    if (isUnchanged(req, etag)) return void res.writeHead(304, headers).end()
    res.writeHead(200, {
      ...headers,
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(body),
    })
    res.end(req.method === 'HEAD' ? undefined : body)
  }

  async function events(call: ApiCall): Promise<void> {
    const { req, res, caller } = call
    await admit(call)
    const first = await find(call)
    const seen = lastEventId(req)
    // A client that has heard the end comes again all the same, unless it is told that there is nothing more (HTML, 9.2.3).
    if (isOver(first) && contentTag(JSON.stringify(first)) === seen) return void res.writeHead(204).end()
    if (req.method === 'HEAD') return void res.writeHead(200, EVENTS).end()
    const full = open.enter(caller.readerId)
    if (full) throw tooMany(full)
    res.once('close', () => open.leave(caller.readerId))
    res.writeHead(200, EVENTS)
    res.write(`retry: ${RETRY_MS}\n\n`)
    follow(call, res, first, seen)
  }

  function follow(call: ApiCall, res: ServerResponse, first: JobStatus, seen: string | undefined): void {
    let told = seen
    let looking = false
    let looks = 0
    const end = (): void => void res.end()
    const tell = (status: JobStatus): void => {
      const data = JSON.stringify(status)
      const id = contentTag(data)
      // A client that reads too slowly gets the next state instead; the last one always goes out.
      if (id !== told && (isOver(status) || !res.writableNeedDrain)) {
        res.write(`event: ${isOver(status) ? 'outcome' : 'progress'}\nid: ${id}\ndata: ${data}\n\n`)
        told = id
      }
      if (isOver(status)) end()
    }
    const look = async (): Promise<void> => {
      if (looking || res.writableEnded) return
      looking = true
      try {
        if (++looks % LOOKS_PER_CHECK === 0 && !(await stillCalls(server.accounts, call.req, call.caller)))
          return end()
        tell(await find(call))
      } catch (error) {
        // The job, the reader or the database is gone: a client that comes again is told which.
        if (!(error instanceof Failure)) onError(error, 'job_events')
        end()
      } finally {
        looking = false
      }
    }
    const timers = [
      setInterval(() => void look(), LOOK_MS),
      setInterval(() => void res.write(':\n\n'), HEARTBEAT_MS),
      setTimeout(end, LONGEST_MS),
    ]
    for (const timer of timers) timer.unref()
    streams.add(end)
    res.once('close', () => {
      for (const timer of timers) clearTimeout(timer)
      streams.delete(end)
    })
    tell(first)
    if (ending.aborted) end()
  }

  return [
    { path: /^\/api\/jobs\/([^/]+)$/, methods: { GET: status } },
    { path: /^\/api\/jobs\/([^/]+)\/events$/, methods: { GET: events } },
  ]
}

const EVENTS = {
  'content-type': 'text/event-stream',
  'cache-control': 'no-store',
  'x-accel-buffering': 'no',
} as const

const isOver = ({ state }: JobStatus): boolean => state === 'completed' || state === 'failed'

const lastEventId = (req: IncomingMessage): string | undefined => {
  const given = req.headers['last-event-id']
  return Array.isArray(given) ? given[0] : given
}

const tooMany = (full: 'each' | 'all'): Failure =>
  full === 'each'
    ? new Failure('rate_limited', `More than ${AT_ONCE.each} streams of events are open.`, {
        hint: 'Close one of them, or ask /api/jobs/{id} now and then.',
        retryAfterSeconds: 5,
      })
    : new Failure('unavailable', 'Too many streams of events are open on this server.', {
        hint: 'Ask /api/jobs/{id} now and then.',
        retryAfterSeconds: 30,
      })
