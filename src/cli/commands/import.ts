import { writeFile } from 'node:fs/promises'
import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import type { LocalLibrary } from '../../app/open-local.ts'
import { Failure } from '../../core/failure.ts'
import { parseId } from '../../core/ids.ts'
import { toFailure } from '../../core/to-failure.ts'
import { importArchive, isLibraryArchive, type ArchiveImport } from '../../features/exports/import-archive.ts'
import { goOnUnfinished } from '../../features/imports/go-on.ts'
import { countsOf, listImports } from '../../features/imports/import-store.ts'
import { reportCsv, type FileReport } from '../../features/imports/report-csv.ts'
import { reportRows } from '../../features/imports/row-outcomes.ts'
import { undoImport } from '../../features/imports/undo-import.ts'
import { writeImport } from '../../features/imports/write-import.ts'
import { defineCommand, type Context } from '../command.ts'
import { EXIT, exitCodeOf } from '../exit-code.ts'
import { usage } from '../flags.ts'
import { groupFiles, readImportFile, withFile, type FileGroup } from '../import-files.ts'
import {
  archiveJson,
  printArchive,
  printSummary,
  printUndone,
  sayCounts,
  summaryJson,
} from '../import-outcome.ts'
import { withLibrary } from '../open-library.ts'
import { oneLine, STYLE } from '../print.ts'
import { startProgress } from '../progress.ts'
import { count, when } from '../when.ts'

export const importCommand = defineCommand({
  name: 'import',
  usage: ['FILE… [--dry-run] [--report OUT.csv] [--fetch]', '--list', '--undo ID'],
  about:
    'Brings in what you marked and saved elsewhere: exports of Kindle, Readwise, Kobo, Apple Books, KOReader, Pocket, Instapaper, Raindrop.io, Omnivore, Hypothes.is, bookmarks of a browser, and archives of Commonplace itself. A file is told by its content.\nThe same file again adds nothing, a grown one only what is new. What you deleted or changed here stays so. Every import can be taken out again as a whole.',
  flags: [
    { name: 'dry-run', help: 'Say what would come in, and write nothing' },
    { name: 'report', value: 'OUT.csv', help: 'Write what became of each row of the file' },
    { name: 'fetch', help: 'Capture the pages of imported links, in the background' },
    { name: 'list', help: 'List the imports of files, the latest first' },
    { name: 'undo', value: 'ID', help: 'Take out again what an import brought' },
  ],
  examples: [
    'commonplace import "/media/Kindle/documents/My Clippings.txt" --dry-run',
    'commonplace import AEAnnotation_v10312011_1727_local.sqlite BKLibrary-1-091020131601.sqlite',
    'commonplace import readwise-data.csv --report report.csv',
  ],
  async run(context) {
    const { args } = context
    const files = args.positionals
    if (args.on('list') || args.given('undo')) {
      if (files.length > 0 || (args.on('list') && args.given('undo')))
        throw usage('--list and --undo stand alone.', 'Give files, or one of the two.')
      return args.on('list') ? await list(context) : await undo(context)
    }
    if (files.length === 0)
      throw usage('commonplace import needs a file.', 'Give the file that the other program exported.')
    if (files.some((file) => file.trim() === '')) throw usage('An empty word names no file.')
    const report = args.one('report')
    if (report !== undefined && existsSync(report))
      throw usage(`${report} is there already.`, 'Give another name for the report.')
    return await bringIn(context, files)
  },
})

async function bringIn(context: Context, paths: readonly string[]): Promise<number> {
  const { args } = context
  const dryRun = args.on('dry-run')
  const [only] = paths
  if (paths.length === 1 && only !== undefined && existsSync(only)) {
    const archive = await withFile(only, isLibraryArchive).catch(() => false)
    if (archive) return await bringInArchive(context, only)
  }
  const files: { path: string; bytes: Uint8Array }[] = []
  for (const path of paths) files.push({ path, bytes: await readImportFile(resolve(path)) })
  const groups = groupFiles(files)
  const reports: FileReport[] = []
  const told: object[] = []
  let code: number = EXIT.ok
  const work = async (local: LocalLibrary): Promise<void> => {
    for (const group of groups) {
      try {
        const written = await bringInGroup(context, local, group)
        if (args.given('report'))
          reports.push({ file: group.name, rows: reportRows(written.report, written.outcomes) })
        if (context.json) told.push(summaryJson(group, written, dryRun))
        else printSummary(context, group, written, { dryRun })
      } catch (error) {
        const failure = toFailure(error)
        if (groups.length === 1 || !isOfFile(failure)) throw error
        code ||= exitCodeOf(failure)
        told.push({ file: group.given, failure: failure.toJSON() })
        context.err.line({ text: oneLine(`${group.given}: ${failure.message}`), style: STYLE.bad })
        context.err.line(`  ${oneLine(failure.hint)}`)
      }
    }
  }
  if (dryRun) await withLibrary(context, work, { create: !context.readOnly, changes: false })
  else await withLibrary(context, work, { create: true })
  const report = args.one('report')
  if (report !== undefined) {
    await writeFile(report, [...reportCsv(reports)].join(''), { flag: 'wx' }).catch((cause: unknown) => {
      throw new Failure('write_failed', `The report could not be written to ${report}.`, {
        hint: 'What was imported is in the library. Import the file again with another place for the report: it adds nothing twice.',
        cause,
      })
    })
    if (!context.json)
      context.out.line({ text: `What became of each row stands in ${oneLine(report)}.`, style: STYLE.dim })
  }
  if (context.json) context.out.json({ dryRun, imports: told })
  return code
}

