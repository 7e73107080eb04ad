import type { IncomingMessage } from 'node:http'
import { Failure } from '../core/failure.ts'
import { parseId } from '../core/ids.ts'
import type { Library } from '../core/library.ts'
import { describeImport } from '../features/imports/describe-import.ts'
import { beginFile } from '../features/imports/begin-file.ts'
import { findImport } from '../features/imports/import-store.ts'
import { undoImport } from '../features/imports/undo-import.ts'
import type { ApiCall, ApiParts, ApiRoute } from './api.ts'
import { dispositionOf, fileNameIn, safeName } from './file-name.ts'
import { httpProblem, sendProblemEarly } from './problem.ts'
import { receiveBody } from './receive-body.ts'
import { HARMLESS, OWN, sendFile } from './send-file.ts'
import { sendJson } from './send-json.ts'
import { OpenCount, Turns } from './turns.ts'
import { askWho, needScopes, stillCalls } from './who-calls.ts'

const AT_ONCE = { each: 2, all: 24 }
/** Files that may be in memory at once. */
const IN_MEMORY = 1
const COUNTED = { name: 'Imports', effect: 'write' } as const

/** `POST /api/imports`: an export of another program; what became of it, its report, and its undo. */
export function createImports({ server, uploadBytes }: ApiParts): ApiRoute[] {
  const open = new OpenCount(AT_ONCE)
  const turns = new Turns(IN_MEMORY)
  const use = <T>({ caller }: ApiCall, work: (library: Library) => Promise<T>): Promise<T> =>
    server.libraries.use(caller.readerId, ({ library }) => work(library))

  async function send(call: ApiCall): Promise<void> {
    const { req, res, caller, query } = call
    needScopes(caller, ['sources:write', 'highlights:write'])
    if ((req.headers['content-encoding'] ?? 'identity').toLowerCase() !== 'identity') {
      return sendProblemEarly(
        req,
        res,
        httpProblem(415, 'The body must not be compressed.', 'Send the file as it is.'),
      )
    }
    const full = open.enter(caller.readerId)
    if (full) throw tooMany(full)
    try {
      await server.limiter.admit(COUNTED, caller.counted)
      const received = await receiveBody(req, uploadBytes)
      if (!received) {
        return sendProblemEarly(
          req,
          res,
          httpProblem(
            413,
            `A file must not exceed ${uploadBytes} bytes.`,
            'Export in parts and send them one by one.',
          ),
        )
      }
      try {
        await turns.take(async () => {
          if (!(await stillCalls(server.accounts, req, caller))) return askWho(server.accounts, req, res)
          const bytes = await received.bytes()
          const name = safeName(query.get('name') ?? nameOf(req) ?? '')
          const told = await use(call, async (library) => {
            const id = await beginFile(library, bytes, name)
            return describeImport(library, await findImport(library.db, id))
          })
          await sendJson(req, res, told, {
            status: 202,
            headers: { location: `/api/imports/${told.import_id}` },
          })
        })
      } finally {
        await received.discard()
      }
    } finally {
      open.leave(caller.readerId)
    }
  }

  async function look(call: ApiCall): Promise<void> {
    const { req, res, caller, params } = call
    needScopes(caller, ['sources:read'])
    await server.limiter.admit({ name: 'Imports', effect: 'read' }, caller.counted)
    const told = await use(call, async (library) =>
      describeImport(library, await findImport(library.db, idIn(params))),
    )
    await sendJson(req, res, told)
  }

  async function report(call: ApiCall): Promise<void> {
    const { req, res, caller, params } = call
    needScopes(caller, ['sources:read', 'highlights:read', 'notes:read'])
    const id = idIn(params)
    const found = await use(call, async (library) => {
      const { report: hash } = await findImport(library.db, id)
      const file = hash === null ? undefined : await library.outside.media.open(hash)
      return hash !== null && file ? { hash, file } : undefined
    })
    if (!found) {
      throw new Failure('file_not_found', 'There is no report of this import.', {
        hint: 'It is there when the import of a file that was sent in is completed.',
      })
    }
    const headers = {
      ...HARMLESS,
      ...OWN,
      'content-type': 'text/csv; charset=utf-8',
      'content-disposition': dispositionOf('attachment', `import-${id}.csv`),
      'cache-control': 'private, no-cache',
    }
    await sendFile(req, res, { file: found.file, hash: found.hash, headers })
  }

  async function undo(call: ApiCall): Promise<void> {
    const { req, res, caller, params } = call
    needScopes(caller, ['sources:write', 'highlights:write'])
    await server.limiter.admit(COUNTED, caller.counted)
    const { removed, kept, importId } = await use(call, (library) =>
      undoImport(library.on({ connection: caller.connection, tool: 'undo_import' }), idIn(params)),
    )
    await sendJson(req, res, { import_id: importId, removed, kept })
  }

  return [
    { path: /^\/api\/imports$/, methods: { POST: send } },
    { path: /^\/api\/imports\/(\d{1,16})$/, methods: { GET: look, DELETE: undo } },
    { path: /^\/api\/imports\/(\d{1,16})\/report\.csv$/, methods: { GET: report } },
  ]
}

const idIn = ([id = '']: readonly string[]): number => parseId(id) ?? 0

/** Names come in UTF-8 where HTTP had Latin-1. */
const nameOf = (req: IncomingMessage): string | undefined =>
  fileNameIn(Buffer.from(req.headers['content-disposition'] ?? '', 'latin1').toString('utf8'))

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
