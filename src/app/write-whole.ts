import { randomBytes } from 'node:crypto'
import { createWriteStream } from 'node:fs'
import { chmod, mkdir, rename, rm, stat } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'

/**
 * Writes a file that appears whole or not at all, in the place of one that is there, whose rights it takes over. Answers with its
 * bytes. `check` may throw when everything is written and nothing is replaced yet. Throws what the file system and the content
 * throw; nothing half-written stays.
 */
export async function writeWhole(
  path: string,
  content: AsyncIterable<string | Uint8Array> | Iterable<string | Uint8Array>,
  { signal, check }: { signal?: AbortSignal | undefined; check?: () => Promise<void> } = {},
): Promise<number> {
  const folder = dirname(path)
  await mkdir(folder, { recursive: true })
  // Short, whatever the name is: a name may have 255 bytes.
  const partial = join(folder, `.${basename(path).slice(0, 20)}.${randomBytes(6).toString('hex')}.tmp`)
  try {
    const present = await stat(path).catch(() => undefined)
    await pipeline(
      Readable.from(content, { objectMode: true }),
      createWriteStream(partial, { flags: 'wx', flush: true }),
      ...(signal ? [{ signal }] : []),
    )
    if (present) await chmod(partial, present.mode & 0o7777)
    const { size } = await stat(partial)
    await check?.()
    await rename(partial, path)
    return size
  } finally {
    await rm(partial, { force: true })
  }
}
