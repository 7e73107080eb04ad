/** The POSIX ustar format (IEEE Std 1003.1, pax, "ustar Interchange Format"), as far as a backup needs it: regular files. */

const BLOCK = 512
/** Largest size that eleven octal digits hold; above it the size is written in base 256, as GNU tar does. */
const MOST_OCTAL = 0o77777777777

export interface TarEntry {
  /** Path with forward slashes, shorter than 100 bytes. */
  name: string
  /** In bytes. */
  size: number
  content: AsyncIterable<Uint8Array>
}

/** The bytes of an archive. Throws where an entry's content has another size than it said. */
export async function* writeTar(
  entries: AsyncIterable<TarEntry>,
  modified: Date,
): AsyncGenerator<Uint8Array> {
  for await (const { name, size, content } of entries) {
    yield headerOf(name, size, modified)
    let written = 0
    for await (const chunk of content) {
      written += chunk.length
      yield chunk
    }
    if (written !== size) throw new Error(`${name} changed while it was written`)
    yield Buffer.alloc(padding(size))
  }
  yield Buffer.alloc(2 * BLOCK)
}

/**
 * The files of an archive in their order. An entry's content must be read before the next entry is asked for; what was left
 * of it is passed over. Throws on what is no whole archive.
 */
export async function* readTar(source: AsyncIterable<Uint8Array>): AsyncGenerator<TarEntry> {
  const input = new Input(source)
  for (;;) {
    const header = await input.take(BLOCK)
    if (header.every((byte) => byte === 0)) return
    const size = sizeIn(header)
    if (checksumOf(header) !== octalIn(header, 148, 8)) throw new Error('not a tar archive')
    const content = input.upTo(size)
    const isFile = header[156] === 0x30 || header[156] === 0
    if (isFile) yield { name: nameIn(header), size, content }
    for await (const _chunk of content);
    await input.take(padding(size))
  }
}

class Input {
  readonly #chunks: AsyncIterator<Uint8Array>
  #rest: Uint8Array = new Uint8Array()

  constructor(source: AsyncIterable<Uint8Array>) {
    this.#chunks = source[Symbol.asyncIterator]()
  }

  async #more(): Promise<Uint8Array> {
    while (this.#rest.length === 0) {
      const { done, value } = await this.#chunks.next()
      if (done) throw new Error('the archive ends too early')
      this.#rest = value
    }
    return this.#rest
  }

  /** At most `most` bytes, at least one. */
  async #some(most: number): Promise<Uint8Array> {
    const rest = await this.#more()
    const part = rest.subarray(0, most)
    this.#rest = rest.subarray(part.length)
    return part
  }

  async take(length: number): Promise<Buffer> {
    const parts: Uint8Array[] = []
    for (let left = length; left > 0; left -= parts.at(-1)!.length) parts.push(await this.#some(left))
    return Buffer.concat(parts)
  }

  async *upTo(length: number): AsyncGenerator<Uint8Array> {
    let left = length
    while (left > 0) {
      const part = await this.#some(left)
      left -= part.length
      yield part
    }
  }
}

function headerOf(name: string, size: number, modified: Date): Buffer {
  const header = Buffer.alloc(BLOCK)
  if (header.write(name, 0, 100, 'utf8') !== Buffer.byteLength(name))
    throw new Error(`${name} is too long a name`)
  header.write('0000600\0', 100)
  header.write('0000000\0', 108)
  header.write('0000000\0', 116)
  if (size <= MOST_OCTAL) header.write(`${size.toString(8).padStart(11, '0')}\0`, 124)
  else {
    header.writeBigUInt64BE(BigInt(size), 128)
    header[124] = 0x80
  }
  header.write(
    `${Math.floor(modified.getTime() / 1000)
      .toString(8)
      .padStart(11, '0')}\0`,
    136,
  )
  header.write('0', 156)
  header.write('ustar\x0000', 257)
  header.write(`${checksumOf(header).toString(8).padStart(6, '0')}\0 `, 148)
  return header
}

/** Sum of the bytes, those of the checksum itself as spaces. */
function checksumOf(header: Uint8Array): number {
  let sum = 0
  for (const [at, byte] of header.entries()) sum += at >= 148 && at < 156 ? 0x20 : byte
  return sum
}

const octalIn = (header: Buffer, at: number, length: number): number =>
  Number.parseInt(header.toString('latin1', at, at + length).replaceAll(/[\0 ]/g, '') || '0', 8)

const sizeIn = (header: Buffer): number =>
  (header[124]! & 0x80) === 0 ? octalIn(header, 124, 12) : Number(header.readBigUInt64BE(128))

function nameIn(header: Buffer): string {
  const text = (at: number, length: number) => header.toString('utf8', at, at + length).replace(/\0.*$/s, '')
  const prefix = text(345, 155)
  return prefix ? `${prefix}/${text(0, 100)}` : text(0, 100)
}

const padding = (size: number): number => (BLOCK - (size % BLOCK)) % BLOCK
