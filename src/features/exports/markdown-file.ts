import { createHash } from 'node:crypto'
import type { MarkdownBlock, SourceMarkdown } from './source-markdown.ts'
import { yamlValue } from './yaml-value.ts'

// A Markdown file of one source, and the same file brought up to date. What is ours stands between two comments that no program
// shows; everything else belongs to whoever wrote it, and stays as it is, byte for byte.

/** What a file is known by, wherever it lies and whatever it is called. */
const ID = 'commonplace_id'
/** Digest of the facts that were written last: while they stay, what stands in the file stays too. */
const WRITTEN = 'commonplace_facts'

const BEGIN = /^<!-- commonplace (\d{1,16}) ([0-9a-f]{16}) -->$/
const ENDS = /^<!-- \/commonplace (\d{1,16}) -->$/
const NOTES = '## Notes'
const HIGHLIGHTS = '## Highlights'

/** A new file of a source. */
export function composeMarkdown(source: SourceMarkdown): string {
  const parts = [frontmatterOf(source), blockText(source.head)]
  if (source.notes.length > 0) parts.push(NOTES, ...source.notes.map(blockText))
  if (source.highlights.length > 0) parts.push(HIGHLIGHTS, ...source.highlights.map(blockText))
  return `${parts.join('\n\n')}\n`
}

const factLine = ([name, value]: readonly [string, unknown]): string => `${name}: ${yamlValue(value)}`

function frontmatterOf(source: SourceMarkdown): string {
  return ['---', ...ownLines(source).map(([, line]) => line), '---'].join('\n')
}

function ownLines({ id, facts }: SourceMarkdown): [name: string, line: string][] {
  const lines = facts.map((fact): [string, string] => [fact[0], factLine(fact)])
  const written = digest(lines.map(([, line]) => line).join('\n'))
  return [...lines, [ID, factLine([ID, String(id)])], [WRITTEN, factLine([WRITTEN, written])]]
}

const digest = (text: string): string => createHash('sha256').update(text).digest('hex').slice(0, 16)

/** Of what stands between the comments, whatever program has ended its lines. */
const digestOf = (body: string): string =>
  digest(
    body
      .split(/\r?\n/)
      .map((line) => line.trimEnd())
      .join('\n')
      .trim(),
  )

const blockText = ({ id, body }: MarkdownBlock): string =>
  `<!-- commonplace ${id} ${digestOf(body)} -->\n${body}\n<!-- /commonplace ${id} -->`

