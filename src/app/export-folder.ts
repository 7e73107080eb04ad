import { isUtf8 } from 'node:buffer'
import { open, opendir, readFile, stat } from 'node:fs/promises'
import { join, relative } from 'node:path'
import type { Library } from '../core/library.ts'
import { fileName, fileNameKey } from '../features/exports/file-name.ts'
import { composeMarkdown, mergeMarkdown, sourceIdIn } from '../features/exports/markdown-file.ts'
import { sourceMarkdown, type SourceMarkdown } from '../features/exports/source-markdown.ts'
import { sourcesForMarkdown } from '../features/exports/source-markdown-store.ts'
import { writeWhole } from './write-whole.ts'

export interface ExportedFolder {
  folder: string
  /** Files that were made, changed, and left as they were. */
  made: number
  changed: number
  same: number
  /** Paths in the folder of files in which something was moved below its block, since both sides had changed it. */
  movedOut: string[]
  /** Of those that keep a block whose highlight or note is gone, since somebody has changed it. */
  keptGone: string[]
  /** Of those that are not whole UTF-8: written again they would lose signs, so they are left as they are. */
  notUtf8: string[]
  /** Of those whose source is gone: they are left as they are. */
  gone: string[]
}

export interface ExportFolderOptions {
  /** Sources without highlights and notes too. */
  all?: boolean
  /** Only this source. */
  only?: number | undefined
  signal?: AbortSignal
  onSource?: (done: number) => void
}

const MAY_ALL = { notes: true, private: true } as const
const PAGE = 200

/**
 * Writes a Markdown file for each source, or brings those that are there up to date: a file is known by the id at its top,
 * wherever in the folder it lies and whatever it is called. What somebody wrote outside of our blocks is never touched, and files
 * that need no change are not written. Each file is whole at any time. Throws what the file system throws.
 */
export async function exportFolder(
  { db }: Pick<Library, 'db'>,
  folder: string,
  { all = false, only, signal, onSource }: ExportFolderOptions = {},
): Promise<ExportedFolder> {
  const present = await filesIn(folder, signal)
  const result: ExportedFolder = {
    folder,
    made: 0,
    changed: 0,
    same: 0,
    movedOut: [],
    keptGone: [],
    notUtf8: [],
    gone: [],
  }
  const seen = new Set<number>()
  let done = 0
  const write = async (id: number): Promise<void> => {
    signal?.throwIfAborted()
    const source = await sourceMarkdown(db, id, MAY_ALL)
    if (!source) return
    seen.add(id)
    const path = present.bySource.get(id)
    if (path === undefined) {
      await make(folder, source, present.names)
      result.made++
    } else await update(folder, path, source, result)
    onSource?.(++done)
  }
  if (only !== undefined) {
    await write(only)
    return result
  }
  for (let last = 0; ;) {
    const ids = await sourcesForMarkdown(db, last, { all, limit: PAGE })
    for (const id of ids) await write(id)
    if (ids.length === 0) break
    last = ids.at(-1)!
  }
  // What has lost its last highlight has a file all the same.
  for (const [id, path] of present.bySource) {
    if (seen.has(id)) continue
    await write(id)
    if (!seen.has(id)) result.gone.push(path)
  }
  return result
}

/**
 * Writes one source to a file of its own, or brings the file up to date if it is already that of the source. Answers false, and
 * writes nothing, where something else stands there, unless it `mayReplace` that.
 */
export async function exportFile(
  { db }: Pick<Library, 'db'>,
  file: string,
  id: number,
  mayReplace: boolean,
): Promise<boolean> {
  const source = await sourceMarkdown(db, id, MAY_ALL)
  if (!source) return false
  const present = await contentOf(file)
  const known = present && isUtf8(present) ? present.toString('utf8') : undefined
  const isOurs = known !== undefined && sourceIdIn(known) === id
  if (present && !isOurs && !mayReplace) return false
  await writeWhole(file, [isOurs ? mergeMarkdown(known, source).text : composeMarkdown(source)])
  return true
}

