import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { LIBRARY_FILE } from '../../app/open-file.ts'
import { openLocal } from '../../app/open-local.ts'
import { toFailure } from '../../core/to-failure.ts'
import { defineCommand, type Context } from '../command.ts'
import { examine, type Finding } from '../examine.ts'
import { EXIT, exitCodeOf } from '../exit-code.ts'
import { padEnd } from '../measure.ts'
import { noLibrary } from '../open-library.ts'
import { oneLine, STYLE } from '../print.ts'
import { startProgress } from '../progress.ts'
import { VERSION } from '../../core/version.ts'

const MARK = { good: '✓', note: '·', bad: '✗' } as const
const COLOR = { good: STYLE.good, note: STYLE.warning, bad: STYLE.bad } as const

export const doctor = defineCommand({
  name: 'doctor',
  usage: ['[--fix] [--model]'],
  about:
    'Checks the library file, its indexes, the embedding model, stored files, waiting work, room on the disk and backups, and says how to mend what is not well. Ends with 1 where something needs mending.',
  flags: [
    { name: 'fix', help: 'Mend what can be mended without losing anything' },
    { name: 'model', help: 'Ask the language model a question as well, where one is set' },
  ],
  words: { most: 0 },
  async run(context) {
    const { args, json, out, err, signal } = context
    const config = context.config()
    if (!existsSync(join(config.library, LIBRARY_FILE))) throw noLibrary(config.library)
    if (!json)
      out.line({
        text: `Commonplace ${VERSION}, Node ${process.version}, ${process.platform} ${process.arch}`,
        style: STYLE.dim,
      })
    const findings: Finding[] = []
    const done: string[] = []
    let local: Awaited<ReturnType<typeof openLocal>>
    try {
      local = await openLocal(config, { readOnly: context.readOnly })
    } catch (error) {
      const failure = toFailure(error)
      const finding: Finding = {
        check: 'library file',
        state: 'bad',
        found: failure.message,
        mend: mendOf(failure.hint, config.library),
      }
      if (json) out.json({ version: VERSION, findings: [finding], done })
      else printFinding(context, finding)
      return exitCodeOf(failure)
    }
    try {
      const progress = startProgress(err, 'Checking…')
      for await (const finding of examine(local, config, { askModel: args.on('model'), signal })) {
        findings.push(finding)
        progress.say(`Checked ${finding.check}…`)
      }
      progress.stop()
      if (!json) for (const finding of findings) printFinding(context, finding)
      if (args.on('fix')) {
        for (const { fix } of findings) {
          if (!fix) continue
          const what = await fix()
          done.push(what)
          if (!json) out.line({ text: what, style: STYLE.good })
        }
      }
    } finally {
      await local.close()
    }
    const left = findings.filter(({ state, fix }) => state === 'bad' && !(fix && args.on('fix')))
    if (json)
      out.json({ version: VERSION, findings: findings.map(({ fix: _fix, ...finding }) => finding), done })
    else
      out.line(
        left.length === 0
          ? 'All is well.'
          : `${left.length} of ${findings.length} checks found something to mend.`,
      )
    return left.length === 0 ? EXIT.ok : EXIT.failed
  },
})

function printFinding({ out }: Pick<Context, 'out'>, { check, state, found, mend }: Finding): void {
  out.line(
    { text: `${MARK[state]} `, style: COLOR[state] },
    { text: padEnd(check, 18), style: STYLE.strong },
    ` ${oneLine(found)}`,
  )
  if (mend) out.paragraph([{ text: mend, style: STYLE.dim }], ' '.repeat(21))
}

/** The newest states that a damaged library can be put back to. */
function mendOf(hint: string, folder: string): string {
  const backups = join(folder, 'backups')
  const newest = existsSync(backups) ? readdirSync(backups).toSorted().at(-1) : undefined
  return newest === undefined ? hint : `${hint} The latest backup is ${join(backups, newest)}.`
}
