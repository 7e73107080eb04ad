import type { IncomingMessage } from 'node:http'
import { Failure } from '../core/failure.ts'
import { storeGiven } from '../features/capture/capture-source.ts'
import { checkSupported } from '../features/capture/check-supported.ts'
import { detectKind, type FileKind } from '../features/capture/detect-kind.ts'
import { callTool } from '../tools/call-tool.ts'
import { addFile } from './add-file.ts'
import type { ApiCall, ApiParts, ApiRoute } from './api.ts'
import { nameOf, safeName } from './file-name.ts'
import { boundaryOf, readForm } from './multipart.ts'
import { httpProblem, sendProblem } from './problem.ts'
import { sendJson } from './send-json.ts'
import { createFileDoor } from './take-file.ts'

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
  const takeFile = createFileDoor({ server }, { atOnce: AT_ONCE, inMemory: IN_MEMORY })

  function upload(call: ApiCall): Promise<void> {
    const { req, res, query } = call
    const form = /^multipart\/form-data\s*(;|$)/i.test(req.headers['content-type'] ?? '')
    const boundary = form ? boundaryOf(req.headers['content-type'] ?? '') : undefined
    const wanted = {
      scopes: addFile.scopes,
      counted: addFile,
      mostBytes: uploadBytes + (form ? FORM_BYTES : 0),
      tooLarge: tooLarge(uploadBytes),
    }
    return takeFile(call, wanted, async (bytes) => {
      const sent = boundary === undefined ? fromBody(req, bytes, query) : fromForm(bytes, boundary, query)
      if (sent.bytes.length > uploadBytes) return sendProblem(res, tooLarge(uploadBytes))
      await store(call, sent)
    })
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
  const name = query.get('name') ?? nameOf(req) ?? ''
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
