import type { AnyTool, Family } from '../core/define-tool.ts'
import { saveUrl } from '../features/capture/tools/save-url.ts'
import { exportHighlights } from '../features/exports/tools/export-highlights.ts'
import { getSourceMarkdown } from '../features/exports/tools/get-source-markdown.ts'
import { addHighlights } from '../features/highlights/tools/add-highlights.ts'
import { addHighlight } from '../features/highlights/tools/add-highlight.ts'
import { deleteHighlight } from '../features/highlights/tools/delete-highlight.ts'
import { getHighlight } from '../features/highlights/tools/get-highlight.ts'
import { addSource } from '../features/imports/tools/add-source.ts'
import { getImport } from '../features/imports/tools/get-import.ts'
import { updateHighlight } from '../features/highlights/tools/update-highlight.ts'
import { addComment } from '../features/notes/tools/add-comment.ts'
import { getAcademyStatus } from '../features/practices/tools/get-academy-status.ts'
import { getDailyReview } from '../features/reviews/tools/get-daily-review.ts'
import { reviewHighlight } from '../features/reviews/tools/review-highlight.ts'
import { findRelated } from '../features/search/tools/find-related.ts'
import { searchHighlights } from '../features/search/tools/search-highlights.ts'
import { searchLibrary } from '../features/search/tools/search-library.ts'
import { getSource } from '../features/sources/tools/get-source.ts'
import { listItems } from '../features/sources/tools/list-items.ts'
import { listSources } from '../features/sources/tools/list-sources.ts'
import { queueSave } from '../features/sync/tools/queue-save.ts'
import { sync } from '../features/sync/tools/sync.ts'
import { listTags } from '../features/tags/tools/list-tags.ts'
import { tag } from '../features/tags/tools/tag.ts'
import { readItem } from '../features/texts/tools/read-item.ts'

/** Every tool there is, in the order in which it is listed. */
export const TOOLS: readonly AnyTool[] = [
  searchHighlights,
  listSources,
  getSource,
  getHighlight,
  exportHighlights,
  getSourceMarkdown,
  getImport,
  getAcademyStatus,
  addHighlights,
  addSource,
  searchLibrary,
  listItems,
  readItem,
  saveUrl,
  queueSave,
  addHighlight,
  addComment,
  sync,
  updateHighlight,
  deleteHighlight,
  tag,
  listTags,
  getDailyReview,
  reviewHighlight,
  findRelated,
]

/** The tools of a place, narrowed to the families that a connection chose. */
export function toolsFor(place: 'local' | 'server', families?: ReadonlySet<Family>): AnyTool[] {
  return TOOLS.filter(
    (tool) => (tool.places?.includes(place) ?? true) && (families?.has(tool.family) ?? true),
  )
}
