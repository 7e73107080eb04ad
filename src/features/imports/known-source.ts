import type { Source } from '../sources/source-store.ts'
import { isSamePlace, keyOf, wordsOf, type MarkPlace } from './mark-place.ts'
import { PlaceIndex } from './place-index.ts'

/** What has become of a row that a file once gave. */
export type RowState = 'there' | 'trashed' | 'gone'

/** A highlight or note of the library, or what is remembered of one that is gone. */
export interface KnownRow {
  id: number
  state: RowState
  /** The words as they stand; blank where the row is gone. */
  text: string
  /** Digests of all words that files had for it. */
  given: Set<string>
  places: MarkPlace[]
}

export interface KnownHighlight extends KnownRow {
  created: string
  written: string | null
  locator: string | null
  origin: string
}

export interface KnownNote extends KnownRow {
  highlightId: number | null
  kind: 'comment' | 'book'
  created: string
  written: string | null
}

export interface KnownRead {
  id: number
  state: RowState
  /** Whether a file gave it, and nobody has changed it since. */
  isUntouched: boolean
  status: string
  created: string
}

/** A source with everything that an import has to compare. */
export class KnownSource {
  readonly source: Source
  readonly state: RowState
  readonly highlights = new Map<number, KnownHighlight>()
  readonly notes = new Map<number, KnownNote>()
  readonly reads: KnownRead[] = []
  readonly readsGiven = new Set<string>()
  /** Digests of texts, current or not. */
  readonly texts = new Set<string>()
  /** `target tag` of what is there, and digests of what files have given. */
  readonly tags = new Set<string>()
  readonly tagsGiven = new Set<string>()
  readonly #byWords = new Map<string, Set<KnownHighlight>>()
  readonly #byBody = new Map<string, Set<KnownNote>>()
  readonly #byPlace = new PlaceIndex<KnownHighlight>()
  /** Filed by what files gave for them, and not yet by what they say. */
  #unfiled: KnownHighlight[] = []

  constructor(source: Source, state: RowState) {
    this.source = source
    this.state = state
  }

  addHighlight(highlight: KnownHighlight): void {
    this.highlights.set(highlight.id, highlight)
    for (const key of highlight.given) this.#file(this.#byWords, key, highlight)
    for (const place of highlight.places) this.#byPlace.add(highlight, place)
    if (highlight.text !== '') this.#unfiled.push(highlight)
  }

  addNote(note: KnownNote): void {
    this.notes.set(note.id, note)
    for (const key of note.given) this.#file(this.#byBody, key, note)
    if (note.text !== '') this.#file(this.#byBody, keyOf(wordsOf(note.text)), note)
  }

  /** Notes that a file gave these words for this row. */
  give(row: KnownHighlight | KnownNote, key: string, place: MarkPlace | null): void {
    row.given.add(key)
    if ('highlightId' in row) {
      if (place) row.places.push(place)
      this.#file(this.#byBody, key, row)
    } else {
      if (place) this.addPlaces(row, [place])
      this.#file(this.#byWords, key, row)
    }
  }

  /** Notes that a highlight stands at these places, too. */
  addPlaces(row: KnownHighlight, places: readonly MarkPlace[]): void {
    for (const place of places) {
      row.places.push(place)
      this.#byPlace.add(row, place)
    }
  }

  /** Highlights at a place: those whose page or location, or whatever narrower measure both have, touches it. */
  *highlightsAt(place: MarkPlace): Generator<KnownHighlight> {
    for (const row of this.#byPlace.near(place) ?? this.highlights.values())
      if (row.places.some((other) => isSamePlace(other, place))) yield row
  }

  /** The highlight of these words at this place; without a place, of these words. What is there goes before what was deleted. */
  highlightOf(key: string, place: MarkPlace | null): KnownHighlight | undefined {
    const given = bestOf(this.#byWords.get(key), place)
    if (given || this.#unfiled.length === 0) return given
    // Folding takes time: what stands in the library is folded only where a file has something new.
    for (const row of this.#unfiled) this.#file(this.#byWords, keyOf(wordsOf(row.text)), row)
    this.#unfiled = []
    return bestOf(this.#byWords.get(key), place)
  }

  /** The note of these words on this highlight, or on the source as a whole. */
  noteOf(key: string, highlightId: number | null): KnownNote | undefined {
    const same = [...(this.#byBody.get(key) ?? [])].filter((note) => note.highlightId === highlightId)
    return same.find(({ state }) => state === 'there') ?? same[0]
  }

  #file<T>(index: Map<string, Set<T>>, key: string, row: T): void {
    const filed = index.get(key)
    if (filed) filed.add(row)
    else index.set(key, new Set([row]))
  }
}

function bestOf<T extends KnownRow>(
  rows: ReadonlySet<T> | undefined,
  place: MarkPlace | null,
): T | undefined {
  let best: T | undefined
  let most = 0
  for (const row of rows ?? []) {
    const fit = fitOf(row, place)
    if (fit === 0) continue
    const rank = 2 * fit + (row.state === 'there' ? 1 : 0)
    if (rank > most) {
      most = rank
      best = row
    }
  }
  return best
}

/** 2: the same place; 1: nothing speaks against it; 0: another place. */
function fitOf({ places }: KnownRow, place: MarkPlace | null): 0 | 1 | 2 {
  let isOther = false
  for (const known of places) {
    const same = isSamePlace(known, place)
    if (same) return 2
    if (same === false) isOther = true
  }
  return isOther ? 0 : 1
}
