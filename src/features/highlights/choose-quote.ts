import { Failure } from '../../core/failure.ts'
import { preview } from '../../core/text.ts'
import {
  anchorAt,
  closestWords,
  contextAfter,
  contextBefore,
  findQuote,
  type Anchor,
  type Span,
} from './anchor.ts'
import type { Folded } from './fold.ts'

/** Matches of an ambiguous quote that are shown. */
const SHOWN = 5

/**
 * The anchor of a quote that a reader or an assistant named: the one match, or number `occurrence` (from 0) of them. Throws
 * `quote_not_found`, `quote_ambiguous` and `invalid_input`, each with what it takes to mend the call.
 */
export function chooseQuote(text: Folded, quote: string, occurrence?: number): Anchor {
  const found = findQuote(text, quote)
  if (!found) {
    const closest = closestWords(text, quote)
    throw new Failure('quote_not_found', 'The quote is not in the text of the item.', {
      hint:
        closest === undefined
          ? 'Copy the words exactly as read_item gives them.'
          : 'Copy the words exactly as read_item gives them; `closest` has the nearest ones in the text.',
      details: { matches: 0, ...(closest !== undefined && { closest }) },
    })
  }
  const { spans, matched } = found
  if (occurrence === undefined && spans.length > 1) {
    throw new Failure('quote_ambiguous', `The quote is in the text ${spans.length} times.`, {
      hint: `Pass occurrence, 0 to ${spans.length - 1} (0 is the first), or quote more of the words around it.`,
      details: {
        matches: spans.length,
        contexts: spans
          .slice(0, SHOWN)
          .map((span, index) => ({ occurrence: index, text: inContext(text.source, span) })),
      },
    })
  }
  const span = spans[occurrence ?? 0]
  if (!span) {
    const times = spans.length === 1 ? 'once' : `${spans.length} times`
    throw new Failure(
      'invalid_input',
      `occurrence ${occurrence} is not there: the quote is in the text ${times}.`,
      {
        hint:
          spans.length === 1 ? 'Leave occurrence out.' : `Pass an occurrence from 0 to ${spans.length - 1}.`,
        details: { matches: spans.length },
      },
    )
  }
  return anchorAt(text, span, matched)
}

/** The quote with what is around it, in one line, marked with brackets. */
function inContext(source: string, { start, end }: Span): string {
  const before = contextBefore(source, start, 48)
  const after = contextAfter(source, end, 48)
  const quote = preview(source.slice(start, end), 80)
  return `${start > before.length ? '…' : ''}${before}[${quote}]${after}${end + after.length < source.length ? '…' : ''}`
    .replaceAll(/\s+/g, ' ')
    .trim()
}
