import type { ListedReader } from '../../features/accounts/reader-list-store.ts'
import { listReadersForOperator } from '../../features/accounts/reader-list-store.ts'
import { rebuildIndex } from '../../features/search/index-source.ts'
import { forgetVectors } from '../../features/search/jobs/embed-passages.ts'
import { EXIT } from '../exit-code.ts'
import { usage } from '../flags.ts'
import { startProgress } from '../progress.ts'
import { count } from '../when.ts'
import { called, readerNamed, type Administering } from './admin-server.ts'

/** Makes the word index of libraries anew, here, and leaves the vectors to the servers that run. */
export async function adminReindex(on: Administering): Promise<number> {
  const { server, args, out, err, json, signal, words } = on
  const all = args.on('all')
  if (all === words.length > 0) throw usage('Say which reader, or --all.')
  const readers: ListedReader[] = all
    ? (await listReadersForOperator(server.accounts.db)).filter((reader) => server.hasLibrary(reader))
    : [await readerNamed(on, words[0])]
  const progress = startProgress(err, 'Looking for what is to be done…')
  try {
    for (const [n, reader] of readers.entries()) {
      const which =
        readers.length === 1 ? called(reader) : `${called(reader)} (${n + 1} of ${readers.length})`
      await server.libraries.use(reader.id, async ({ library }) => {
        await rebuildIndex(library, {
          signal,
          progress: (done, total) => progress.say(`${which}: ${done} of ${total} sources…`),
        })
        if (args.on('vectors')) await forgetVectors(library)
      })
    }
  } finally {
    progress.stop()
  }
  if (json) out.json({ libraries: readers.length, vectors: args.on('vectors') })
  else {
    out.line(`Made the word index of ${count(readers.length, 'library', 'libraries')} anew.`)
    if (args.on('vectors'))
      out.line(
        'The servers that run make the vectors anew, one library after the other; search goes on meanwhile.',
      )
  }
  return EXIT.ok
}
