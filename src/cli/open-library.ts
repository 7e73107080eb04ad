import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { inspect } from 'node:util'
import { openLocal, type LocalLibrary } from '../app/open-local.ts'
import { LIBRARY_FILE } from '../app/open-file.ts'
import { Failure } from '../core/failure.ts'
import { toFailure } from '../core/to-failure.ts'
import { hasDueJobs } from '../jobs/queue.ts'
import { JOBS } from '../jobs/registry.ts'
import type { Worker } from '../jobs/worker.ts'
import { startWork } from './background.ts'
import type { Context } from './command.ts'
import { oneLine, STYLE } from './print.ts'

export interface LibraryUse {
  /** Makes a library where there is none. Without it a mistyped folder is said instead of made. */
  create?: boolean
  /** Needs a library that may be written. */
  changes?: boolean
  /** Leaves the work that waits at the end to a process of its own. */
  background?: boolean
}

const KINDS = JOBS.map(({ kind }) => kind)

/** Opens the reader's library for the length of `work`. Throws `unavailable`, `read_only`. */
export async function withLibrary<T>(
  context: Context,
  work: (local: LocalLibrary) => Promise<T>,
  { create = false, changes = create, background = changes }: LibraryUse = {},
): Promise<T> {
  const config = context.config()
  const { readOnly } = context
  if (changes && readOnly) throw readOnlyFailure()
  if (!create && !existsSync(join(config.library, LIBRARY_FILE))) throw noLibrary(config.library)
  const local = await openLocal(config, {
    readOnly,
    onError: (error, where) => {
      if (config.debug) context.err.line({ text: `${where}: ${oneLine(inspect(error))}`, style: STYLE.dim })
      // A failed job tells of itself; a queue that cannot be read would be waited for in silence.
      else if (where === 'queue')
        context.err.line({ text: oneLine(toFailure(error).message), style: STYLE.warning })
    },
  })
  let worker: Worker | undefined
  try {
    const result = await work({ ...local, work: () => (worker = local.work()) })
    if (background) {
      await worker?.stop()
      if (await hasDueJobs(local.library.db, KINDS, local.library.now()))
        startWork(local.file.folder, context.env)
    }
    return result
  } finally {
    await local.close()
  }
}

const readOnlyFailure = (): Failure =>
  new Failure('read_only', 'This command changes the library, which was opened for reading only.', {
    hint: 'Leave --read-only out to let it.',
  })

export const noLibrary = (folder: string): Failure =>
  new Failure('unavailable', `There is no library in ${folder} yet.`, {
    hint: 'Run `commonplace welcome` to make one, or `commonplace add` something; --library DIR names another folder.',
  })