/** The source that a file belongs to, by what stands at its top; undefined for a file of somebody else's. */
export function sourceIdIn(top: string): number | undefined {
  const lines = top.replace(/^\ufeff/, '').split(/\r?\n/)
  const end =
    lines[0]?.trimEnd() === '---' ? lines.findIndex((line, n) => n > 0 && line.trimEnd() === '---') : -1
  const named = lines
    .slice(0, Math.max(end, 0))
    .map((line) => /^commonplace_id:\s*["']?(\d{1,16})["']?\s*$/.exec(line)?.[1])
    .find((id) => id !== undefined)
  // Whoever took the top away has left the block of the source.
  const id = named ?? lines.map((line) => BEGIN.exec(line.trim())?.[1]).find((found) => found !== undefined)
  return id === undefined ? undefined : Number(id)
}

export interface MergedMarkdown {
  text: string
  /** Blocks that were written over though somebody had changed them: what stood there now stands below them. */
  movedOut: number
  /** Blocks of what is no longer in the library that stay because somebody has changed them. */
  keptGone: number
}

type Segment = { text: string } | Block

interface Block {
  id: number
  digest: string
  body: string
  raw: string
}

const isBlock = (segment: Segment | undefined): segment is Block => segment !== undefined && 'id' in segment

/** Brings a file up to what the library has, and touches nothing else in it. */
export function mergeMarkdown(before: string, source: SourceMarkdown): MergedMarkdown {
  const mark = before.startsWith('\ufeff') ? '\ufeff' : ''
  const breaks = before.match(/\r?\n/g) ?? []
  const isDos = breaks.filter((end) => end === '\r\n').length * 2 > breaks.length
  const { front, rest } = splitFront(before.slice(mark.length))
  const segments = segmentsOf(rest)
  const merged = { movedOut: 0, keptGone: 0 }
  const sections: readonly (readonly [heading: string | undefined, blocks: readonly MarkdownBlock[]])[] = [
    [undefined, [source.head]],
    [NOTES, source.notes],
    [HIGHLIGHTS, source.highlights],
  ]
  const end = isDos ? '\r\n' : '\n'
  const ours = (text: string): string => (isDos ? text.replaceAll(/\r?\n/g, '\r\n') : text)
  const wanted = new Set(sections.flatMap(([, blocks]) => blocks.map(({ id }) => id)))
  for (let at = segments.length - 1; at >= 0; at--) {
    const segment = segments[at]
    if (!isBlock(segment) || wanted.has(segment.id)) continue
    if (digestOf(segment.body) === segment.digest) removeAt(segments, at)
    else merged.keptGone++
  }
  for (const [heading, blocks] of sections) {
    // Everything that is there already is known before anything new is put beside it.
    const standing = new Set(segments.filter(isBlock).map(({ id }) => id))
    for (const [n, block] of blocks.entries()) {
      const at = segments.findIndex((segment) => isBlock(segment) && segment.id === block.id)
      if (at >= 0) {
        if (updateAt(segments, at, block, { ours, end })) merged.movedOut++
        continue
      }
      const next = blocks.slice(n + 1).find(({ id }) => standing.has(id))
      insert(segments, toBlock(block, ours), { heading, next: next?.id, previous: blocks[n - 1]?.id, end })
    }
  }
  const text = segments.map((segment) => (isBlock(segment) ? segment.raw : segment.text)).join('')
  return { text: mark + mergeFront(front, source, end) + text, ...merged }
}

const toBlock = (block: MarkdownBlock, ours: (text: string) => string): Block => ({
  id: block.id,
  digest: digestOf(block.body),
  body: block.body,
  raw: ours(blockText(block)),
})

/** Whether what somebody had changed was moved out below. */
function updateAt(
  segments: Segment[],
  at: number,
  block: MarkdownBlock,
  { ours, end }: { ours: (text: string) => string; end: string },
): boolean {
  const present = segments[at]
  if (!isBlock(present)) return false
  const fresh = toBlock(block, ours)
  if (fresh.digest === present.digest) return false
  const now = digestOf(present.body)
  const isTouched = now !== present.digest && now !== fresh.digest
  segments[at] = fresh
  if (isTouched) segments.splice(at + 1, 0, { text: `${end}${end}${present.body}` })
  return isTouched
}

/** Takes a block away with the empty line behind it. */
function removeAt(segments: Segment[], at: number): void {
  segments.splice(at, 1)
  const after = segments[at]
  const before = segments[at - 1]
  if (after && !isBlock(after) && before && !isBlock(before) && /\n\r?\n$/.test(before.text))
    segments[at] = { text: after.text.replace(/^(?:\r?\n){1,2}/, '') }
}

interface Beside {
  heading: string | undefined
  /** The block that comes after it and stands there already. */
  next: number | undefined
  previous: number | undefined
  end: string
}

/** Before the block that follows in the order of reading; else behind the one before and what was written to it. */
function insert(segments: Segment[], block: Block, { heading, next, previous, end }: Beside): void {
  const put = (at: number, ...parts: Segment[]): void => void segments.splice(at, 0, ...parts)
  const gap = { text: end + end }
  const find = (id: number | undefined): number =>
    id === undefined ? -1 : segments.findIndex((segment) => isBlock(segment) && segment.id === id)
  const following = find(next)
  if (following >= 0) return put(following, block, gap)
  if (heading === undefined) return put(0, block, gap)
  const preceding = find(previous)
  if (preceding >= 0) return putBehind(segments, preceding, block, end)
  const headed = segments.findIndex(
    (segment) => !isBlock(segment) && lineAt(segment.text, heading) !== undefined,
  )
  const place = headed < 0 ? undefined : segments[headed]
  if (place && !isBlock(place)) {
    const at = lineAt(place.text, heading)!
    segments.splice(headed, 1, { text: place.text.slice(0, at) + end + end }, block, {
      text: place.text.slice(at).replace(/^(?:\r?\n)*/, end + end),
    })
    return
  }
  if (heading === NOTES) {
    const head = segments.findIndex(isBlock)
    return put(head + 1, { text: `${end}${end}${heading}${end}${end}` }, block)
  }
  const last = segments.at(-1)
  if (last && !isBlock(last)) last.text = withoutEnds(last.text)
  put(segments.length, { text: `${end}${end}${heading}${end}${end}` }, block, { text: end })
}

/** Without the line ends at its own end. */
const withoutEnds = (text: string): string => text.replace(/(?:\r?\n)+$/, '')

/** Where a line of just these words ends. */
function lineAt(text: string, words: string): number | undefined {
  const found = new RegExp(`^${words}[ \\t]*$`, 'm').exec(text.replaceAll('\r', ' '))
  return found ? found.index + words.length : undefined
}

/** What stands between a block and the next heading or block belongs to it. */
function putBehind(segments: Segment[], at: number, block: Block, end: string): void {
  const after = segments[at + 1]
  if (after === undefined || isBlock(after)) {
    segments.splice(at + 1, 0, { text: end + end }, block, { text: after === undefined ? end : end + end })
    return
  }
  const heading = /^#{1,6}\s/m.exec(after.text)
  const own = heading ? after.text.slice(0, heading.index) : after.text
  const rest = heading ? after.text.slice(heading.index) : ''
  const kept = withoutEnds(own)
  segments.splice(at + 1, 1, { text: `${own.slice(0, kept.length)}${end}${end}` }, block, {
    text: rest === '' ? own.slice(kept.length) || end : `${end}${end}${rest}`,
  })
}

function segmentsOf(text: string): Segment[] {
  const segments: Segment[] = []
  const known = new Set<number>()
  const lines = text.split(/(?<=\n)/)
  let plain = ''
  for (let at = 0; at < lines.length; at++) {
    const begin = BEGIN.exec(lines[at]!.trim())
    const last = begin ? endOf(lines, at, begin[1]!) : undefined
    const id = Number(begin?.[1])
    // One that was copied by hand is its maker's own from then on.
    if (!begin || last === undefined || known.has(id)) {
      plain += lines[at]
      continue
    }
    known.add(id)
    if (plain !== '') segments.push({ text: plain })
    const closing = lines[last]!
    const bare = closing.replace(/\r?\n$/, '')
    segments.push({
      id,
      digest: begin[2]!,
      body: lines
        .slice(at + 1, last)
        .join('')
        .replace(/\r?\n$/, ''),
      raw: lines.slice(at, last).join('') + bare,
    })
    plain = closing.slice(bare.length)
    at = last
  }
  if (plain !== '') segments.push({ text: plain })
  return segments
}

/** The line that ends a block; undefined where another begins before it. */
function endOf(lines: readonly string[], begin: number, id: string): number | undefined {
  for (let at = begin + 1; at < lines.length; at++) {
    const line = lines[at]!.trim()
    if (BEGIN.test(line)) return undefined
    const found = ENDS.exec(line)
    if (found) return found[1] === id ? at : undefined
  }
  return undefined
}

interface Front {
  /** The lines that it stands between, and its own, all with their ends. */
  open: string
  lines: string[]
  close: string
}

function splitFront(text: string): { front: Front | undefined; rest: string } {
  const lines = text.split(/(?<=\n)/)
  if (lines[0]?.trimEnd() !== '---') return { front: undefined, rest: text }
  const end = lines.findIndex((line, n) => n > 0 && line.trimEnd() === '---')
  if (end < 0) return { front: undefined, rest: text }
  const [open = ''] = lines
  return {
    front: { open, lines: lines.slice(1, end), close: lines[end] ?? '' },
    rest: lines.slice(end + 1).join(''),
  }
}

/** Our lines in the place of ours; those of others, and ours while what they say has not changed, stay. */
function mergeFront(front: Front | undefined, source: SourceMarkdown, end: string): string {
  const own = ownLines(source)
  if (!front) return ''
  const written = own.find(([name]) => name === WRITTEN)?.[1]
  const whole = (lines: readonly string[]): string => [front.open, ...lines, front.close].join('')
  if (
    front.lines.some((line) => line.trimEnd() === written || line.trimEnd() === written?.replaceAll('"', ''))
  )
    return whole(front.lines)
  const groups: { name: string | undefined; lines: string[] }[] = []
  for (const line of front.lines) {
    const name = /^([^\s#:'"-][^:]*?)\s*:(?:\s|$)/.exec(line)?.[1]
    if (name !== undefined || groups.length === 0) groups.push({ name, lines: [line] })
    else groups.at(-1)!.lines.push(line)
  }
  const present = new Set(groups.map(({ name }) => name))
  const fresh = new Map(own)
  const ours = new Set([...FACTS, ID, WRITTEN])
  const kept = groups.flatMap(({ name, lines }) => {
    if (name === undefined || !ours.has(name)) return lines
    const line = fresh.get(name)
    return line === undefined ? [] : [line + end]
  })
  return whole([...kept, ...own.filter(([name]) => !present.has(name)).map(([, line]) => line + end)])
}

/** Every name that our own lines may have. */
const FACTS = [
  'title',
  'authors',
  'type',
  'url',
  'site',
  'published',
  'publisher',
  'language',
  'isbn',
  'tags',
  'saved',
]
