import { codePointLength, indexOfCodePoint } from '../../core/text.ts'
import { contextAgreement, type Context } from './context.ts'
import { findFolded, foldText, type Folded } from './fold.ts'
import { graphemeEnd, graphemeStart, isGraphemeBoundary } from '../../core/grapheme-boundary.ts'
import { withoutMarks } from './markdown-marks.ts'
import { nearMatches } from './near-match.ts'

/** How the words of an anchor were found. */
export type Matched = 'exact' | 'folded' | 'approximate'

/** A stretch of a text, as UTF-16 indexes. */
export interface Span {
  start: number
  end: number
}

/**
 * Where a quote stands in one version of a text: a W3C TextQuoteSelector (the text's own words, with up to 32 characters
 * before and after) and a TextPositionSelector, both counted in Unicode code points of the plain text.
 * https://www.w3.org/TR/annotation-model/#text-quote-selector
 */
export interface Anchor {
  quote: string
  prefix: string
  suffix: string
  start: number
  end: number
  matched: Matched
}

/** What is known of a quote that is looked for again. `start` counts code points. */
export interface QuoteSelector {
  exact: string
  prefix?: string | null
  suffix?: string | null
  start?: number | null
}

/** Code points of context kept on either side. */
const CONTEXT = 32
/** Folded characters from which a quote that stands once in a text is taken for itself whatever is around it. */
const DISTINCT = 20
/** Folded characters from which up to 20 % of errors are allowed; below, 10 %. */
const LONG = 30
/** Errors looked for at most, however long the quote: bounds the time a lost quote costs. */
const MOST_ERRORS = 160
/** Places of a repeated quote that are compared by what is around them. */
const MOST_PLACES = 1_000
/** Lead, of 1, that a near match needs over the next best. */
const MARGIN = 0.1

/**
 * Places where the words of `quote` stand in the text, in order: verbatim ones or, where there are none, those that are
 * equal when folded (as given, else without Markdown marks). Undefined where there are none.
 */
export function findQuote(
  text: Folded,
  quote: string,
): { matched: 'exact' | 'folded'; spans: Span[] } | undefined {
  const exact = findExact(text.source, quote)
  if (exact.length > 0) return { matched: 'exact', spans: exact }
  const bare = withoutMarks(quote)
  for (const words of bare === quote ? [quote] : [quote, bare]) {
    const spans = spansOf(text, findFolded(text, foldText(words)))
    if (spans.length > 0) return { matched: 'folded', spans }
  }
  return undefined
}

/** The anchor of a stretch of the text. */
export function anchorAt({ source }: Pick<Folded, 'source'>, span: Span, matched: Matched): Anchor {
  const start = codePointLength(source.slice(0, span.start))
  const quote = source.slice(span.start, span.end)
  return {
    quote,
    prefix: contextBefore(source, span.start, CONTEXT),
    suffix: contextAfter(source, span.end, CONTEXT),
    start,
    end: start + codePointLength(quote),
    matched,
  }
}

/**
 * Finds a quote again, in another version of its text or in a text that it was imported for. `before` is the version it
 * was anchored in, if any: words that stood there already are not the quote in new clothes. Where the quote is gone, or
 * cannot be told from a look-alike, there is no anchor: it is never moved to something that only resembles it.
 *
 * Order: verbatim at `start` → verbatim or folded, told apart by what is around it and then by distance → approximate (none
 * under 20 characters, 10 % of errors under 30, else 20 %), where what is around agrees and no other place comes near.
 */
export function anchorQuote(text: Folded, selector: QuoteSelector, before?: Folded): Anchor | undefined {
  const { exact } = selector
  if (exact.trim() === '') return undefined
  const context: Context = { prefix: selector.prefix ?? '', suffix: selector.suffix ?? '' }
  const near =
    selector.start === null || selector.start === undefined
      ? undefined
      : indexOfCodePoint(text.source, selector.start)

  const there =
    near !== undefined && near < text.source.length ? standsAt(text.source, exact, near) : undefined
  if (there && surroundedBy(text.source, there, context)) return anchorAt(text, there, 'exact')

  const bare = withoutMarks(exact)
  for (const words of bare === exact ? [exact] : [exact, bare]) {
    const quote = foldText(words)
    const places = findFolded(text, quote)
    const place = choosePlace(text, quote, places, context, near, before)
    if (place) {
      const span = spanOf(text, place)
      const verbatim = text.source.slice(span.start, span.end) === exact.trim()
      return anchorAt(text, span, verbatim ? 'exact' : 'folded')
    }
  }
  const anchor = anchorNear(text, foldText(exact), context, before)
  return anchor || bare === exact ? anchor : anchorNear(text, foldText(bare), context, before)
}

/** The words of the text that come nearest to a quote which is not in it: to be offered, never to be anchored. */
export function closestWords(text: Folded, quote: string): string | undefined {
  const folded = foldText(withoutMarks(quote)).text
  if (folded.length < 8) return undefined
  const most = Math.min(Math.ceil(folded.length * 0.3), MOST_ERRORS)
  const [best] = nearMatches(text.text, folded, most, 1)
  if (!best) return undefined
  const { start, end } = spanOf(text, best)
  return text.source.slice(graphemeStart(text.source, start), graphemeEnd(text.source, end)).trim()
}

