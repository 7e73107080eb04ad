import { createGunzip } from 'node:zlib'
import { buffer } from 'node:stream/consumers'
import { Failure } from '../core/failure.ts'
import type { Library } from '../core/library.ts'
import type { MediaFile } from '../core/outside.ts'
import { lastGiven } from '../features/capture/capture-store.ts'
import { findMedia } from '../features/sources/owned-store.ts'
import { findItem, type Source } from '../features/sources/source-store.ts'
import { currentText } from '../features/texts/text-store.ts'
import type { ApiCall, ApiParts, ApiRoute } from './api.ts'
import { codingFor, compress, LEAST_BYTES } from './content-encoding.ts'
import { contentTypeOf, HEAD_BYTES } from './content-type.ts'
import { isUnchanged } from './conditional.ts'
import { dispositionOf } from './file-name.ts'
import { HARMLESS, OWN, sendFile, sendParts } from './send-file.ts'
import { needScopes } from './who-calls.ts'

/** A file of one name never changes. */
const FOR_EVER = 'private, max-age=31536000, immutable'
const ASK_AGAIN = 'private, no-cache'
const COUNTED = { name: 'Downloads', effect: 'read' } as const

/** What is sent of an item: a file as it was given, or what a text was made from, which is kept compressed. */
type Original =
  | { kind: 'given'; hash: string; file: MediaFile; name: string | null }
  | { kind: 'raw'; hash: string; file: MediaFile; name: string; type: string }

/** Media and originals as files, texts as Markdown. */
export function createDownloads({ server }: Pick<ApiParts, 'server'>): ApiRoute[] {
  const use = <T>({ caller }: ApiCall, work: (library: Library) => Promise<T>): Promise<T> =>
    server.libraries.use(caller.readerId, ({ library }) => work(library))

  /** A page shows many pictures: they are not counted as calls. */
  async function media(call: ApiCall): Promise<void> {
    const { req, res, caller, params } = call
    needScopes(caller, ['sources:read'])
    const [hash = ''] = params
    const found = await use(call, async (library) => {
      const known = /^[0-9a-f]{64}$/.test(hash) ? await findMedia(library.db, hash) : undefined
      const file = known && (await library.outside.media.open(hash))
      return known && file && { ...known, file }
    })
    if (!found) throw noFile('There is no such file in the library.')
    const headers = await headersOf(found.file, found.name, FOR_EVER)
    await sendFile(req, res, { file: found.file, hash, headers })
  }

  async function original(call: ApiCall): Promise<void> {
    const { req, res, caller, params } = call
    needScopes(caller, ['sources:read'])
    await server.limiter.admit(COUNTED, caller.counted)
    const found = await use(call, async (library) =>
      originalOf(library, await findItem(library.db, params[0] ?? '')),
    )
    if (found.kind === 'given') {
      const headers = await headersOf(found.file, found.name, ASK_AGAIN)
      return sendFile(req, res, { file: found.file, hash: found.hash, headers })
    }
    await sendRaw(call, found)
  }

  async function text(call: ApiCall): Promise<void> {
    const { req, res, caller, params } = call
    needScopes(caller, ['sources:read'])
    await server.limiter.admit(COUNTED, caller.counted)
    const { title, hash, markdown } = await use(call, async (library) => {
      const source = await findItem(library.db, params[0] ?? '')
      return { title: source.title, ...(await currentText(library.db, source)) }
    })
    // The same text, whatever it is packed in.
    const etag = `W/"${hash}"`
    const headers = { etag, 'cache-control': ASK_AGAIN, vary: `${OWN.vary}, Accept-Encoding` }
    if (isUnchanged(req, etag)) return void res.writeHead(304, headers).end()
    const coding = markdown.length < LEAST_BYTES ? undefined : codingFor(req)
    const body = coding === undefined ? Buffer.from(markdown) : await compress(markdown, coding)
    res.writeHead(200, {
      ...HARMLESS,
      ...headers,
      'content-type': 'text/markdown; charset=utf-8',
      'content-length': body.length,
      'content-disposition': dispositionOf('inline', `${title}.md`),
      ...(coding !== undefined && { 'content-encoding': coding }),
    })
    res.end(req.method === 'HEAD' ? undefined : body)
  }

  return [
    { path: /^\/api\/media\/([^/]+)$/, methods: { GET: media } },
    { path: /^\/api\/items\/([^/]+)\/file$/, methods: { GET: original } },
    { path: /^\/api\/items\/([^/]+)\/text$/, methods: { GET: text } },
  ]
}

async function headersOf(
  file: MediaFile,
  name: string | null,
  cache: string,
): Promise<Record<string, string>> {
  const head =
    file.size === 0 ? Buffer.alloc(0) : await buffer(file.read(0, Math.min(file.size, HEAD_BYTES) - 1))
  const { type, inline } = contentTypeOf(head, name)
  return {
    ...OWN,
    'content-type': type,
    'content-disposition': dispositionOf(inline ? 'inline' : 'attachment', name),
    'cache-control': cache,
  }
}

/** Throws `not_captured`, and `file_not_found` where the item came without one. */
async function originalOf(library: Library, source: Source): Promise<Original> {
  const { media } = library.outside
  const given = await lastGiven(library.db, source.id)
  if (given?.given) {
    const file = await media.open(given.given)
    if (file) return { kind: 'given', hash: given.given, file, name: given.given_name }
  }
  const { raw, method } = await currentText(library.db, source)
  const file = raw === null ? undefined : await media.open(raw)
  if (raw === null || !file) throw noFile('The item has no file.')
  const [type, ending] = TYPE_OF_METHOD[method] ?? ['text/html', 'html']
  return { kind: 'raw', hash: raw, file, name: `${source.title}.${ending}`, type }
}

/** What a text was made from, by what made it; all else reads pages. */
const TYPE_OF_METHOD: Readonly<Record<string, readonly [type: string, ending: string]>> = {
  pdf: ['application/pdf', 'pdf'],
  epub: ['application/epub+zip', 'epub'],
  markdown: ['text/markdown', 'md'],
  text: ['text/plain', 'txt'],
}

/** As it is kept for whoever takes gzip, and unpacked on the way for the others. */
async function sendRaw({ req, res }: ApiCall, found: Extract<Original, { kind: 'raw' }>): Promise<void> {
  const { hash, file, name, type } = found
  const etag = `W/"${hash}"`
  const headers = { etag, 'cache-control': ASK_AGAIN, vary: `${OWN.vary}, Accept-Encoding` }
  if (isUnchanged(req, etag)) return void res.writeHead(304, headers).end()
  const packed = codingFor(req, ['gzip']) === 'gzip'
  res.writeHead(200, {
    ...HARMLESS,
    ...headers,
    'content-type': type,
    'content-disposition': dispositionOf('attachment', name),
    ...(packed && { 'content-encoding': 'gzip', 'content-length': file.size }),
  })
  if (req.method === 'HEAD') return void res.end()
  const parts = file.read(0, file.size - 1)
  await (packed ? sendParts(res, parts) : sendParts(res, parts, createGunzip()))
}

const noFile = (message: string): Failure =>
  new Failure('file_not_found', message, { hint: 'list_items and read_item tell what there is.' })
