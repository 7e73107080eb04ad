import type { TimedCue } from './caption-cues.ts'

/** Cues that are shown no longer than this only hold what was there: seconds. */
const HOLD = 0.06
/** A gap up to which one cue follows on another: seconds. */
const GAP = 0.1

/**
 * Cues without what is shown twice and said once. Automatic captions roll: each cue shows the line before it again, above the
 * new one, with a cue between them that holds both; live captions grow: each repeats the one before with a word more. A file
 * is taken to do so only where many of its cues do, since people, and songs, say things twice. What stands twice at the same
 * moment is there once.
 */
export function withoutRepeats(cues: readonly TimedCue[]): TimedCue[] {
  const single = cues.filter((cue, index) => {
    const before = cues[index - 1]
    return before === undefined || before.start !== cue.start || textOf(before) !== textOf(cue)
  })
  if (isRolling(single)) return unrolled(single)
  return isGrowing(single) ? ungrown(single) : single
}

const textOf = ({ lines, speaker = '' }: TimedCue): string => `${speaker}\n${lines.join('\n')}`

/** How many of the first lines of a cue are the last ones of the cue before, which it follows on. */
function rolledLines(before: TimedCue | undefined, cue: TimedCue): number {
  if (before === undefined || !followsOn(before, cue)) return 0
  for (let count = Math.min(before.lines.length, cue.lines.length); count > 0; count--) {
    const shown = before.lines.slice(-count)
    if (shown.every((line, index) => line === cue.lines[index])) return count
  }
  return 0
}

const followsOn = (before: TimedCue, cue: TimedCue): boolean =>
  before.end === undefined || cue.start <= before.end + GAP

const isHold = ({ start, end }: TimedCue): boolean => end !== undefined && end - start <= HOLD

function isRolling(cues: readonly TimedCue[]): boolean {
  const rolls = cues.filter((cue, index) => rolledLines(cues[index - 1], cue) > 0)
  const rolled = rolls.filter((cue) => cue.lines.length > 1 || isHold(cue))
  if (rolled.length === 0 || rolled.length < 0.3 * (cues.length - 1)) return false
  const isHeld = rolled.some(isHold)
  const different = new Set(rolled.flatMap(({ lines }) => lines)).size
  return isHeld
    ? different > 1
    : rolled.length > 1 && different > 2 && rolled.length >= 0.5 * (cues.length - 1)
}

function unrolled(cues: readonly TimedCue[]): TimedCue[] {
  return cues.flatMap((cue, index) => {
    const lines = cue.lines.slice(rolledLines(cues[index - 1], cue))
    return lines.length > 0 ? [{ ...cue, lines }] : []
  })
}

const wordsOf = ({ lines }: TimedCue): string => lines.join(' ')

const grows = (before: TimedCue | undefined, cue: TimedCue): boolean =>
  before !== undefined && followsOn(before, cue) && wordsOf(cue).startsWith(`${wordsOf(before)} `)

function isGrowing(cues: readonly TimedCue[]): boolean {
  const growing = cues.filter((cue, index) => grows(cues[index - 1], cue)).length
  return growing > 2 && growing >= 0.5 * (cues.length - 1)
}

function ungrown(cues: readonly TimedCue[]): TimedCue[] {
  return cues.map((cue, index) => {
    const before = cues[index - 1]
    if (before === undefined || !grows(before, cue)) return cue
    return { ...cue, lines: [wordsOf(cue).slice(wordsOf(before).length + 1)] }
  })
}
