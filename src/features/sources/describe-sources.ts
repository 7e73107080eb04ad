import { z } from 'zod'
import { cutText, jsonBytes, takeFitting } from '../../core/room.ts'
import type { Db, SourceKind } from '../../db/schema.ts'
import { countMarks, type ListedSource, type NamedSource } from './source-list-store.ts'
import { authorsOf, tagsOf } from './source-store.ts'

/** The four types that a source may be asked for by. */
export const SOURCE_TYPES = ['Book', 'Article', 'Video', 'Podcast'] as const
export type SourceType = (typeof SOURCE_TYPES)[number]

const TYPE_OF: Readonly<Record<SourceKind, SourceType>> = {
  book: 'Book',
  article: 'Article',
  pdf: 'Article',
  video: 'Video',
  podcast: 'Podcast',
}

/** The kinds of source that go by a type. */
export const kindsOf = (type: SourceType): SourceKind[] =>
  Object.entries(TYPE_OF).flatMap(([kind, of]) => (of === type ? [kind as SourceKind] : []))

/** A source as whatever belongs to it names it. */
export const sourceFacts = z.object({
  id: z.int(),
  title: z.string(),
  type: z.enum(SOURCE_TYPES),
  /** All authors, separated by commas. */
  author: z.string().nullable(),
  cover_url: z.string().nullable(),
  url: z.string().nullable(),
})
export type SourceFacts = z.output<typeof sourceFacts>

/** A source as lists show it. Instants are ISO 8601 in UTC. */
export const sourceEntry = sourceFacts.extend({
  site: z.string().nullable(),
  language: z.string().nullable(),
  /** `YYYY`, `YYYY-MM` or `YYYY-MM-DD`. */
  published: z.string().nullable(),
  highlights_count: z.int(),
  /** Notes on the source and on its highlights; absent without `notes:read`. */
  note_count: z.int().optional(),
  tags: z.array(z.string()),
  created_at: z.string(),
  updated_at: z.string(),
})
export type SourceEntry = z.output<typeof sourceEntry>

/** Bytes of JSON beyond which a fact is cut: more than any that is real. */
const TITLE = 500
const AUTHORS = 300
const WORD = 200
const TAGS = 1_000
const ADDRESS = 2_100

export const describeSourceFacts = (source: NamedSource): SourceFacts => ({
  id: source.id,
  title: shownTitle(source.title),
  type: TYPE_OF[source.kind],
  author: cutText(authorsOf(source).join(', '), AUTHORS) || null,
  // Covers are files of the library; no address of theirs is good everywhere.
  cover_url: null,
  url: wholeAddress(source.url),
})

/** Sources with what belongs to them, as far as the caller may know of it. */
export async function describeSources(
  db: Db,
  sources: readonly ListedSource[],
  may: { notes: boolean },
): Promise<SourceEntry[]> {
  const ids = sources.map(({ id }) => id)
  const [marks, tags] = await Promise.all([countMarks(db, ids), tagsOf(db, ids)])
  return sources.map((source) => ({
    ...describeSourceFacts(source),
    site: source.site && cutText(source.site, WORD),
    language: source.language && cutText(source.language, WORD),
    published: source.published && cutText(source.published, WORD),
    highlights_count: marks.get(source.id)?.highlights ?? 0,
    ...(may.notes && { note_count: marks.get(source.id)?.notes ?? 0 }),
    tags: shownTags(tags.get(source.id)),
    created_at: source.created_at,
    updated_at: source.updated_at,
  }))
}

/** Tags in their order, as many as there is room for. */
export const shownTags = (names: readonly string[] = []): string[] =>
  takeFitting(
    names.map((name) => cutText(name, TAGS)),
    TAGS,
  )

export const shownTitle = (title: string): string => cutText(title, TITLE)

/** Authors in their order, as many as there is room for. */
export const shownNames = (names: readonly string[]): string[] =>
  takeFitting(
    names.map((name) => cutText(name, AUTHORS)),
    AUTHORS,
  )

/** A cut address leads nowhere. */
export const wholeAddress = (url: string | null): string | null =>
  url !== null && jsonBytes(url) <= ADDRESS ? url : null
