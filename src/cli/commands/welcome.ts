import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { LIBRARY_FILE } from '../../app/open-file.ts'
import type { LocalLibrary } from '../../app/open-local.ts'
import { requestCapture, storeGiven } from '../../features/capture/capture-source.ts'
import { findByFile } from '../../features/capture/capture-store.ts'
import { searchLibrary } from '../../features/search/tools/search-library.ts'
import { trashSource } from '../../features/sources/trash.ts'
import { defineCommand, type Context } from '../command.ts'
import { drainJobs } from '../drain-jobs.ts'
import { EXIT } from '../exit-code.ts'
import { itemJson, named } from '../item.ts'
import { withLibrary } from '../open-library.ts'
import { STYLE } from '../print.ts'
import { readSamples, type Sample } from '../samples.ts'
import { callAsReader } from '../tool-command.ts'
import { count } from '../when.ts'
import { assistantLines, printLines } from './connect.ts'
import { printHits, readHits } from './search.ts'

/** Asks for what one of the samples says in other words. */
const QUESTION = 'how do I prepare so that facts are still there months later'

export const welcome = defineCommand({
  name: 'welcome',
  usage: ['[--remove]'],
  about:
    'Makes your library, captures three short samples that come with the program (a page, a PDF, an EPUB), searches them by meaning, and prints what connects an assistant. Running it again adds nothing; --remove moves the samples to the trash.',
  flags: [{ name: 'remove', help: 'Take the samples out again' }],
  words: { most: 0 },
  run: (context) =>
    withLibrary(
      context,
      (local) => (context.args.on('remove') ? removeSamples(context, local) : showAround(context, local)),
      {
        create: true,
      },
    ),
})

async function showAround(context: Context, local: LocalLibrary): Promise<number> {
  const { out, err, json, signal } = context
  const { library } = local
  const samples = readSamples()
  if (!json) {
    out.line({ text: 'Welcome to Commonplace.', style: STYLE.strong })
    out.line(`Your library: ${join(local.file.folder, LIBRARY_FILE)}`)
    out.line()
  }
  const added = await addSamples(local, samples)
  await drainJobs(local, { err, signal })
  signal.throwIfAborted()
  const items = await Promise.all(samples.map(({ hash }) => findByFile(library.db, hash)))
  const there = items.filter((item) => item !== undefined)
  const failed = there.filter(({ text_id }) => text_id === null).length
  if (!json) {
    out.line({
      text: added > 0 ? `Captured ${count(added, 'sample')}:` : 'The samples are there:',
      style: STYLE.strong,
    })
    for (const item of there)
      out.line('  ', ...named(item), ` ${item.kind}, ${count(item.words ?? 0, 'word')}`)
    if (failed > 0)
      out.line({ text: `${failed} could not be captured: \`commonplace jobs\` says why.`, style: STYLE.bad })
    out.line()
  }
  const { output } = await callAsReader(context, library, searchLibrary, { query: QUESTION, limit: 3 })
  const assistants = assistantLines(context)
  if (json) {
    out.json({ library: local.file.folder, added, samples: there.map(itemJson), search: output, assistants })
  } else {
    out.line({ text: `Searched by meaning for “${QUESTION}”:`, style: STYLE.strong })
    printHits(context, readHits(output), { most: 1 })
    out.line()
    out.line({ text: 'Connect your assistant', style: STYLE.strong })
    printLines(context, assistants)
    out.line()
    out.line({ text: 'Go on', style: STYLE.strong })
    for (const [line, what] of [
      [`${program()} add https://example.org/an-article --wait`, 'save a page'],
      [`${program()} list`, 'see what is there'],
      [`${program()} welcome --remove`, 'take the samples out again'],
    ])
      out.line(`  ${line}  `, { text: `# ${what}`, style: STYLE.dim })
  }
  return failed > 0 ? EXIT.notCaptured : EXIT.ok
}

/** What captures the samples that are not there; those in the trash come back. Answers with how many were added. */
async function addSamples({ library }: LocalLibrary, samples: readonly Sample[]): Promise<number> {
  let added = 0
  for (const sample of samples) {
    const item = await findByFile(library.db, sample.hash)
    if (item && item.text_id !== null && item.trashed_at === null) continue
    const given = await storeGiven(library, sample.bytes, sample.name)
    await library
      .on({ connection: 'cli', tool: 'welcome' })
      .change((change) => requestCapture(change, { given, tags: ['sample'] }))
    added++
  }
  return added
}

async function removeSamples({ out, json }: Context, { library }: LocalLibrary): Promise<number> {
  const items = await Promise.all(readSamples().map(({ hash }) => findByFile(library.db, hash)))
  const standing = items.filter((item) => item !== undefined && item.trashed_at === null)
  await library.on({ connection: 'cli', tool: 'welcome' }).change(async (change) => {
    for (const item of standing) if (item) await trashSource(change, item)
  })
  if (json) out.json({ removed: standing.length })
  else
    out.line(
      standing.length === 0
        ? 'There are no samples in the library.'
        : `${count(standing.length, 'sample')} moved to the trash.`,
    )
  return EXIT.ok
}

/** How the reader starts this program. */
function program(): string {
  const path = process.argv[1] ?? ''
  if (/[\\/]_npx[\\/]|[\\/]node_modules[\\/]/.test(path)) return 'npx commonplace'
  return path.endsWith('main.js') && existsSync(path) ? 'node dist/main.js' : 'commonplace'
}
