import { z } from 'zod'
import type { Library } from '../../core/library.ts'
import { cutText } from '../../core/room.ts'
import type { Db } from '../../db/schema.ts'
import { findSource } from '../sources/source-store.ts'
import { countsOf, findImport, findResumer, reasonOf, remarksOf, type Import } from './import-store.ts'

const REMARKS = 20
const LONGEST = 500

/** An import as tools show it. Instants are ISO 8601 in UTC. */
export const importEntry = z.object({
  import_id: z.int(),
  kind: z.enum(['link', 'book', 'file']),
  status: z.enum(['pending', 'processing', 'completed', 'failed']),
  /** What a link or a book became, by the id it has now; null for a file, which has many. */
  source_id: z.int().nullable(),
  title: z.string().nullable(),
  url: z.string().nullable(),
  /** Name and format of an imported file. */
  name: z.string().nullable(),
  format: z.string().nullable(),
  /** New in the library: sources, highlights, notes; rows of a file, stretches of a text and how many are done; credits spent. */
  counts: z.record(z.string(), z.int()),
  /** Whether it ended before the end; `reason` says why. */
  truncated: z.boolean(),
  /** Why it failed or ended before the end. */
  reason: z.object({ code: z.string(), message: z.string(), hint: z.string() }).nullable(),
  remarks: z.array(z.string()),
  /** The import whose rest this one takes up, and the one that took up its own. */
  resumes: z.int().nullable(),
  resumed_by: z.int().nullable(),
  created_at: z.string(),
  finished_at: z.string().nullable(),
  undone_at: z.string().nullable(),
  /** AI credits that the account has left this month; absent where nothing is counted. */
  credits_left: z.int().optional(),
})
export type ImportEntry = z.output<typeof importEntry>

export async function describeImport({ db }: Pick<Library, 'db'>, own: Import): Promise<ImportEntry> {
  const source = own.source_id === null ? undefined : await findSource(db, own.source_id)
  const reason = reasonOf(own)
  const resumer = own.source_id === null ? undefined : await findResumer(db, own)
  return {
    import_id: own.id,
    kind: own.kind,
    status: own.status,
    source_id: source?.id ?? null,
    title: source ? cutText(source.title, LONGEST) : null,
    url: own.url,
    name: own.name === null ? null : cutText(own.name, LONGEST),
    format: own.format,
    counts: countsOf(own),
    truncated: own.status === 'completed' && reason !== undefined,
    reason: reason ?? null,
    remarks: remarksOf(own)
      .slice(0, REMARKS)
      .map((remark) => cutText(remark, LONGEST)),
    resumes: own.resumes,
    resumed_by: resumer?.id ?? null,
    created_at: own.created_at,
    finished_at: own.finished_at,
    undone_at: own.undone_at,
  }
}

/** What an import is about, for people: the title of its source, or the name of its file. */
export async function subjectOfImport(db: Db, id: number): Promise<string | undefined> {
  const { source_id, url, name } = await findImport(db, id)
  const source = source_id === null ? undefined : await findSource(db, source_id)
  return source?.title ?? url ?? name ?? undefined
}

/** An import in a sentence or two, for a person. */
export function tellImport(own: ImportEntry): string {
  const { status, title, name, reason, remarks, undone_at } = own
  const what = title === null ? (name ?? 'The import') : `“${title}”`
  if (undone_at !== null) return `${what} was imported, and what it brought was taken out again.`
  if (status === 'failed') return `${what} could not be imported: ${reason?.message ?? 'it is not known why'}`
  if (status === 'pending') return `${what} waits to be ${own.kind === 'file' ? 'read' : 'fetched'}.`
  if (status === 'processing') return `${what}: ${farOf(own)}, ${broughtBy(own)} so far.`
  return [`${what} is in the library; ${broughtBy(own)}.`, reason?.message, ...remarks]
    .filter(Boolean)
    .join(' ')
}

function farOf({ kind, counts }: ImportEntry): string {
  const { rows = 0, rows_done: done = 0, stretches = 0, stretches_done: read = 0 } = counts
  return kind === 'file' ? `${done} of ${rows} rows are done` : `${read} of ${stretches} parts are read`
}

/** `3 sources, 1 highlight new`. */
function broughtBy({ counts }: ImportEntry): string {
  const parts = (['sources', 'highlights', 'notes'] as const).flatMap((name) => {
    const many = counts[name] ?? 0
    return many === 0 ? [] : [`${many} ${many === 1 ? name.slice(0, -1) : name}`]
  })
  return parts.length === 0 ? 'nothing new' : `${parts.join(', ')} new`
}

/** Credits that a library's account has left, as part of an output; nothing where they are not counted. */
export async function creditsLeft({ outside }: Pick<Library, 'outside'>): Promise<{ credits_left?: number }> {
  const left = await outside.account?.credits?.left()
  return left === undefined ? {} : { credits_left: left }
}
