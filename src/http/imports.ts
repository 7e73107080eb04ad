import { Failure } from '../core/failure.ts'
import { parseId } from '../core/ids.ts'
import type { Library } from '../core/library.ts'
import { describeImport } from '../features/imports/describe-import.ts'
import { beginFile } from '../features/imports/begin-file.ts'
import { findImport } from '../features/imports/import-store.ts'
import { undoImport } from '../features/imports/undo-import.ts'
import type { ApiCall, ApiParts, ApiRoute } from './api.ts'
import { dispositionOf, nameOf, safeName } from './file-name.ts'
import { httpProblem } from './problem.ts'
import { HARMLESS, OWN, sendFile } from './send-file.ts'
import { sendJson } from './send-json.ts'
import { createFileDoor } from './take-file.ts'
import { needScopes } from './who-calls.ts'

const AT_ONCE = { each: 2, all: 24 }
/** Files that may be in memory at once. */
const IN_MEMORY = 1
const COUNTED = { name: 'Imports', effect: 'write' } as const

/** `POST /api/imports`: an export of another program; what became of it, its report, and its undo. */
export function createImports({ server, uploadBytes }: ApiParts): ApiRoute[] {
  const takeFile = createFileDoor({ server }, { atOnce: AT_ONCE, inMemory: IN_MEMORY })
  const use = <T>({ caller }: ApiCall, work: (library: Library) => Promise<T>): Promise<T> =>
    server.libraries.use(caller.readerId, ({ library }) => work(library))

  function send(call: ApiCall): Promise<void> {
    const { req, res, query } = call
    const wanted = {
      scopes: ['sources:write', 'highlights:write'],
      counted: COUNTED,
      mostBytes: uploadBytes,
      tooLarge: httpProblem(
        413,
        `A file must not exceed ${uploadBytes} bytes.`,
        'Export in parts and send them one by one.',
      ),
    } as const
    return takeFile(call, wanted, async (bytes) => {
      const name = safeName(query.get('name') ?? nameOf(req) ?? '')
      const told = await use(call, async (library) => {
        const id = await beginFile(library, bytes, name)
        return describeImport(library, await findImport(library.db, id))
      })
      const headers = { location: `/api/imports/${told.import_id}` }
      await sendJson(req, res, told, { status: 202, headers })
    })
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
