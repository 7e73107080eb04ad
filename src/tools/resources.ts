import type { AnyResource } from '../core/define-resource.ts'
import { oneHighlight, recentHighlights } from '../features/highlights/resources/highlights.ts'
import { notes, oneNote } from '../features/notes/resources/notes.ts'
import { oneSource, sources } from '../features/sources/resources/sources.ts'

/** Every resource there is, in the order in which it is listed. */
export const RESOURCES: readonly AnyResource[] = [
  recentHighlights,
  oneHighlight,
  sources,
  oneSource,
  notes,
  oneNote,
]
