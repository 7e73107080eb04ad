import { existsSync, statSync } from 'node:fs'
import { extname, resolve } from 'node:path'
import { exportFile, exportFolder, type ExportedFolder } from '../../app/export-folder.ts'
import type { LocalLibrary } from '../../app/open-local.ts'
import { writeWhole } from '../../app/write-whole.ts'
import { findItem } from '../../features/sources/source-store.ts'
import { defineCommand, type Context } from '../command.ts'
import { EXIT } from '../exit-code.ts'
import { usage } from '../flags.ts'
import { withLibrary } from '../open-library.ts'
import { startProgress, type Progress } from '../progress.ts'
import { STYLE } from '../print.ts'
import { count, size } from '../when.ts'

const FORMATS = ['csv', 'markdown', 'json', 'archive'] as const
type Format = (typeof FORMATS)[number]

const OF_ENDING: Readonly<Record<string, Format>> = {
  '.csv': 'csv',
  '.md': 'markdown',
  '.markdown': 'markdown',
  '.json': 'json',
  '.zip': 'archive',
}

export const exportCommand = defineCommand({
  name: 'export',
  usage: ['FILE|FOLDER', '--source ID FILE.md'],
  about:
    'Writes what is in the library for other programs: all highlights as CSV, a folder of Markdown files for Obsidian, Logseq or any editor, everything as JSON, or the whole library as one archive (ZIP) that `commonplace import` makes a library of again. What it is to be is told by the ending of the file; a folder becomes Markdown. Exporting into the same folder again brings its files up to date and leaves alone what you wrote into them. With `-` for the file it goes to standard output.',
  flags: [
    { name: 'format', value: 'FORMAT', help: 'csv, markdown, json or archive, whatever the file is called' },
    { name: 'source', value: 'ID', help: 'Only this item (Markdown and JSON)' },
    { name: 'all', help: 'In a folder, also items without highlights and notes' },
    { name: 'force', help: 'Write over a file that is there' },
  ],
  examples: [
    'commonplace export highlights.csv',
    'commonplace export ~/Notes/Reading/',
    'commonplace export library.zip',
    'commonplace export --source 1099511627777 heron.md',
  ],
  words: { least: 1, most: 1 },
  isPlain: (token) => token === '-',
  run: (context) =>
    withLibrary(context, async (local) => {
      const { args, err } = context
      const target = args.positionals[0]!
      const format = formatOf(target, args.one('format'))
      const given = args.one('source')
      const only = given === undefined ? undefined : (await findItem(local.library.db, given)).id
      if (only !== undefined && (format === 'csv' || format === 'archive'))
        throw usage(
          `--source goes with Markdown and JSON, not with ${format}.`,
          'Leave it out for the whole library.',
        )
      const progress = startProgress(err, 'Exporting…')
      try {
        return await run({ ...local, context, target, format, only, progress })
      } finally {
        progress.stop()
      }
    }),
})

interface Export extends Pick<LocalLibrary, 'library'> {
  context: Context
  target: string
  format: Format
  only: number | undefined
  progress: Progress
}

const isFolder = (target: string): boolean =>
  /[\\/]$/.test(target) || (existsSync(target) && statSync(target).isDirectory())

function formatOf(target: string, given: string | undefined): Format {
  if (given !== undefined) {
    const format = FORMATS.find((one) => one === given)
    if (!format) throw usage(`--format is ${FORMATS.join(', ')}, not ${JSON.stringify(given)}.`)
    if (isFolder(target) && format !== 'markdown')
      throw usage(`${target} is a folder, and ${format} is one file.`, 'Give the name of a file.')
    return format
  }
  if (target === '-') throw usage('Say with --format what is to go to standard output.')
  if (isFolder(target)) return 'markdown'
  const ending = extname(target).toLowerCase()
  const format = ending === '' ? 'markdown' : OF_ENDING[ending]
  if (format) return format
  throw usage(
    `The ending ${ending} does not say what to write.`,
    'Use .csv, .md, .json or .zip, or say it with --format.',
  )
}

async function run(asked: Export): Promise<number> {
  const { format, target, only } = asked
  if (format !== 'markdown') return await toFile(asked)
  const isOneFile = target === '-' || (!isFolder(target) && extname(target) !== '')
  if (!isOneFile) return await toFolder(asked)
  if (only === undefined)
    throw usage(
      'One Markdown file holds one item.',
      'Say which with --source ID, or give a folder for the whole library.',
    )
  return await toMarkdown(asked, only)
}

