import type { Db } from '../../db/schema.ts'
import { anchorQuote, type Anchor } from '../highlights/anchor.ts'
import { foldStored } from '../highlights/folded-cache.ts'
import type { Source } from '../sources/source-store.ts'
import { findText } from '../texts/text-store.ts'
import type { ImportedHighlight, ImportedItem } from './imported.ts'
import type { KnownLibrary } from './known-library.ts'
import { keyOf, placeOf, wordsOf } from './mark-place.ts'
import type { Found } from './planning.ts'

/** Where highlights of a file stand in texts of the library. */
export interface Anchors {
  of(source: Source, highlight: ImportedHighlight): Found | undefined
  has(textId: number): boolean
}

/**
 * Looks for the highlights that are new in the texts that their sources have. Takes its time, so it is done before the
 * transaction; `found` are those of an earlier look, which hold for the same texts.
 */
export async function findAnchors(
  db: Db,
  library: KnownLibrary,
  items: readonly ImportedItem[],
  found?: Anchors,
): Promise<Anchors> {
  const anchors = new Map<ImportedHighlight, Found | undefined>()
  const looked = new Set<number>()
  for (const item of items) {
    const known = library.find(item.source)
    const textId = known?.source.text_id ?? null
    if (!known || textId === null || textId < 0 || known.state !== 'there' || found?.has(textId)) continue
    const unknown = item.highlights.filter(
      (highlight) => !known.highlightOf(keyOf(wordsOf(highlight.quote)), placeOf(highlight)),
    )
    looked.add(textId)
    if (unknown.length === 0) continue
    const text = await findText(db, textId)
    if (!text) continue
    const folded = foldStored(text)
    for (const highlight of unknown) {
      const { quote, prefix, suffix } = highlight
      const anchor: Anchor | undefined = anchorQuote(folded, { exact: quote, prefix, suffix })
      if (anchor) anchors.set(highlight, { anchor, textId, places: text.places })
    }
  }
  return {
    of(source, highlight) {
      const own = anchors.get(highlight) ?? found?.of(source, highlight)
      return own?.textId === source.text_id ? own : undefined
    },
    has: (textId) => looked.has(textId) || (found?.has(textId) ?? false),
  }
}
