import { Failure } from '../core/failure.ts'
import { fileNameIn, parameterIn } from './file-name.ts'

/** One part of a form: a field, or a file where there is a file name. */
export interface FormPart {
  name: string
  fileName?: string
  contentType?: string
  /** A view into the body. */
  bytes: Buffer
}

const MOST_PARTS = 50
const MOST_HEADER_BYTES = 8 * 1024

/** The boundary that a `multipart/form-data` content type names (RFC 2046 §5.1.1). Throws `invalid_input`. */
export function boundaryOf(contentType: string): string {
  const boundary = parameterIn(contentType, 'boundary')
  if (boundary !== undefined && /^[\w'()+,./:=? -]{1,70}$/.test(boundary)) return boundary
  throw broken('its content type names no boundary')
}

/** The parts of a form in the order they came (RFC 7578). Throws `invalid_input` where the body is none, or ends too early. */
export function readForm(body: Buffer, boundary: string): FormPart[] {
  const parts: FormPart[] = []
  const mark = Buffer.from(`--${boundary}`, 'latin1')
  const between = Buffer.from(`\r\n--${boundary}`, 'latin1')
  // What stands before the first mark means nothing.
  let at = body.subarray(0, mark.length).equals(mark) ? mark.length : after(body, between, 0)
  for (;;) {
    const next = body.subarray(at, at + 2).toString('latin1')
    if (next === '--') return parts
    if (next !== '\r\n') throw broken('it is cut off')
    if (parts.length === MOST_PARTS) throw broken(`it has more than ${MOST_PARTS} parts`)
    const headersEnd = body.indexOf('\r\n\r\n', at, 'latin1')
    if (headersEnd < 0 || headersEnd - at > MOST_HEADER_BYTES)
      throw broken('a part of it has no end of headers')
    const end = body.indexOf(between, headersEnd + 2)
    if (end < 0) throw broken('it is cut off')
    const headers = body.subarray(at + 2, Math.max(headersEnd, at + 2)).toString('utf8')
    parts.push(partOf(headers, body.subarray(headersEnd + 4, Math.max(end, headersEnd + 4))))
    at = end + between.length
  }
}

function after(body: Buffer, mark: Buffer, from: number): number {
  const at = body.indexOf(mark, from)
  if (at < 0) throw broken('its boundary does not stand in it')
  return at + mark.length
}

function partOf(headers: string, bytes: Buffer): FormPart {
  const header = (name: string): string | undefined =>
    new RegExp(`^${name}:[ \\t]*(.*?)[ \\t]*$`, 'im').exec(headers)?.[1]
  const disposition = header('content-disposition') ?? ''
  // Browsers write quotes and line breaks in names as the URL Standard's percent codes, and nothing else.
  const unquoted = (text: string) => text.replaceAll('%22', '"').replaceAll('%0D', '').replaceAll('%0A', '')
  const name = parameterIn(disposition, 'name')
  if (!/^form-data\s*;/i.test(disposition) || name === undefined) throw broken('a part of it has no name')
  const fileName = fileNameIn(disposition)
  const contentType = header('content-type')
  return {
    name: unquoted(name),
    ...(fileName !== undefined && { fileName: unquoted(fileName) }),
    ...(contentType !== undefined && { contentType }),
    bytes,
  }
}

const broken = (why: string): Failure =>
  new Failure('invalid_input', `The form cannot be read: ${why}.`, {
    hint: 'Send multipart/form-data as a browser does, or the file itself as the body.',
  })
