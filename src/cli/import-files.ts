import { open, readFile, stat } from 'node:fs/promises'
import { basename } from 'node:path'
import { Failure } from '../core/failure.ts'
import type { ArchiveBytes } from '../features/exports/read-zip.ts'
import { detectFormat } from '../features/imports/formats.ts'

/** Larger than any export known. */
const MOST_BYTES = 2 ** 30

/** What is one import: a file, or several that belong together. */
export interface FileGroup {
  /** As it was typed; of several, with commas between. */
  given: string
  name: string
  bytes: Uint8Array
  beside: Uint8Array[]
  failure?: Failure
}

/** The bytes of a file. Throws `file_not_found`, `unsupported_type` (folders, pipes and devices), `too_large`. */
export async function readImportFile(path: string): Promise<Uint8Array> {
  const facts = await stat(path).catch((cause: unknown) => {
    throw unreadable(path, cause)
  })
  if (!facts.isFile()) {
    throw new Failure(
      'unsupported_type',
      `${path} is ${facts.isDirectory() ? 'a folder' : 'no file that can be read whole'}.`,
      {
        hint: 'Give the file itself; several can be given at once.',
      },
    )
  }
  if (facts.size > MOST_BYTES) {
    throw new Failure('too_large', `${path} has ${Math.round(facts.size / 1e6)} MB.`, {
      hint: 'Export in parts, such as one year at a time, and import them one by one.',
    })
  }
  return readFile(path).catch((cause: unknown) => {
    throw unreadable(path, cause)
  })
}

const unreadable = (path: string, cause: unknown): Failure =>
  new Failure('file_not_found', `There is no file ${path}, or it cannot be read.`, {
    hint: 'Check the path, and that you may read it.',
    cause,
  })

/** A file to be read in parts, for as long as `work` takes. */
export async function withFile<T>(path: string, work: (file: ArchiveBytes) => Promise<T>): Promise<T> {
  const handle = await open(path).catch((cause: unknown) => {
    throw unreadable(path, cause)
  })
  try {
    const { size } = await handle.stat()
    return await work({
      size,
      async read(start, end) {
        const buffer = Buffer.alloc(end - start)
        const { bytesRead } = await handle.read(buffer, 0, buffer.length, start)
        return buffer.subarray(0, bytesRead)
      },
    })
  } finally {
    await handle.close()
  }
}

/** Files as they are imported: those of a format that keeps its things in several together, each other one by itself. */
export function groupFiles(files: readonly { path: string; bytes: Uint8Array }[]): FileGroup[] {
  const groups: FileGroup[] = []
  const together = new Map<string, FileGroup>()
  for (const { path, bytes } of files) {
    const own: FileGroup = { given: path, name: basename(path), bytes, beside: [] }
    const format = formatOf(bytes)
    const group = format?.isOneOfSeveral ? together.get(format.id) : undefined
    if (group) {
      group.beside.push(bytes)
      group.given += `, ${path}`
      group.name += `, ${own.name}`
      continue
    }
    if (format?.isOneOfSeveral) together.set(format.id, own)
    groups.push(own)
  }
  return groups
}

/** Undefined where it is none: the import itself says so. */
function formatOf(bytes: Uint8Array) {
  try {
    return detectFormat(bytes)
  } catch {
    return undefined
  }
}
