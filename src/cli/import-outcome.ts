import type { ArchiveImport } from '../features/exports/import-archive.ts'
import type { ImportCounts } from '../features/imports/import-store.ts'
import type { UndoneImport } from '../features/imports/undo-import.ts'
import type { WrittenImport } from '../features/imports/write-import.ts'
import type { Context } from './command.ts'
import type { FileGroup } from './import-files.ts'
import { oneLine, STYLE } from './print.ts'
import { count } from './when.ts'

const SHOWN = 5
const LISTED = 100

/** `2 sources, 30 highlights, 4 notes`; `nothing new` where there is nothing. */
export function sayCounts({
  sources = 0,
  highlights = 0,
  notes = 0,
  reads = 0,
  tags = 0,
}: ImportCounts): string {
  const said = [
    sources > 0 ? count(sources, 'source') : '',
    highlights > 0 ? count(highlights, 'highlight') : '',
    notes > 0 ? count(notes, 'note') : '',
    reads > 0 ? count(reads, 'reading') : '',
    tags > 0 ? count(tags, 'tag') : '',
  ].filter(Boolean)
  return said.join(', ') || 'nothing new'
}

/** For people: what came in, what was there, what stayed out and why. */
export function printSummary(
  { out, args }: Context,
  group: FileGroup,
  written: WrittenImport,
  { dryRun }: { dryRun: boolean },
): void {
  const { counts, report, format, importId, isResumed } = written
  const { rows = 0, skipped = 0, changed = 0, unchanged = 0, deleted = 0 } = counts
  const [kind = format.title] = format.title.split(',')
  out.line(
    { text: dryRun ? '? ' : '✓ ', style: STYLE.good },
    { text: oneLine(group.name), style: STYLE.strong },
    ` (${kind}, ${count(rows, 'row')})`,
  )
  if (written.cameInAt !== undefined) {
    out.line(`  This very file came in on ${written.cameInAt.slice(0, 10)}: there is nothing new in it.`)
    if (skipped > 0) out.line(`  Not taken then, as their reasons say: ${count(skipped, 'row')}.`)
    out.line({ text: '  With --report out.csv it is read again, row by row.', style: STYLE.dim })
    return
  }
  if (isResumed) out.line('  It was cut short the last time; now it is finished.')
  out.line(`  ${dryRun ? 'Would come in' : 'New'}: ${sayCounts(counts)}.`)
  if (changed > 0) out.line(`  Brought up to date: ${changed.toLocaleString('en')}.`)
  if (unchanged > 0) out.line(`  There already: ${unchanged.toLocaleString('en')}.`)
  if (deleted > 0) out.line(`  You had deleted ${deleted.toLocaleString('en')} of it here: that stays so.`)
  const { refused, left, joined, bookmark } = report.counts
  if (joined > 0) out.line(`  Repeated in the file, or earlier versions: ${count(joined, 'row')}.`)
  if (left + bookmark > 0)
    out.line(`  Not kept (deleted there, reading positions, bookmarks): ${count(left + bookmark, 'row')}.`)
  if (refused > 0) {
    out.line({ text: `  Could not go in: ${count(refused, 'row')}.`, style: STYLE.warning })
    const shown = report.outcomes.filter(({ fate }) => fate === 'refused').slice(0, SHOWN)
    for (const { row, line, message, excerpt } of shown) {
      const where = line === null ? `row ${row}` : `row ${row}, line ${line}`
      out.paragraph(oneLine(`${where}: ${message}${excerpt === '' ? '' : ` “${excerpt}”`}`), '    ')
    }
    if (refused > shown.length) out.line(`    … and ${(refused - shown.length).toLocaleString('en')} more.`)
  }
  if (report.counts.remark > 0 && !args.given('report'))
    out.line({ text: `  There is more to know of ${count(report.counts.remark, 'row')}.`, style: STYLE.dim })
  if (refused + report.counts.remark > 0 && !args.given('report'))
    out.line({
      text: `  With --report out.csv every row is listed with what became of it.`,
      style: STYLE.dim,
    })
  const { sources = 0, highlights = 0, notes = 0, reads = 0, tags = 0 } = counts
  const brought = sources + highlights + notes + reads + tags + changed
  if (importId !== null && !dryRun && brought > 0) {
    out.line({ text: `  To take it out again: commonplace import --undo ${importId}`, style: STYLE.dim })
  }
}

export function summaryJson(group: FileGroup, written: WrittenImport, dryRun: boolean): object {
  const { counts, report, format, importId, isResumed } = written
  return {
    file: group.given,
    format: format.id,
    importId: importId === null || dryRun ? null : String(importId),
    resumed: isResumed,
    ...(written.cameInAt !== undefined && { cameInAt: written.cameInAt }),
    counts,
    rows: { all: counts.rows ?? report.rows, taken: report.taken, ...report.counts },
    refused: report.outcomes
      .filter(({ fate }) => fate === 'refused')
      .slice(0, LISTED)
      .map(({ row, line, part, reason, message, excerpt }) => ({
        row,
        line,
        part,
        reason,
        message,
        excerpt,
      })),
  }
}

export function printArchive(
  { out }: Context,
  { rows, media, missingMedia, leftOut }: ArchiveImport,
  dryRun: boolean,
): void {
  const { sources = 0, highlights = 0, notes = 0 } = rows
  out.line(
    `${dryRun ? 'The archive is whole and would become this library' : 'The archive is now this library'}: ${sayCounts({ sources, highlights, notes })}, ${count(media, 'file')}.`,
  )
  if (missingMedia > 0)
    out.line(`${count(missingMedia, 'file')} of pages or covers were missing when it was written.`)
  if (leftOut > 0)
    out.line(`${count(leftOut, 'row')} belonged to others that are not in the archive, and were left out.`)
}

export const archiveJson = (file: string, taken: ArchiveImport, dryRun: boolean): object => ({
  file,
  format: 'archive',
  dryRun,
  ...taken,
})

export function printUndone({ out }: Context, { isNew, removed, kept }: UndoneImport): void {
  if (!isNew) return out.line('This import was undone already.')
  out.line(`Taken out: ${sayThings(removed)}.`)
  const stays = sayThings(kept)
  if (stays !== 'nothing')
    out.line(`Kept, because you have used it since or something of yours hangs on it: ${stays}.`)
}

function sayThings({ source, highlight, note, read }: UndoneImport['removed']): string {
  const said = sayCounts({ sources: source, highlights: highlight, notes: note, reads: read })
  return said === 'nothing new' ? 'nothing' : said
}
