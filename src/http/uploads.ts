import type { IncomingMessage } from 'node:http'
import { Failure } from '../core/failure.ts'
import { storeGiven } from '../features/capture/capture-source.ts'
import { checkSupported } from '../features/capture/check-supported.ts'
import { detectKind, type FileKind } from '../features/capture/detect-kind.ts'
import { callTool } from '../tools/call-tool.ts'
import { addFile } from './add-file.ts'
import type { ApiCall, ApiParts, ApiRoute } from './api.ts'
import { fileNameIn, safeName } from './file-name.ts'
import { boundaryOf, readForm } from './multipart.ts'
import { httpProblem, sendProblem, sendProblemEarly } from './problem.ts'
import { receiveBody } from './receive-body.ts'
import { sendJson } from './send-json.ts'
import { OpenCount, Turns } from './turns.ts'
import { askWho, needScopes, stillCalls } from './who-calls.ts'

/** What a form may have beside the file. */
const FORM_BYTES = 64 * 1024
/** Uploads that may be under way at once: of one reader, and of all. */
const AT_ONCE = { each: 3, all: 48 }
/** Files that may be in memory at once, as a media store takes them. */
const IN_MEMORY = 2

/** A file with what was said of it. */
interface Sent {
  bytes: Buffer
  name: string | null
  contentType?: string | undefined
  fields: URLSearchParams
}

/** `POST /api/files`: one file into the library, as the body or in a form. */
export function createUploads({ server, uploadBytes }: ApiParts): ApiRoute[] {
  const open = new OpenCount(AT_ONCE)
  const turns = new Turns(IN_MEMORY)

  async function upload(call: ApiCall): Promise<void> {
    const { req, res, caller, query } = call
    needScopes(caller, addFile.scopes)
    const coding = req.headers['content-encoding'] ?? 'identity'
    if (coding.toLowerCase() !== 'identity') {
      return sendProblemEarly(
        req,
        res,
        httpProblem(415, 'The body must not be compressed.', 'Send the file as it is.'),
      )
    }
    const full = open.enter(caller.readerId)
    if (full) throw tooMany(full)
    try {
      await server.limiter.admit(addFile, caller.counted)
      const form = /^multipart\/form-data\s*(;|$)/i.test(req.headers['content-type'] ?? '')
      const boundary = form ? boundaryOf(req.headers['content-type'] ?? '') : undefined
      const received = await receiveBody(req, uploadBytes + (form ? FORM_BYTES : 0))
      if (!received) return sendProblemEarly(req, res, tooLarge(uploadBytes))
      try {
        await turns.take(async () => {
          // A file may take a quarter of an hour to come.
          if (!(await stillCalls(server.accounts, req, caller))) return askWho(server.accounts, req, res)
          const bytes = await received.bytes()
          const sent = boundary === undefined ? fromBody(req, bytes, query) : fromForm(bytes, boundary, query)
          if (sent.bytes.length > uploadBytes) return sendProblem(res, tooLarge(uploadBytes))
          await store(call, sent)
        })
      } finally {
        await received.discard()
      }
    } finally {
      open.leave(caller.readerId)
    }
  }

  async function store({ req, res, caller, query }: ApiCall, sent: Sent): Promise<void> {
    const { bytes, contentType, fields } = sent
    const kind = checkSupported(bytes, sent.name ?? 'The file', contentType)
    const name = nameFor(kind, sent)
    const requestId = query.get('requestId') ?? idempotencyKey(req)
    const one = (field: string): string | undefined => fields.get(field) || undefined
    const [url, title, note] = [one('url'), one('title'), one('note')]
    const tags = fields.getAll('tag').filter(Boolean)
    const { output } = await server.libraries.use(caller.readerId, async ({ library }) => {
      const { hash } = await storeGiven(library, bytes, name)
      const args = {
        hash,
        fileName: name,
        ...(url !== undefined && { url }),
        ...(title !== undefined && { title }),
        ...(note !== undefined && { note }),
        ...(tags.length > 0 && { tags }),
        ...(requestId !== undefined && { requestId }),
      }
      const signal = new AbortController().signal
      return callTool(addFile, library, args, { ...caller, signal, progress: () => {} })
    })
    const job = output['job']
    const waits = typeof job === 'string'
    await sendJson(req, res, output, waits ? { status: 202, headers: { location: `/api/jobs/${job}` } } : {})
  }

  return [{ path: /^\/api\/files$/, methods: { POST: upload } }]
}

function fromBody(req: IncomingMessage, bytes: Buffer, query: URLSearchParams): Sent {
  // Names come in UTF-8 where HTTP had Latin-1.
  const disposition = Buffer.from(req.headers['content-disposition'] ?? '', 'latin1').toString('utf8')
  const name = query.get('name') ?? fileNameIn(disposition) ?? ''
  return { bytes, name: safeName(name), contentType: req.headers['content-type'], fields: query }
}

/** Throws `invalid_input` where there is not exactly one file. */
function fromForm(body: Buffer, boundary: string, query: URLSearchParams): Sent {
  const parts = readForm(body, boundary)
  const [file, another] = parts.filter(({ fileName }) => fileName !== undefined)
  if (!file || another) {
    throw new Failure('invalid_input', `The form has ${file ? 'more than one file' : 'no file'}.`, {
      hint: 'Send one file with each request.',
    })
  }
  const fields = new URLSearchParams(query)
  for (const { name, fileName, bytes } of parts)
    if (fileName === undefined) fields.append(name, bytes.toString('utf8'))
  const name = fields.get('name') ?? file.fileName ?? ''
  return { bytes: file.bytes, name: safeName(name), contentType: file.contentType, fields }
}

const ENDINGS: Partial<Record<FileKind, string>> = {
  html: '.html',
  pdf: '.pdf',
  epub: '.epub',
  markdown: '.md',
  text: '.txt',
  vtt: '.vtt',
  srt: '.srt',
}

/** The name that a file is kept under: where only its content type says what it is, its ending has to say it later. */
function nameFor(kind: FileKind, { bytes, name }: Sent): string | null {
  const told = detectKind({ bytes, ...(name !== null && { fileName: name }) })
  return told === kind ? name : `${name ?? 'Untitled'}${ENDINGS[kind] ?? ''}`
}

/** The header's value is a string in quotes; most clients leave the quotes away. */
function idempotencyKey(req: IncomingMessage): string | undefined {
  const given = req.headers['idempotency-key']
  const key = Array.isArray(given) ? given[0] : given
  return key?.trim().replace(/^"(.*)"$/, '$1')
}

const tooLarge = (limit: number) =>
  httpProblem(413, `A file must not exceed ${limit} bytes.`, 'Send a smaller file.')

const tooMany = (full: 'each' | 'all'): Failure =>
  full === 'each'
    ? new Failure('rate_limited', `More than ${AT_ONCE.each} files are being sent at once.`, {
        hint: 'Wait until one of them is done.',
        retryAfterSeconds: 5,
      })
    : new Failure('unavailable', 'Too many files are being sent to this server.', {
        hint: 'Try again in a minute.',
        retryAfterSeconds: 60,
      })