async function toFolder({ library, context, target, only, progress }: Export): Promise<number> {
  const { args, out, json, signal } = context
  const done = await exportFolder(library, resolve(target), {
    all: args.on('all'),
    only,
    signal,
    onSource: (number) => progress.say(`Wrote ${count(number, 'item')}…`),
  })
  progress.stop()
  if (json) out.json(done)
  else sayFolder(context, done)
  return EXIT.ok
}

function sayFolder({ out, err }: Context, { folder, made, changed, same, ...told }: ExportedFolder): void {
  out.line(
    `${folder}: ${count(made, 'new file')}, ${count(changed, 'changed file')}, ${same} as ${same === 1 ? 'it was' : 'they were'}.`,
  )
  const list = (files: readonly string[], what: string): void => {
    if (files.length === 0) return
    err.line({ text: `${what}:`, style: STYLE.warning })
    for (const file of files) err.line(`  ${file}`)
  }
  list(told.movedOut, 'What you changed in a block that has changed here too now stands below it')
  list(told.keptGone, 'Blocks of deleted highlights or notes that you had changed were kept')
  list(told.notUtf8, 'Files that are not UTF-8 were left as they are; save them as UTF-8 and export again')
  list(told.gone, 'Items that are no longer in the library; their files were left as they are')
}

async function toMarkdown({ library, context, target }: Export, id: number): Promise<number> {
  const { out, json, args } = context
  if (target === '-') {
    const { composeMarkdown } = await import('../../features/exports/markdown-file.ts')
    const { sourceMarkdown } = await import('../../features/exports/source-markdown.ts')
    const source = await sourceMarkdown(library.db, id, { notes: true, private: true })
    if (source) out.write(composeMarkdown(source))
    return EXIT.ok
  }
  const path = resolve(target)
  if (!(await exportFile(library, path, id, args.on('force')))) throw isThere(path)
  if (json) out.json({ path })
  else out.line(`${path}.`)
  return EXIT.ok
}

const isThere = (path: string) =>
  usage(`${path} is there already.`, 'Give another name, or let it be written over with --force.')

/** What is written piece by piece, and how many of what it holds. */
async function contentOf(
  { library, format, only, progress }: Export,
  counted: { rows: number },
): Promise<{ content: AsyncIterable<string | Uint8Array>; unit: string }> {
  const { db } = library
  const add = (rows: number, what: string): void => {
    counted.rows += rows
    progress.say(`Wrote ${count(counted.rows, what)}…`)
  }
  if (format === 'csv') {
    const { writeHighlightCsv } = await import('../../features/exports/highlight-csv.ts')
    return { content: writeHighlightCsv(db, { onRows: (rows) => add(rows, 'highlight') }), unit: 'highlight' }
  }
  if (format === 'json') {
    const { writeLibraryJson } = await import('../../features/exports/library-json.ts')
    const content = writeLibraryJson(db, { at: library.now(), only, onSource: () => add(1, 'item') })
    return { content, unit: 'item' }
  }
  const { writeArchive } = await import('../../app/export-archive.ts')
  const content = writeArchive(library, {
    from: 'local',
    now: () => library.now(),
    onFile: () => add(1, 'file'),
  })
  return { content, unit: 'file' }
}

async function toFile(asked: Export): Promise<number> {
  const { context, target, progress } = asked
  const { out, json, args, signal } = context
  const counted = { rows: 0 }
  if (target === '-') {
    if (asked.format === 'archive' && out.tty)
      throw usage('An archive is no text.', 'Give the name of a file, or send the output to one.')
    progress.stop()
    const { content } = await contentOf(asked, counted)
    const { stdout } = process
    for await (const piece of content) {
      signal.throwIfAborted()
      if (!stdout.write(piece)) await new Promise((resume) => stdout.once('drain', resume))
    }
    return EXIT.ok
  }
  const path = resolve(target)
  if (existsSync(path) && !args.on('force')) throw isThere(path)
  const { content, unit } = await contentOf(asked, counted)
  const bytes = await writeWhole(path, content, { signal })
  progress.stop()
  if (json) out.json({ path, bytes, [`${unit}s`]: counted.rows })
  else out.line(`${path} (${count(counted.rows, unit)}, ${size(bytes)}).`)
  return EXIT.ok
}
