import { foldText, type Folded } from './fold.ts'

/** Bytes of folded texts that one process keeps. */
const MOST_BYTES = 24 * 1024 * 1024
/** A folded text takes two bytes a unit for itself, nine for where it comes from and two for its source. */
const BYTES_A_UNIT = 13

const kept = new Map<number, Folded>()
let bytes = 0

/** `foldText` for a stored text: the ones folded last are kept, as several quotes of one text often come in a row. */
export function foldStored(text: { id: number; plain: string }): Folded {
  const known = kept.get(text.id)
  if (known) forget(text.id, known)
  // Two libraries of one process may use the same id: the text itself decides.
  const folded = known?.source === text.plain ? known : foldText(text.plain)
  const size = folded.source.length * BYTES_A_UNIT
  if (size > MOST_BYTES) return folded
  kept.set(text.id, folded)
  bytes += size
  for (const [id, oldest] of kept) {
    if (bytes <= MOST_BYTES) break
    forget(id, oldest)
  }
  return folded
}

function forget(id: number, folded: Folded): void {
  kept.delete(id)
  bytes -= folded.source.length * BYTES_A_UNIT
}
