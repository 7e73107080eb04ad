import { z } from 'zod'
import { indexOfCodePoint } from '../../core/text.ts'
import { searchLibrary } from '../../features/search/tools/search-library.ts'
import { defineCommand, type Context } from '../command.ts'
import { EXIT } from '../exit-code.ts'
import type { Span } from '../measure.ts'
import { withLibrary } from '../open-library.ts'
import { oneLine, printable, STYLE } from '../print.ts'
import { callAsReader } from '../tool-command.ts'

export const search = defineCommand({
  name: 'search',
  usage: ['QUERY… [--limit N] [--mode MODE]'],
  about:
    'Searches titles, texts, highlights and notes by meaning and by words. Exact wording goes in double quotes (inside single ones for the shell), -word leaves out, wor* is a beginning; type:pdf, tag:name, author:name, in:title, before:2024-05, after:2023 and is:unread narrow it.',
  flags: [
    { name: 'limit', value: 'N', help: 'How many to show (10 unless said, 50 at most)' },
    {
      name: 'mode',
      value: 'hybrid|words|meaning',
      help: 'hybrid unless said; words for exact terms, meaning for paraphrases',
    },
    { name: 'cursor', value: 'CURSOR', help: 'nextCursor of the page before' },
  ],
  examples: [
    'commonplace search why do we forget what we read',
    `commonplace search '"testing effect" after:2020 -sleep'`,
  ],
  words: { least: 1 },
  isPlain: (token) => /^-[^-]/.test(token) && token !== '-h' && token !== '-V',
  run: (context) =>
    withLibrary(context, async ({ library }) => {
      const { args, out, err, json } = context
      const input: Record<string, unknown> = { query: args.positionals.join(' ') }
      for (const name of ['limit', 'mode', 'cursor']) if (args.given(name)) input[name] = args.one(name)
      const { output, summary } = await callAsReader(context, library, searchLibrary, input)
      if (json) {
        out.json(output)
        return EXIT.ok
      }
      const hits = readHits(output)
      if (hits.results.length === 0) out.line('Nothing found.')
      printHits(context, hits)
      if (out.tty && hits.results.length > 0) {
        out.line()
        out.line({ text: oneLine(summary), style: STYLE.dim })
      } else if (hits.meta.note !== undefined)
        err.line({ text: oneLine(hits.meta.note), style: STYLE.warning })
      return EXIT.ok
    }),
})

const hitsShape = z.object({
  results: z.array(
    z.object({
      id: z.string(),
      title: z.string(),
      kind: z.string(),
      authors: z.array(z.string()),
      url: z.string().nullable(),
      published: z.string().nullable(),
      snippet: z.string(),
      marks: z.array(z.tuple([z.number(), z.number()])),
    }),
  ),
  meta: z.object({ note: z.string().optional() }),
})

export type Hits = z.output<typeof hitsShape>

export const readHits = (output: unknown): Hits => hitsShape.parse(output)

/** Results with their titles and the words that matched, at most `most` of them. */
export function printHits({ out }: Pick<Context, 'out'>, { results }: Hits, { most = Infinity } = {}): void {
  for (const [at, hit] of results.slice(0, most).entries()) {
    if (at > 0) out.line()
    const facts = [hit.kind, hit.authors[0], hit.published, hit.id].filter(
      (fact) => fact !== undefined && fact !== null,
    )
    out.paragraph([
      { text: oneLine(hit.title), style: `${STYLE.strong};${STYLE.accent}` },
      { text: `  ${facts.map(oneLine).join(' · ')}`, style: STYLE.dim },
    ])
    if (hit.snippet) out.paragraph(markedSpans(hit.snippet, hit.marks), '  ')
  }
}

/** A snippet with its matched words in the style of matches; marks count code points. */
function markedSpans(snippet: string, marks: Hits['results'][number]['marks']): Span[] {
  const spans: Span[] = []
  let from = 0
  for (const [start, end] of marks.toSorted(([a], [b]) => a - b)) {
    const first = indexOfCodePoint(snippet, start)
    const last = indexOfCodePoint(snippet, end)
    if (first < from || last <= first) continue
    spans.push(
      { text: safe(snippet.slice(from, first)) },
      { text: safe(snippet.slice(first, last)), style: STYLE.match },
    )
    from = last
  }
  return [...spans, { text: safe(snippet.slice(from)) }]
}

const safe = (text: string): string => printable(text.replaceAll(/\s+/g, ' '))
