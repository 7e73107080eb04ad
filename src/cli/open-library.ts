import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { inspect } from 'node:util'
import { openLocal, type LocalLibrary } from '../app/open-local.ts'
import { LIBRARY_FILE } from '../app/open-file.ts'
import { Failure } from '../core/failure.ts'
import { hasDueJobs } from '../jobs/queue.ts'
import type { Worker } from '../jobs/worker.ts'
import { startWork } from './background.ts'
import type { Context } from './command.ts'
import { oneLine, STYLE } from './print.ts'

/**
 * Opens the reader's library for the length of `work`. Without `create` a library must be there: a mistyped folder is then
 * said instead of made. What a command that `changes` something leaves waiting is done by a process of its own. Throws
 * `unavailable`.
 */
export async function withLibrary<T>(
  context: Context,
  work: (local: LocalLibrary) => Promise<T>,
  { create = false, changes = create }: { create?: boolean; changes?: boolean } = {},
): Promise<T> {
  const config = context.config()
  const { readOnly } = context
  if (!existsSync(join(config.library, LIBRARY_FILE)) && (!create || readOnly))
    throw noLibrary(config.library)
  const local = await openLocal(config, {
    readOnly,
    onError: (error, where) => {
      if (config.debug) context.err.line({ text: `${where}: ${oneLine(inspect(error))}`, style: STYLE.dim })
    },
  })
  let worker: Worker | undefined
  try {
    const result = await work({ ...local, work: () => (worker = local.work()) })
    if (changes && !readOnly) {
      await worker?.stop()
      if (await hasDueJobs(local.library.db, local.library.now())) startWork(local.file.folder, context.env)
    }
    return result
  } finally {
    await local.close()
  }
}

export const noLibrary = (folder: string): Failure =>
  new Failure('unavailable', `There is no library in ${folder} yet.`, {
    hint: 'Run `commonplace welcome` to make one, or `commonplace add` something; --library DIR names another folder.',
  })
