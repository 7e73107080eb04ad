/** A value of a Lua file; tables are maps whose keys are strings, numbers or booleans. */
export type LuaValue = string | number | boolean | null | LuaTable
export type LuaTable = ReadonlyMap<string | number | boolean, LuaValue>

const MOST_DEPTH = 64
const MOST_VALUES = 5_000_000

/**
 * Reads a file that returns one table of plain values, as KOReader keeps its settings (`return { ["title"] = "…" }`).
 * Nothing is ever run: a name, a call or an operation makes it no such file. Strings are UTF-8.
 *
 * Throws `SyntaxError` where it is none.
 */
export function readLuaTable(bytes: Uint8Array): LuaTable {
  // One character a byte: Lua knows bytes alone, and its escapes make parts of characters.
  const reader = new LuaReader(
    Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1'),
  )
  return reader.file()
}

class LuaReader {
  readonly #text: string
  #at = 0
  #values = 0

  constructor(text: string) {
    this.#text = text.startsWith('\xef\xbb\xbf') ? text.slice(3) : text
  }

  file(): LuaTable {
    this.#space()
    if (!this.#take('return')) throw this.#fault()
    this.#space()
    const table = this.#table(0)
    this.#space()
    if (this.#take(';')) this.#space()
    if (this.#at < this.#text.length) throw this.#fault()
    return table
  }

  #table(depth: number): LuaTable {
    if (depth > MOST_DEPTH || !this.#take('{')) throw this.#fault()
    const table = new Map<string | number | boolean, LuaValue>()
    let next = 1
    for (;;) {
      this.#space()
      if (this.#take('}')) return table
      if (++this.#values > MOST_VALUES) throw this.#fault()
      const key = this.#key()
      const value = this.#value(depth + 1)
      if (key === undefined) table.set(next++, value)
      else if (value !== null) table.set(key, value)
      this.#space()
      if (!this.#take(',') && !this.#take(';') && this.#text[this.#at] !== '}') throw this.#fault()
    }
  }

  /** `["key"] =` or `key =`; undefined where the value comes without one. */
  #key(): string | number | boolean | undefined {
    if (this.#text[this.#at] === '[' && !/^\[=*\[/.test(this.#text.slice(this.#at, this.#at + 20))) {
      this.#at++
      this.#space()
      const key = this.#value(MOST_DEPTH + 1)
      this.#space()
      if (!this.#take(']')) throw this.#fault()
      this.#equals()
      if (key === null || typeof key === 'object') throw this.#fault()
      return key
    }
    const name = this.#match(/[A-Za-z_]\w*(?=(?:\s|--[^\n]*\n)*=[^=])/y)
    if (name === undefined) return undefined
    this.#equals()
    return name
  }

  #equals(): void {
    this.#space()
    if (!this.#take('=')) throw this.#fault()
    this.#space()
  }

  #value(depth: number): LuaValue {
    const first = this.#text[this.#at]
    if (first === '{') return this.#table(depth)
    if (first === '"' || first === "'") return this.#quoted(first)
    if (first === '[') return this.#long()
    const word = this.#match(/[A-Za-z_][\w.]*/y)
    if (word !== undefined) {
      if (word === 'true' || word === 'false') return word === 'true'
      if (word === 'nil') return null
      if (word === 'math.huge' || word === 'inf' || word === 'nan') return Number.POSITIVE_INFINITY
      throw this.#fault()
    }
    return this.#number()
  }

  #number(): number {
    const stated = this.#match(/-?(?:0x[\da-f]+|(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?|inf|nan)/iy)
    if (stated === undefined) throw this.#fault()
    // `1/0` and `0/0` are how Lua writes what has no numeral.
    if (this.#match(/\s*\/\s*0(?![\w.])/y) !== undefined) return Number.POSITIVE_INFINITY
    const sign = stated.startsWith('-') ? -1 : 1
    return sign * Number(stated.replace(/^-/, ''))
  }

  #quoted(mark: string): string {
    const parts: string[] = []
    let from = ++this.#at
    for (;;) {
      const code = this.#text[this.#at]
      if (code === undefined || code === '\n') throw this.#fault()
      if (code === mark) break
      if (code === '\\') {
        parts.push(this.#text.slice(from, this.#at), this.#escape())
        from = this.#at
      } else this.#at++
    }
    parts.push(this.#text.slice(from, this.#at))
    this.#at++
    return utf8(parts.join(''))
  }

  #escape(): string {
    this.#at++
    const decimal = this.#match(/\d{1,3}/y)
    if (decimal !== undefined) return String.fromCharCode(Number(decimal) & 0xff)
    const hex = this.#match(/x[\da-f]{2}/iy)
    if (hex !== undefined) return String.fromCharCode(Number.parseInt(hex.slice(1), 16))
    const point = this.#match(/u\{[\da-f]{1,6}\}/iy)
    if (point !== undefined) {
      const value = Number.parseInt(point.slice(2, -1), 16)
      return Buffer.from(value <= 0x10ffff ? String.fromCodePoint(value) : '\uFFFD').toString('latin1')
    }
    if (this.#match(/z\s*/y) !== undefined) return ''
    // A line end within a string is written as a backslash and the line end itself.
    const lineEnd = this.#match(/\r\n|\n|\r/y)
    if (lineEnd !== undefined) return '\n'
    const letter = this.#text[this.#at++]
    const plain = letter === undefined ? undefined : ESCAPES[letter]
    if (plain === undefined) throw this.#fault()
    return plain
  }

  #long(): string {
    const open = this.#match(/\[=*\[/y)
    if (open === undefined) throw this.#fault()
    const close = `]${'='.repeat(open.length - 2)}]`
    const end = this.#text.indexOf(close, this.#at)
    if (end === -1) throw this.#fault()
    const body = this.#text.slice(this.#at, end).replace(/^\r?\n/, '')
    this.#at = end + close.length
    return utf8(body)
  }

  /** Spaces and comments. */
  #space(): void {
    for (;;) {
      this.#match(/\s+/y)
      if (!this.#text.startsWith('--', this.#at)) return
      this.#at += 2
      if (/^\[=*\[/.test(this.#text.slice(this.#at, this.#at + 20))) this.#long()
      else this.#match(/[^\n]*/y)
    }
  }

  #take(word: string): boolean {
    if (!this.#text.startsWith(word, this.#at)) return false
    this.#at += word.length
    return true
  }

  #match(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.#at
    const found = pattern.exec(this.#text)?.[0]
    if (found === undefined) return undefined
    this.#at += found.length
    return found
  }

  #fault(): SyntaxError {
    return new SyntaxError(`No plain Lua table at ${this.#at}`)
  }
}

const ESCAPES: Readonly<Record<string, string>> = {
  n: '\n',
  t: '\t',
  r: '\r',
  a: '\x07',
  b: '\b',
  f: '\f',
  v: '\v',
  '\\': '\\',
  '"': '"',
  "'": "'",
  '/': '/',
}

const utf8 = (bytes: string): string => Buffer.from(bytes, 'latin1').toString('utf8')