/** Undefined where there is no file. One that may not be read is no free place: it throws. */
const contentOf = (file: string): Promise<Buffer | undefined> =>
  readFile(file).catch((error: unknown) => {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined
    throw error
  })

/** Writes a file under the first of its names that nothing has, not even what was put there since the folder was looked at. */
async function make(folder: string, source: SourceMarkdown, taken: Set<string>): Promise<void> {
  for (const name of namesOf(source)) {
    const key = fileNameKey(name)
    if (taken.has(key)) continue
    taken.add(key)
    const file = join(folder, name)
    try {
      await writeWhole(file, [composeMarkdown(source)], {
        check: async () => {
          if ((await contentOf(file)) !== undefined) throw new ChangedMeanwhile()
        },
      })
      return
    } catch (error) {
      if (!(error instanceof ChangedMeanwhile)) throw error
    }
  }
}

/** The name that a title gives, and where that is taken, with the id, and then with numbers without end. */
function* namesOf({ title, id }: SourceMarkdown): Generator<string> {
  const name = fileName(title)
  yield `${name}.md`
  yield `${name} ${id}.md`
  for (let n = 2; ; n++) yield `${name} ${id} ${n}.md`
}

async function update(
  folder: string,
  path: string,
  source: SourceMarkdown,
  result: ExportedFolder,
): Promise<void> {
  const file = join(folder, path)
  for (let attempt = 0; ; attempt++) {
    const was = await stat(file)
    const bytes = await readFile(file)
    if (!isUtf8(bytes)) {
      result.notUtf8.push(path)
      return
    }
    const before = bytes.toString('utf8')
    const { text, movedOut, keptGone } = mergeMarkdown(before, source)
    const isSame = text === before
    try {
      if (!isSame)
        await writeWhole(file, [text], {
          // Somebody saved it meanwhile: what they wrote must not be lost.
          check: async () => {
            const now = await stat(file)
            if (now.mtimeMs !== was.mtimeMs || now.size !== was.size) throw new ChangedMeanwhile()
          },
        })
    } catch (error) {
      if (error instanceof ChangedMeanwhile && attempt < 5) continue
      throw error
    }
    if (isSame) result.same++
    else result.changed++
    if (movedOut > 0) result.movedOut.push(path)
    if (keptGone > 0) result.keptGone.push(path)
    return
  }
}

class ChangedMeanwhile extends Error {}

interface Present {
  /** Path in the folder. */
  bySource: Map<number, string>
  /** Keys of the names that stand in the folder itself. */
  names: Set<string>
}

const TOP_BYTES = 1 << 16

/** What lies in the folder already. Hidden folders are passed over, and links are not followed. */
async function filesIn(root: string, signal?: AbortSignal): Promise<Present> {
  const present: Present = { bySource: new Map(), names: new Set() }
  const found: string[] = []
  const look = async (folder: string): Promise<void> => {
    signal?.throwIfAborted()
    for await (const entry of await opendir(folder)) {
      if (folder === root) present.names.add(fileNameKey(entry.name))
      const path = join(folder, entry.name)
      if (entry.isDirectory() && !entry.name.startsWith('.')) await look(path)
      else if (entry.isFile() && /\.md$/i.test(entry.name) && !entry.name.startsWith('.')) found.push(path)
    }
  }
  try {
    await look(root)
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return present
    throw error
  }
  // Of two copies the same one is ours each time.
  for (const path of found.toSorted()) {
    const id = sourceIdIn(await topOf(path))
    if (id !== undefined && !present.bySource.has(id)) present.bySource.set(id, relative(root, path))
  }
  return present
}

async function topOf(path: string): Promise<string> {
  const handle = await open(path)
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(TOP_BYTES), 0, TOP_BYTES, 0)
    return buffer.toString('utf8', 0, bytesRead)
  } finally {
    await handle.close()
  }
}
