import type { Trouble } from '../trouble.ts'
import { Result, resultCodeOf } from './result-code.ts'

const BY_RESULT: Readonly<Record<number, Trouble>> = {
  [Result.busy]: 'locked',
  [Result.locked]: 'locked',
  [Result.readOnly]: 'read_only',
  [Result.ioError]: 'disk_full',
  [Result.full]: 'disk_full',
  [Result.corrupt]: 'damaged',
  [Result.notADatabase]: 'damaged',
  [Result.cannotOpen]: 'not_opened',
}

/** What an error of SQLite means; undefined for any other. */
export function sqliteTrouble(error: unknown): Trouble | undefined {
  const code = resultCodeOf(error)
  return code === undefined ? undefined : BY_RESULT[code]
}
