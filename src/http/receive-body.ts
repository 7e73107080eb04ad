import { mkdtemp, open, rm, type FileHandle } from 'node:fs/promises'
import type { IncomingMessage } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Failure } from '../core/failure.ts'

/** A body that has arrived whole. */
export interface Received {
  /** Bytes. */
  size: number
  /** All of it, in memory from now on. */
  bytes(): Promise<Buffer>
  /** Lets go of it; has to be called. */
  discard(): Promise<void>
}

/** More than this waits on the disk: whoever sends slowly takes no memory. */
const IN_MEMORY = 1024 * 1024
const MOST_CHUNKS = 1024

/**
 * Takes a body in as it comes. Undefined where it is larger than `limit` bytes: of that nothing is kept, and what is left of it
 * was not read. Throws `disk_full`, `write_failed`, and ECONNRESET where the client left.
 */
export async function receiveBody(req: IncomingMessage, limit: number): Promise<Received | undefined> {
  if (Number(req.headers['content-length'] ?? 0) > limit) return undefined
  let chunks: Buffer[] = []
  let size = 0
  let waiting = 0
  let file: TemporaryFile | undefined
  try {
    // Leaving the loop early would otherwise end the connection before there is an answer.
    for await (const chunk of req.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
      size += chunk.length
      if (size > limit) {
        await file?.discard()
        return undefined
      }
      chunks.push(chunk)
      waiting += chunk.length
      // A body that comes byte by byte would take a hundred times its size.
      if (chunks.length >= MOST_CHUNKS) chunks = [Buffer.concat(chunks, waiting)]
      if (waiting <= IN_MEMORY) continue
      file ??= await openTemporary()
      await file.add(Buffer.concat(chunks, waiting))
      chunks = []
      waiting = 0
    }
    if (file && waiting > 0) await file.add(Buffer.concat(chunks, waiting))
    if (!req.complete) throw Object.assign(new Error('The client left'), { code: 'ECONNRESET' })
  } catch (error) {
    await file?.discard()
    throw error
  }
  const whole = file
  return {
    size,
    bytes: async () => (whole ? await whole.read(size) : Buffer.concat(chunks, size)),
    discard: async () => void (await whole?.discard()),
  }
}

interface TemporaryFile {
  add(bytes: Buffer): Promise<void>
  read(size: number): Promise<Buffer>
  discard(): Promise<void>
}

async function openTemporary(): Promise<TemporaryFile> {
  const folder = await mkdtemp(join(tmpdir(), 'commonplace-upload-')).catch(failWriting)
  const path = join(folder, 'body')
  const remove = () => rm(folder, { recursive: true, force: true })
  let handle: FileHandle
  try {
    handle = await open(path, 'wx+', 0o600)
  } catch (error) {
    await remove()
    return failWriting(error)
  }
  // A process that is killed leaves nothing, where the system lets a file be used that has no name any more.
  await remove().catch(() => undefined)
  return {
    async add(bytes) {
      await handle.appendFile(bytes).catch(failWriting)
    },
    async read(size) {
      const bytes = Buffer.allocUnsafeSlow(size)
      for (let at = 0; at < size;) {
        const { bytesRead } = await handle.read(bytes, at, size - at, at)
        if (bytesRead === 0) throw new Error('The file is shorter than what was written into it')
        at += bytesRead
      }
      return bytes
    },
    async discard() {
      await handle.close()
      await remove()
    },
  }
}

function failWriting(cause: unknown): never {
  const full =
    cause instanceof Error && 'code' in cause && (cause.code === 'ENOSPC' || cause.code === 'EDQUOT')
  throw full
    ? new Failure('disk_full', 'There is no room left on the disk for the file.', {
        hint: 'Try again later, or a smaller file. Nothing was stored.',
        cause,
      })
    : new Failure('write_failed', 'The file could not be taken in.', {
        hint: 'Try again later. Nothing was stored.',
        cause,
      })
}
