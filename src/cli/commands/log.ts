import { listAudit, type AuditedChange } from '../../core/audit.ts'
import { titlesOf } from '../../features/sources/owned-store.ts'
import { defineCommand } from '../command.ts'
import { EXIT } from '../exit-code.ts'
import { withLibrary } from '../open-library.ts'
import { oneLine, STYLE } from '../print.ts'
import { count, when } from '../when.ts'

export const log = defineCommand({
  name: 'log',
  usage: ['[--limit N] [--offset N]'],
  about:
    'Shows what was changed in the library, the last change first: when, by whom (`cli` is you at this command line), with which command or tool, and what. With --json each change has the values that stood there before.',
  flags: [
    { name: 'limit', value: 'N', help: 'How many to show (20 unless said)' },
    { name: 'offset', value: 'N', help: 'How many to pass over' },
  ],
  words: { most: 0 },
  run: (context) =>
    withLibrary(context, async ({ library }) => {
      const { args, out, json } = context
      const entries = await listAudit(library.db, {
        limit: args.number('limit', 20),
        offset: args.number('offset', 0),
      })
      if (json) {
        out.json({ entries: entries.map(({ id, ...entry }) => ({ id: String(id), ...entry })) })
        return EXIT.ok
      }
      if (entries.length === 0) {
        out.line('Nothing was changed yet.')
        return EXIT.ok
      }
      const now = library.now()
      const rows: string[][] = []
      for (const { at, connection, tool, intent, changes } of entries) {
        const about = [sayChanges(changes), ...(await titlesOf(library.db, changes.slice(0, 100)))]
        if (intent !== null) about.push(`“${intent}”`)
        rows.push([when(at, now), oneLine(connection), tool, oneLine(about.join(' · '))])
      }
      out.table(
        [
          { title: 'WHEN' },
          { title: 'WHO' },
          { title: 'WITH' },
          { title: 'WHAT', flexible: true, least: 24 },
        ],
        rows.map(([at = '', who = '', tool = '', what = '']) => [
          { text: at, style: STYLE.dim },
          who,
          tool,
          what,
        ]),
      )
      return EXIT.ok
    }),
})

/** What readers call the rows of a table; what is only a part of something else is not named beside it. */
const THINGS: Record<string, string> = {
  source: 'item',
  text: 'text',
  highlight: 'highlight',
  note: 'note',
  read: 'reading',
  review: 'answer',
  tagging: 'tag',
  setting: 'setting',
}

/** `added 1 highlight, changed 1 item`. */
function sayChanges(changes: readonly AuditedChange[]): string {
  const counts = new Map<string, Map<string, number>>()
  for (const change of changes) {
    const thing = THINGS[change.table]
    if (thing === undefined) continue
    const things = counts.get(doneIn(change)) ?? new Map<string, number>()
    counts.set(doneIn(change), things.set(thing, (things.get(thing) ?? 0) + change.count))
  }
  const said = [...counts].map(([done, things]) => {
    return `${done} ${[...things].map(([thing, number]) => count(number, thing)).join(' and ')}`
  })
  return said.join(', ') || 'changed what belongs to it'
}

function doneIn({ op, before }: AuditedChange): string {
  if (op === 'insert') return 'added'
  if (op === 'erase') return 'removed'
  if (before === undefined || !('trashed_at' in before)) return 'changed'
  return before['trashed_at'] === null ? 'threw away' : 'took back'
}