/** Up to `length` code points before the index, from a character's beginning. */
export function contextBefore(source: string, index: number, length: number): string {
  const window = source.slice(Math.max(0, index - 2 * length), index)
  const surplus = codePointLength(window) - length
  const from = index - window.length + (surplus > 0 ? indexOfCodePoint(window, surplus) : 0)
  return source.slice(Math.min(graphemeEnd(source, from), index), index)
}

/** Up to `length` code points from the index on, to a character's end. */
export function contextAfter(source: string, index: number, length: number): string {
  const end = indexOfCodePoint(source, length, index)
  return source.slice(index, Math.max(graphemeStart(source, end), index))
}

function findExact(source: string, quote: string): Span[] {
  const spans: Span[] = []
  if (quote.trim() === '') return spans
  const lead = quote.length - quote.trimStart().length
  const tail = quote.length - quote.trimEnd().length
  for (let at = source.indexOf(quote); at >= 0;) {
    const span = { start: at + lead, end: at + quote.length - tail }
    const fits = isGraphemeBoundary(source, span.start) && isGraphemeBoundary(source, span.end)
    if (fits) spans.push(span)
    at = source.indexOf(quote, fits ? at + quote.length : at + 1)
  }
  return spans
}

function standsAt(source: string, exact: string, at: number): Span | undefined {
  const end = at + exact.length
  const stands =
    source.startsWith(exact, at) && isGraphemeBoundary(source, at) && isGraphemeBoundary(source, end)
  return stands ? { start: at, end } : undefined
}

const surroundedBy = (source: string, { start, end }: Span, { prefix, suffix }: Context): boolean =>
  source.slice(0, start).endsWith(prefix) && source.startsWith(suffix, end)

/** A range of units of a folded text. */
interface Place {
  from: number
  to: number
}

/** The place that is the quote's own, or undefined where that cannot be told. */
function choosePlace(
  text: Folded,
  quote: Folded,
  places: Place[],
  context: Context,
  near: number | undefined,
  before: Folded | undefined,
): Place | undefined {
  const [only] = places
  if (!only) return undefined
  const known = context.prefix.trim() !== '' || context.suffix.trim() !== ''
  if (!known) return places.length === 1 ? only : nearest(text, places, near)

  const judged = withinReach(text, places, near).map((place) => ({
    place,
    agreement: contextAgreement(text, place.from, place.to, context),
  }))
  const best = Math.max(...judged.map(({ agreement }) => agreement.score))
  const agreeing = judged.filter(({ agreement }) => agreement.agrees && agreement.score > best - 0.05)
  if (agreeing.length === 1) return agreeing[0]?.place
  if (agreeing.length > 1) {
    // The same words in the same surroundings: a refrain. It keeps its turn where none came or went.
    const was = before === undefined ? [] : findFolded(before, quote)
    const turn = was.length === places.length ? was.findIndex((place) => isOwn(before, place, near)) : -1
    if (turn >= 0) return places[turn]
    return nearest(
      text,
      agreeing.map(({ place }) => place),
      near,
    )
  }
  const isDistinct = only.to - only.from >= DISTINCT
  const stoodElsewhere = before !== undefined && findFolded(before, quote).length > 1
  return places.length === 1 && isDistinct && !stoodElsewhere ? only : undefined
}

const isOwn = (before: Folded | undefined, place: Place, near: number | undefined): boolean =>
  before?.starts[place.from] === near

function nearest(text: Folded, places: Place[], near: number | undefined): Place | undefined {
  if (near === undefined) return undefined
  let [best] = places
  let least = Infinity
  for (const place of places) {
    const distance = Math.abs((text.starts[place.from] ?? 0) - near)
    if (distance < least) {
      least = distance
      best = place
    }
  }
  return best
}

function withinReach(text: Folded, places: Place[], near: number | undefined): Place[] {
  if (places.length <= MOST_PLACES) return places
  const distance = ({ from }: Place) => Math.abs((text.starts[from] ?? 0) - (near ?? 0))
  return places.toSorted((a, b) => distance(a) - distance(b)).slice(0, MOST_PLACES)
}

function anchorNear(
  text: Folded,
  quote: Folded,
  context: Context,
  before: Folded | undefined,
): Anchor | undefined {
  const { length } = quote.text
  if (length < DISTINCT) return undefined
  const most = Math.min(Math.floor(length * (length < LONG ? 0.1 : 0.2)), MOST_ERRORS)
  const judged = nearMatches(text.text, quote.text, most, 3)
    .map((match) => {
      const { score, agrees } = contextAgreement(text, match.from, match.to, context)
      return { match, agrees, score: (1 - match.errors / length + score) / 2 }
    })
    .toSorted((a, b) => b.score - a.score)
  const [best, next] = judged
  if (!best?.agrees || (next && best.score - next.score < MARGIN)) return undefined
  const { start, end } = spanOf(text, best.match)
  const span = { start: graphemeStart(text.source, start), end: graphemeEnd(text.source, end) }
  const words = text.source.slice(span.start, span.end)
  if (words.trim() === '' || (before && findFolded(before, foldText(words)).length > 0)) return undefined
  return anchorAt(text, span, 'approximate')
}

const spanOf = (text: Folded, { from, to }: Place): Span => ({
  start: text.starts[from] ?? 0,
  end: text.ends[to - 1] ?? 0,
})

const spansOf = (text: Folded, places: Place[]): Span[] => places.map((place) => spanOf(text, place))
