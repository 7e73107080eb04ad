import { z } from 'zod'
import type { Library } from '../../core/library.ts'
import { writeSetting } from '../../core/settings.ts'
import { takeBackAnswer } from '../../features/reviews/take-back-answer.ts'
import { RATINGS } from '../../features/reviews/schedule.ts'
import { getDailyReview } from '../../features/reviews/tools/get-daily-review.ts'
import { reviewHighlight } from '../../features/reviews/tools/review-highlight.ts'
import { defineCommand, type Context } from '../command.ts'
import { EXIT } from '../exit-code.ts'
import { usage } from '../flags.ts'
import { withLibrary } from '../open-library.ts'
import { oneLine, printable, STYLE } from '../print.ts'
import { readKeys } from '../read-keys.ts'
import { callAsReader } from '../tool-command.ts'
import { count } from '../when.ts'

const MOST = 50

const reviewShape = z.object({
  highlights: z.array(
    z.object({
      id: z.number(),
      content: z.string(),
      location: z.string().nullable(),
      source: z.object({ title: z.string() }),
    }),
  ),
  left_today: z.number(),
  answered_today: z.number(),
  total_due: z.number(),
})
type Review = z.output<typeof reviewShape>
type Shown = Review['highlights'][number]

export const review = defineCommand({
  name: 'review',
  usage: ['[--limit N] [--each-day N]'],
  about:
    'Goes over highlights with you, one at a time: those that you are about to forget, then ones that you have not gone over yet. Say how well you knew each with the keys 1 (again), 2 (hard), 3 (good) and 4 (easy); s leaves it for later, u takes the last answer back, q ends. Where no terminal is, it lists the highlights of the day.',
  flags: [
    { name: 'limit', value: 'N', help: 'How many to go over today in all, 1 to 50' },
    { name: 'each-day', value: 'N', help: 'Keep this number for all days (10 unless set), 1 to 50' },
  ],
  examples: ['commonplace review', 'commonplace review --each-day 5', 'commonplace review --json'],
  words: { most: 0 },
  async run(context) {
    const { args, out, json, readOnly } = context
    const eachDay = args.given('each-day') ? numberOf(context, 'each-day') : undefined
    const limit = args.given('limit') ? numberOf(context, 'limit') : undefined
    const asks = process.stdin.isTTY && out.tty && !json && !readOnly
    return await withLibrary(
      context,
      async ({ library }) => {
        if (eachDay !== undefined)
          await library
            .on({ connection: 'cli', tool: 'review' })
            .change((change) => writeSetting(change, 'reviewsPerDay', String(eachDay)))
        const input = limit === undefined ? {} : { limit }
        const { output } = await callAsReader(context, library, getDailyReview, input)
        if (json) out.json(output)
        else if (asks) await goOver(context, library, reviewShape.parse(output))
        else printList(context, reviewShape.parse(output))
        return EXIT.ok
      },
      { changes: eachDay !== undefined },
    )
  },
})

function numberOf({ args }: Context, flag: string): number {
  const number = args.number(flag, 0)
  if (number < 1 || number > MOST) throw usage(`--${flag} takes a number from 1 to ${MOST}.`)
  return number
}

function printList({ out }: Context, { highlights, left_today, answered_today, total_due }: Review): void {
  if (left_today === 0) {
    out.line(
      answered_today > 0 ? 'All of today’s highlights are gone over.' : 'There is nothing to go over today.',
    )
    return
  }
  for (const highlight of highlights) {
    printHighlight(out, highlight)
    out.line()
  }
  const due = total_due > left_today ? `; ${total_due.toLocaleString('en')} are due in all` : ''
  out.line(`${count(left_today, 'highlight')} to go over today${due}.`)
}

function printHighlight(out: Context['out'], { id, content, location, source }: Shown): void {
  const place = location === null ? '' : `, ${oneLine(location)}`
  out.line(
    { text: oneLine(source.title), style: STYLE.title },
    { text: `${place} (${id})`, style: STYLE.dim },
  )
  out.paragraph(printable(content), '  ')
}

const KEYS = '1 again  2 hard  3 good  4 easy  s later  u undo  q end'

/** Shows one highlight after the other and notes the answers. */
async function goOver(context: Context, library: Library, today: Review): Promise<void> {
  const { out, signal } = context
  if (today.left_today === 0) return printList(context, today)
  const waiting = [...today.highlights]
  const answered: Shown[] = []
  const show = () => {
    if (!waiting[0]) return
    out.line()
    printHighlight(out, waiting[0])
    out.line({ text: `  ${KEYS}`, style: STYLE.dim })
  }
  out.line(`${count(waiting.length, 'highlight')} to go over.`)
  show()
  for await (const key of readKeys(process.stdin, signal)) {
    const [highlight] = waiting
    if (!highlight || key === 'q') break
    const rating = RATINGS[Number(key) - 1]
    if (key === 's') waiting.shift()
    else if (key === 'u') {
      const last = answered.pop()
      if (!last) continue
      await library
        .on({ connection: 'cli', tool: 'review' })
        .change((change) => takeBackAnswer(change, last.id))
      waiting.unshift(last)
      out.line({ text: '  The last answer is taken back.', style: STYLE.dim })
    } else if (rating) {
      const { output } = await callAsReader(context, library, reviewHighlight, { id: highlight.id, rating })
      answered.push(highlight)
      waiting.shift()
      const { due_day, interval_days } = dueShape.parse(output)
      out.line(`  ${rating}: comes again in ${count(interval_days, 'day')}, on ${due_day}.`)
    } else continue
    show()
    if (waiting.length === 0) break
  }
  out.line()
  out.line(`${count(answered.length, 'highlight')} gone over.`)
}

const dueShape = z.object({ due_day: z.string(), interval_days: z.number() })
