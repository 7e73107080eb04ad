import { readdir, readFile, realpath, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { Failure } from '../core/failure.ts'
import { checkSupported } from '../features/capture/check-supported.ts'

/** Largest file that is read into memory. */
const MOST_BYTES = 250_000_000

export interface LeftOut {
  path: string
  reason: string
}

/** Whether a folder, a file, or nothing. Throws `file_not_found`. */
export async function kindOfPath(path: string): Promise<'folder' | 'file'> {
  try {
    return (await stat(path)).isDirectory() ? 'folder' : 'file'
  } catch (cause) {
    throw new Failure('file_not_found', `There is no file ${path}.`, {
      hint: 'Check the path. An address of the web begins with https:// or http://.',
      cause,
    })
  }
}

/**
 * The bytes of a file of a kind that can be captured. Throws `unsupported_type` (pipes and devices too),
 * `too_large`, `no_text`, `file_not_found`.
 */
export async function readSupported(path: string): Promise<Uint8Array> {
  let bytes: Uint8Array
  try {
    const facts = await stat(path)
    if (!facts.isFile()) {
      // A pipe may never end, and nothing could end the wait for one that nobody opens: not even a signal.
      throw new Failure(
        'unsupported_type',
        `${path} is no file that can be read whole, but a pipe or a device.`,
        {
          hint: 'Give what comes out of it to standard input: `… | commonplace add -`.',
        },
      )
    }
    const { size } = facts
    if (size > MOST_BYTES) {
      throw new Failure('too_large', `${path} has ${Math.round(size / 1e6)} MB.`, {
        hint: `Files of up to ${MOST_BYTES / 1e6} MB can be added.`,
      })
    }
    bytes = await readFile(path)
  } catch (cause) {
    if (cause instanceof Failure) throw cause
    throw new Failure('file_not_found', `${path} cannot be read.`, {
      hint: 'Check that it is there and that you may read it.',
      cause,
    })
  }
  checkSupported(bytes, path)
  return bytes
}

/**
 * Every file below a folder, by name; hidden ones, package folders and the files of a saved page (`page_files` beside
 * `page.html`) are passed over and reported. Links to folders are followed once.
 */
export async function filesBelow(folder: string): Promise<{ files: string[]; leftOut: LeftOut[] }> {
  const files: string[] = []
  const leftOut: LeftOut[] = []
  const seen = new Set<string>()
  await visit(folder)
  return { files, leftOut }

  async function visit(path: string): Promise<void> {
    const real = await realpath(path)
    if (seen.has(real)) return
    seen.add(real)
    let entries: string[]
    try {
      entries = (await readdir(path)).toSorted((a, b) => a.localeCompare(b, 'en'))
    } catch {
      leftOut.push({ path, reason: 'the folder cannot be read' })
      return
    }
    const names = new Set(entries)
    for (const name of entries) {
      const inner = join(path, name)
      if (name.startsWith('.')) {
        leftOut.push({ path: inner, reason: 'hidden' })
        continue
      }
      let isFolder: boolean
      try {
        const facts = await stat(inner)
        isFolder = facts.isDirectory()
        if (!isFolder && !facts.isFile()) {
          leftOut.push({ path: inner, reason: 'no regular file' })
          continue
        }
      } catch {
        leftOut.push({ path: inner, reason: 'cannot be read' })
        continue
      }
      if (!isFolder) files.push(inner)
      else if (name === 'node_modules') leftOut.push({ path: inner, reason: 'a folder of packages' })
      else if (belongsToPage(name, names)) leftOut.push({ path: inner, reason: 'parts of a saved page' })
      else await visit(inner)
    }
  }
}

function belongsToPage(name: string, names: ReadonlySet<string>): boolean {
  const page = /^(.*)(?:_files|\.files)$/.exec(name)?.[1]
  return page !== undefined && (names.has(`${page}.html`) || names.has(`${page}.htm`))
}
