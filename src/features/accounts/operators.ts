import type { Accounts } from './accounts.ts'
import { LOCAL_LIBRARY, type Reader } from './reader-store.ts'

/**
 * Whether a reader runs the server: the first one, whose library is that of this machine's command line, and whoever proved
 * that one of the configured addresses is theirs.
 */
export function isOperator({ operators }: Pick<Accounts, 'operators'>, reader: Reader): boolean {
  if (reader.library === LOCAL_LIBRARY) return true
  return reader.email !== null && reader.emailVerifiedAt !== null && operators.has(reader.email)
}
