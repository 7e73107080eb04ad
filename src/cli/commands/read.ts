import { digestText, type DigestedText } from '../../features/reading-aid/digest-text.ts'
import { currentText } from '../../features/texts/text-store.ts'
import { findItem, authorsOf } from '../../features/sources/source-store.ts'
import { listAnnotations } from '../../features/texts/annotation-store.ts'
import { defineCommand, type Context } from '../command.ts'
import { EXIT } from '../exit-code.ts'
import { itemJson } from '../item.ts'
import { wrap, type Span } from '../measure.ts'
import { withLibrary } from '../open-library.ts'
import { page } from '../pager.ts'
import { oneLine, printable, STYLE } from '../print.ts'
import { renderMarkdown } from '../render-markdown.ts'
import { count } from '../when.ts'

/** Words a minute of a calm reader of prose (Brysbaert 2019 finds 238 for English). */
const WORDS_A_MINUTE = 238

export const read = defineCommand({
  name: 'read',
  usage: ['ID [--digest | --markdown | --notes] [--no-pager]'],
  about:
    'Shows the text of an item, set for the terminal, or with --digest what it says in a few sentences: those of the language model where one is set (docs/reading-aid.md), else sentences of the text. At a terminal it goes through $PAGER. The words of highlights and the notes on them stand at the end.',
  flags: [
    { name: 'digest', help: 'What it says, in three to seven sentences' },
    { name: 'markdown', help: 'The Markdown as it is stored' },
    { name: 'notes', help: 'Only your highlights and notes' },
    { name: 'no-pager', help: 'Print it without a pager' },
  ],
  examples: ['commonplace read 1099511627777', 'commonplace read 1099511627777 --markdown > page.md'],
  words: { least: 1, most: 1 },
  run: (context) =>
    withLibrary(context, async ({ library }) => {
      const { args, out, json, signal } = context
      const item = await findItem(library.db, args.positionals[0]!)
      const annotations = await listAnnotations(library.db, item.id, { highlights: true, notes: true })
      const text = args.on('notes') ? undefined : await currentText(library.db, item)
      if (args.on('digest')) {
        const { plain } = await currentText(library.db, item)
        const { title, language } = item
        const digest = await digestText(library.outside, { title, plain, language }, { signal })
        if (json) out.json({ ...itemJson(item), digest })
        else printDigest(context, item.title, digest)
        return EXIT.ok
      }
      if (json) {
        out.json({
          ...itemJson(item),
          ...(text && { markdown: text.markdown, textVersion: String(text.id) }),
          annotations,
        })
        return EXIT.ok
      }
      if (args.on('markdown') && text) {
        // Into a file goes what is stored; a terminal is kept from control codes.
        const markdown = out.tty ? printable(text.markdown) : text.markdown
        out.write(markdown.endsWith('\n') ? markdown : `${markdown}\n`)
        return EXIT.ok
      }
      const lines: Span[][] = wrap(
        [{ text: oneLine(item.title), style: `${STYLE.strong};${STYLE.accent}` }],
        out.measure,
      )
      const facts = [
        authorsOf(item).map(oneLine).join(', '),
        item.site !== null && !authorsOf(item).includes(item.site) && oneLine(item.site),
        item.published,
        item.words !== null &&
          item.words > 0 &&
          `${count(item.words, 'word')}, ${count(Math.max(1, Math.round(item.words / WORDS_A_MINUTE)), 'minute')}`,
      ].filter((fact) => typeof fact === 'string' && fact !== '')
      lines.push(...wrap([{ text: facts.join(' · '), style: STYLE.dim }], out.measure))
      if (item.url) lines.push([{ text: oneLine(item.url), style: STYLE.dim }])
      lines.push([])
      if (text) lines.push(...renderMarkdown(withoutTitle(text.markdown, item.title), out.measure))
      if (annotations.length > 0) {
        if (text) lines.push([])
        lines.push([{ text: 'Your highlights and notes', style: STYLE.strong }])
        for (const annotation of annotations) {
          lines.push([])
          const { quote, comments } = annotation
          if (quote !== undefined) lines.push(...quoted(quote, out.measure))
          for (const comment of comments)
            lines.push(
              ...wrap([{ text: oneLine(comment) }], out.measure - 4).map((line) => [
                { text: '    ' },
                ...line,
              ]),
            )
        }
      } else if (!text) lines.push([{ text: 'No highlights and no notes yet.' }])
      const shown = `${lines.map((line) => out.paint(line).trimEnd()).join('\n')}\n`
      if (args.on('no-pager')) out.write(shown)
      else await page(context, shown)
      return EXIT.ok
    }),
})

const quoted = (quote: string, columns: number): Span[][] =>
  wrap([{ text: oneLine(quote), style: STYLE.match }], columns - 2).map((line) => [
    { text: '┃ ', style: STYLE.warning },
    ...line,
  ])

/** Most pages begin with their title, which stands above the text already. */
function withoutTitle(markdown: string, title: string): string {
  const [first = ''] = markdown.split('\n', 1)
  const plain = (text: string) =>
    text
      .replaceAll(/[^\p{L}\p{N}]+/gu, ' ')
      .trim()
      .toLowerCase()
  return /^#\s/.test(first) && plain(first) === plain(title) ? markdown.slice(first.length) : markdown
}

function printDigest({ out }: Pick<Context, 'out'>, title: string, digest: DigestedText): void {
  out.paragraph([{ text: oneLine(title), style: `${STYLE.strong};${STYLE.accent}` }])
  for (const sentence of digest.sentences) {
    out.line()
    out.paragraph(oneLine(sentence))
  }
  out.line()
  const whose = digest.by === 'built-in' ? 'In sentences of the text.' : `In the words of ${digest.by}.`
  out.paragraph([{ text: digest.remark ?? whose, style: STYLE.dim }])
}
