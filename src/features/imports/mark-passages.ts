import type { Change } from '../../core/library.ts'
import { indexOfCodePoint } from '../../core/text.ts'
import { anchorAt, anchorQuote, type Anchor } from '../highlights/anchor.ts'
import { sameWords } from '../highlights/fold.ts'
import { foldStored } from '../highlights/folded-cache.ts'
import { insertAnchored, listMarks, type Mark } from '../highlights/highlight-store.ts'
import { indexHighlight } from '../search/index-source.ts'
import type { Text } from '../texts/text-store.ts'

/** A stretch of a text version, in code points of its `plain`. */
export interface Marked {
  start: number
  end: number
  quote: string
}

/**
 * Makes passages that the reading aid picked from a text highlights of its source. Where the source has another text by now,
 * they are looked for in that one, and what is gone from it is left out. Left out is also what lies over a highlight that is
 * there or in the trash: what the reader marked is not marked twice, and what they threw away does not come back. Gives the ids
 * of the new highlights.
 */
export async function markPassages(
  change: Change,
  read: Text,
  current: Text,
  passages: readonly Marked[],
): Promise<number[]> {
  const standing = await listMarks(change.db, current.source_id)
  const ids: number[] = []
  for (const passage of passages) {
    const anchor = read.id === current.id ? anchorIn(read, passage) : anchorAgain(read, current, passage)
    if (!anchor || standing.some((mark) => covers(mark, current, anchor))) continue
    const { id } = await insertAnchored(change, current, anchor, 'reading-aid')
    await indexHighlight(change, id)
    standing.push({ text_id: current.id, state: 'anchored', quote: anchor.quote, ...offsetsOf(anchor) })
    ids.push(id)
  }
  return ids
}

const offsetsOf = ({ start, end }: Anchor) => ({ start_offset: start, end_offset: end })

function anchorIn({ plain }: Text, { start, end }: Marked): Anchor {
  const first = indexOfCodePoint(plain, start)
  const span = { start: first, end: indexOfCodePoint(plain, end - start, first) }
  return anchorAt({ source: plain }, span, 'exact')
}

function anchorAgain(read: Text, current: Text, passage: Marked): Anchor | undefined {
  const { quote, prefix, suffix, start } = anchorIn(read, passage)
  return anchorQuote(foldStored(current), { exact: quote, prefix, suffix, start }, foldStored(read))
}

/** Of a highlight that stands in no text, or in another one, only the words can be compared. */
function covers(mark: Mark, text: Text, anchor: Anchor): boolean {
  const { start_offset, end_offset } = mark
  if (mark.state !== 'anchored' || mark.text_id !== text.id || start_offset === null || end_offset === null)
    return sameWords(mark.quote, anchor.quote)
  return start_offset < anchor.end && end_offset > anchor.start
}
