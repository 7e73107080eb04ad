import type { Change, Library } from '../../core/library.ts'
import { indexHighlight, indexSource } from '../search/index-source.ts'
import { ensureSource, findNamedWork, type NamedWork } from '../sources/ensure-source.ts'
import { sourceAsGiven, type Source } from '../sources/source-store.ts'
import { readPlaces } from '../texts/places.ts'
import { currentText, type Text } from '../texts/text-store.ts'
import { anchorAt, findQuote, type Anchor, type Span } from './anchor.ts'
import { foldText, sameWords } from './fold.ts'
import { foldStored } from './folded-cache.ts'
import {
  findStanding,
  insertAnchored,
  insertUnanchored,
  listLoose,
  type Highlight,
} from './highlight-store.ts'
import { placeInSource } from './place-in-source.ts'
import { writtenPlace } from './written-place.ts'

export interface NewHighlight {
  content: string
  /** As it is written: `page 12`, `location 145`, or words of its own. */
  location?: string | undefined
  seconds?: number | undefined
}

export interface HighlightsRequest {
  /** A source that the library has, or one that is found or made. */
  source: number | NamedWork
  highlights: readonly NewHighlight[]
}

export interface AddedHighlights {
  source: Source
  sourceCreated: boolean
  /** In the order of the request. `created` is false where the same words stood there before. */
  highlights: { highlight: Highlight; created: boolean }[]
}

/**
 * Adds highlights to one source, all or none. Words that the source's text has once are anchored there; others are kept as they
 * are, without a place in it. The same words at the same place are the highlight that stands. `show` puts the result into the
 * tool's output, inside of the change. Throws `source_not_found`.
 */
export async function addHighlights<T>(
  library: Library,
  { source: wanted, highlights }: HighlightsRequest,
  show: (added: AddedHighlights) => T,
): Promise<T> {
  // Found before the transaction begins, so that a long text does not hold the database's write lock.
  const known =
    typeof wanted === 'number'
      ? await sourceAsGiven(library.db, wanted, HINT)
      : await findNamedWork(library.db, wanted)
  const before = known && known.text_id !== null ? await currentText(library.db, known) : undefined
  const places = before && highlights.map((highlight) => anchorOf(before, highlight))
  return library.answer(async (change) => {
    const { source, created: sourceCreated } =
      typeof wanted === 'number'
        ? { source: await sourceAsGiven(change.db, wanted, HINT), created: false }
        : await ensureSource(change, wanted)
    const text = source.text_id === null ? undefined : await textOf(change, source, before)
    const anchors = text === before ? places : text && highlights.map((one) => anchorOf(text, one))
    const loose = await listLoose(change.db, source.id)
    const added: AddedHighlights['highlights'] = []
    for (const [i, highlight] of highlights.entries()) {
      const anchor = anchors?.[i]
      const one =
        text && anchor
          ? await addAnchored(change, text, anchor, highlight)
          : await addLoose(change, source.id, loose, highlight)
      if (one.created && !sourceCreated) await indexHighlight(change, one.highlight.id)
      added.push(one)
    }
    if (sourceCreated) await indexSource(change, source.id)
    return show({ source, sourceCreated, highlights: added })
  })
}

const HINT = 'Take an id from list_sources, or give source with type and title instead.'

const textOf = async (change: Change, source: Source, before: Text | undefined): Promise<Text> =>
  before && before.id === source.text_id ? before : currentText(change.db, source)

/** Where the words stand in the text; undefined where they do not, or more than once with nothing to tell them apart. */
function anchorOf(text: Text, { content, seconds }: NewHighlight): Anchor | undefined {
  const folded = foldStored(text)
  const found = findQuote(folded, content)
  if (!found) return undefined
  const { spans, matched } = found
  const [only] = spans
  if (only && spans.length === 1) return anchorAt(folded, only, matched)
  const told = seconds === undefined ? undefined : spanAtSecond(text, spans, seconds)
  return told && anchorAt(folded, told, matched)
}

/** Of several the one that is said at that second. */
function spanAtSecond(text: Text, spans: readonly Span[], seconds: number): Span | undefined {
  const places = readPlaces(text.places).filter((place) => place.seconds !== undefined)
  if (places.length === 0) return undefined
  const folded = foldStored(text)
  const distanceOf = (span: Span): number => {
    const { start } = anchorAt(folded, span, 'exact')
    const said = places.findLast((place) => place.start <= start)
    return Math.abs((said?.seconds ?? 0) - seconds)
  }
  return spans.toSorted((a, b) => distanceOf(a) - distanceOf(b))[0]
}

async function addAnchored(
  change: Change,
  text: Text,
  anchor: Anchor,
  { location, seconds }: NewHighlight,
): Promise<{ highlight: Highlight; created: boolean }> {
  const standing = await findStanding(change.db, text, anchor)
  if (standing) return { highlight: standing, created: false }
  const locator = writtenPlace(location, seconds) ?? undefined
  return { highlight: await insertAnchored(change, text, anchor, 'reader', locator), created: true }
}

/** `loose` are those that stand already; what is added joins them. */
async function addLoose(
  change: Change,
  sourceId: number,
  loose: Highlight[],
  { content, location, seconds }: NewHighlight,
): Promise<{ highlight: Highlight; created: boolean }> {
  const locator = writtenPlace(location, seconds)
  const words = foldText(content).text
  const standing = loose.find(
    ({ quote, locator: at }) =>
      isSamePlace(at, locator) && foldText(quote).text === words && sameWords(quote, content),
  )
  if (standing) return { highlight: standing, created: false }
  const highlight = await insertUnanchored(change, { sourceId, quote: content.trim(), locator })
  loose.push(highlight)
  return { highlight, created: true }
}

function isSamePlace(a: string | null, b: string | null): boolean {
  const one = placeInSource(a)
  const other = placeInSource(b)
  return one.location === other.location && one.seconds === other.seconds
}