/** What is the fault of one file, and of no other. */
const isOfFile = ({ code }: Failure): boolean =>
  code === 'unsupported_type' || code === 'damaged_file' || code === 'too_large' || code === 'encrypted_file'

async function bringInGroup(context: Context, { library }: LocalLibrary, group: FileGroup) {
  const { args, err, signal } = context
  const progress = startProgress(err, `Reading ${group.name}…`)
  try {
    return await writeImport(library.on({ connection: 'cli', tool: 'import' }), group.bytes, {
      name: group.name,
      beside: group.beside,
      dryRun: args.on('dry-run'),
      fetches: args.on('fetch'),
      reports: args.given('report'),
      signal,
      onProgress: (done) =>
        progress.say(
          `${args.on('dry-run') ? 'Looking at' : 'Importing'} ${group.name}: ${count(done, 'row')}`,
        ),
    })
  } finally {
    progress.stop()
  }
}

function bringInArchive(context: Context, path: string): Promise<number> {
  const { args, err, json, out, signal } = context
  const dryRun = args.on('dry-run')
  for (const flag of ['report', 'fetch'])
    if (args.given(flag)) throw usage(`--${flag} says nothing to a whole library's archive.`, 'Leave it out.')
  return withLibrary(
    context,
    async ({ library }) => {
      const progress = startProgress(err, 'Reading the archive…')
      let taken: ArchiveImport
      try {
        taken = await withFile(resolve(path), (file) =>
          importArchive(library.on({ connection: 'cli', tool: 'import' }), file, {
            finish: goOnUnfinished,
            dryRun,
            signal,
            onProgress: (done, total, what) => progress.say(`${what}: ${done} of ${total}`),
          }),
        )
      } finally {
        progress.stop()
      }
      if (json) out.json(archiveJson(path, taken, dryRun))
      else printArchive(context, taken, dryRun)
      return EXIT.ok
    },
    { create: true },
  )
}

const MOST_LISTED = 200

const list = (context: Context): Promise<number> =>
  withLibrary(context, async ({ library }) => {
    const { out, json } = context
    const imports = await listImports(library.db, { kind: 'file', most: MOST_LISTED })
    if (json) {
      out.json({
        imports: imports.map((one) => ({
          id: String(one.id),
          file: one.name,
          format: one.format,
          status: one.status,
          counts: countsOf(one),
          createdAt: one.created_at,
          finishedAt: one.finished_at,
          undoneAt: one.undone_at,
        })),
      })
    } else if (imports.length === 0) out.line('No file was imported yet.')
    else {
      const now = library.now()
      out.table(
        [
          { title: 'ID' },
          { title: 'FILE', flexible: true, least: 12 },
          { title: 'WHAT IT BROUGHT', flexible: true, least: 16 },
          { title: 'WHEN', spare: true },
        ],
        imports.map((one) => [
          { text: String(one.id), style: STYLE.dim },
          oneLine(one.name ?? one.format ?? ''),
          one.undone_at !== null
            ? 'undone'
            : one.status === 'processing'
              ? 'cut short: import the file again to finish'
              : one.status === 'failed'
                ? 'failed'
                : sayCounts(countsOf(one)),
          when(one.created_at, now),
        ]),
      )
    }
    return EXIT.ok
  })

function undo(context: Context): Promise<number> {
  const { args, err, json, out, signal } = context
  const id = parseId(args.one('undo') ?? '')
  if (id === undefined)
    throw usage('--undo takes the id of an import.', '`commonplace import --list` shows them.')
  return withLibrary(
    context,
    async ({ library }) => {
      const progress = startProgress(err, 'Taking it out again…')
      try {
        const undone = await undoImport(library.on({ connection: 'cli', tool: 'import --undo' }), id, {
          signal,
          onProgress: (done, total) => progress.say(`Taking out ${done} of ${total}`),
        })
        progress.stop()
        if (json)
          out.json({ importId: String(id), undone: undone.isNew, removed: undone.removed, kept: undone.kept })
        else printUndone(context, undone)
      } finally {
        progress.stop()
      }
      return EXIT.ok
    },
    { changes: true },
  )
}
