import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { inspect } from 'node:util'
import { openLocal, type LocalLibrary } from '../app/open-local.ts'
import { LIBRARY_FILE } from '../app/open-file.ts'
import { Failure } from '../core/failure.ts'
import type { Context } from './command.ts'
import { oneLine, STYLE } from './print.ts'

/**
 * Opens the reader's library for the length of `work`. Without `create` a library must be there: a mistyped folder is then
 * said instead of made. Throws `unavailable`.
 */
export async function withLibrary<T>(
  context: Context,
  work: (local: LocalLibrary) => Promise<T>,
  { create = false }: { create?: boolean } = {},
): Promise<T> {
  const config = context.config()
  if (!existsSync(join(config.library, LIBRARY_FILE)) && (!create || context.readOnly))
    throw noLibrary(config.library)
  const local = await openLocal(config, {
    readOnly: context.readOnly,
    onError: (error, where) => {
      if (config.debug) context.err.line({ text: `${where}: ${oneLine(inspect(error))}`, style: STYLE.dim })
    },
  })
  try {
    return await work(local)
  } finally {
    await local.close()
  }
}

export const noLibrary = (folder: string): Failure =>
  new Failure('unavailable', `There is no library in ${folder} yet.`, {
    hint: 'Run `commonplace welcome` to make one, or `commonplace add` something; --library DIR names another folder.',
  })
