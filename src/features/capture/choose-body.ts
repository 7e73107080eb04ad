import { isMatter, isProse, readBlock } from './article-block.ts'
import type { ReadBlock } from './article-block.ts'
import { trimBlocks } from './article-trim.ts'
import type { PageFacts } from './article-trim.ts'
import type { CleanBlock } from './clean-tree-figures.ts'

export interface Body {
  method: 'readability' | 'defuddle'
  blocks: CleanBlock[]
}

/** Share of one reading's words that the other must hold for the two to be of the same article. */
const SAME_ARTICLE = 0.5

/**
 * Chooses the article's body from two independent readings of the page. Readability's is taken unless it missed most of
 * the text that Defuddle found; where both see the same article, what only one of them has is kept between paragraphs if
 * it is text itself, and dropped above, below and elsewhere: their faults differ, their agreement is the article.
 */
export function chooseBody(readability: CleanBlock[], defuddle: CleanBlock[], facts: PageFacts): Body {
  const first = readability.map(readBlock)
  const second = defuddle.map(readBlock)
  const prose = (blocks: ReadBlock[]) => sum(blocks.filter((block) => isProse(block) || isMatter(block)))
  const isMissed = prose(second) > 1.5 * prose(first) && sum(second) > 1.2 * sum(first)
  const method = first.length === 0 || (second.length > 0 && isMissed) ? 'defuddle' : 'readability'
  const [chosen, other] = method === 'defuddle' ? [second, first] : [first, second]
  const agreed = keepAgreed(chosen, other)
  return { method, blocks: trimBlocks(agreed, facts) }
}

function sum(blocks: readonly ReadBlock[]): number {
  let words = 0
  // Scripts without spaces make one word of a clause: their letters count instead.
  for (const block of blocks) words += Math.max(block.words.length, block.text.length / 10)
  return words
}

function keepAgreed(chosen: readonly ReadBlock[], other: readonly ReadBlock[]): ReadBlock[] {
  const isConfirmed = confirmer(other)
  const confirmed = chosen.map((block) => isConfirmed(block))
  const text = chosen.filter(({ role }) => role === 'text')
  const agreement = sum(text.filter((block) => isConfirmed(block))) / (sum(text) || 1)
  if (agreement < SAME_ARTICLE) return [...chosen]
  const isEdge = (block: ReadBlock, at: number) =>
    confirmed[at] === true && block.role === 'text' && block.words.length >= 3
  const start = chosen.findIndex(isEdge)
  const end = chosen.findLastIndex(isEdge)
  return chosen.filter((block, at) => {
    if (block.role !== 'text' || confirmed[at] || isMatter(block) || block.words.length === 0) return true
    const isInside = at > start && at < end
    // A short line over code or a table names it.
    const next = chosen[at + 1]
    const isLabel = next !== undefined && isMatter(next)
    return isInside && (isProse(block) || isLabel || /^(?:blockquote|heading)$/.test(block.node.type))
  })
}

/** Tells whether another reading holds a block: half of its runs of four words, or all of a shorter one. */
function confirmer(other: readonly ReadBlock[]): (block: ReadBlock) => boolean {
  const runs = new Set<string>()
  for (const { words } of other) for (const run of runsOf(words)) runs.add(run)
  const all = ` ${other.map(({ words }) => words.join(' ')).join(' | ')} `
  return ({ words }) => {
    if (words.length < 4) return words.length > 0 && all.includes(` ${words.join(' ')} `)
    let found = 0
    const mine = runsOf(words)
    for (const run of mine) if (runs.has(run)) found++
    return found >= mine.length / 2
  }
}

function runsOf(words: readonly string[]): string[] {
  const runs = []
  for (let at = 0; at + 4 <= words.length; at++) runs.push(words.slice(at, at + 4).join(' '))
  return runs
}
