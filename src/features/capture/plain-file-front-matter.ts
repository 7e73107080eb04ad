/** What the lines before a Markdown text state, by lower-case key; a list has several values. */
export type FrontMatter = Map<string, string[]>

/** Longest front matter in lines. */
const LONGEST = 200

/**
 * Parts YAML (`---`) or TOML (`+++`) front matter from the body, as note-taking programs and site generators write it.
 * Of both languages the flat part is read: `key: value`, quoted strings, lists in either form, folded text. A text that
 * merely begins with a rule has no front matter and stays whole.
 */
export function splitFrontMatter(text: string): { matter: FrontMatter; body: string } {
  const lines = text.split('\n')
  const fence = lines[0]?.trimEnd()
  const none = { matter: new Map(), body: text }
  if (fence !== '---' && fence !== '+++') return none
  const isEnd = (line: string): boolean => {
    const mark = line.trimEnd()
    return mark === fence || (fence === '---' && mark === '...')
  }
  const end = lines.findIndex((line, index) => index > 0 && index <= LONGEST && isEnd(line))
  if (end < 0) return none
  const stated = lines.slice(1, end)
  const first = stated.find((line) => line.trim() !== '' && !line.startsWith('#'))
  if (first !== undefined && !keyValue(first, fence)) return none
  return { matter: read(stated, fence), body: lines.slice(end + 1).join('\n') }
}

function keyValue(line: string, fence: string): { key: string; value: string } | undefined {
  const match = (fence === '---' ? /^([\w.-]+)\s*:(?:\s+(.*))?$/u : /^([\w.-]+)\s*=\s*(.*)$/u).exec(
    line.trimEnd(),
  )
  return match?.[1] === undefined
    ? undefined
    : { key: match[1].toLowerCase(), value: (match[2] ?? '').trim() }
}

function read(lines: readonly string[], fence: string): FrontMatter {
  const matter: FrontMatter = new Map()
  let key: string | undefined
  let isFolded = false
  for (const line of lines) {
    const entry = keyValue(line, fence)
    if (entry) {
      key = entry.key
      isFolded = /^[>|][+-]?\d?$/u.test(entry.value)
      matter.set(key, isFolded ? [] : valuesOf(entry.value))
      continue
    }
    const values = key === undefined ? undefined : matter.get(key)
    if (!values || line.trim() === '') continue
    const item = /^\s*-\s+(.*)$/u.exec(line)?.[1]
    if (isFolded) values[0] = values[0] === undefined ? line.trim() : `${values[0]} ${line.trim()}`
    else if (item !== undefined) values.push(...valuesOf(nameIn(item)))
  }
  return matter
}

/** `- name: Jane Roe` names a person by a key of its own. */
function nameIn(item: string): string {
  return /^name\s*:\s+(.*)$/u.exec(item)?.[1] ?? item
}

function valuesOf(value: string): string[] {
  const list = /^\[(.*)\]$/u.exec(value)?.[1]
  if (list === undefined) return [unquoted(value)].filter((text) => text !== '')
  return (list.match(/"(?:[^"\\]|\\.)*"|'(?:[^']|'')*'|[^,]+/gu) ?? [])
    .map((part) => unquoted(part.trim()))
    .filter((text) => text !== '')
}

function unquoted(value: string): string {
  if (/^"(?:[^"\\]|\\.)*"/u.test(value)) {
    const inner = /^"((?:[^"\\]|\\.)*)"/u.exec(value)?.[1] ?? ''
    return inner.replaceAll(/\\(.)/gu, (_all, sign: string) => (sign === 'n' ? ' ' : sign)).trim()
  }
  const single = /^'((?:[^']|'')*)'/u.exec(value)?.[1]
  if (single !== undefined) return single.replaceAll("''", "'").trim()
  // A comment begins with a space and a hash.
  return value.replace(/\s+#.*$/u, '').trim()
}
