import { foldText, type Folded } from './fold.ts'

/** What stood before and after a quote; blank where nothing is known. */
export interface Context {
  prefix: string
  suffix: string
}

/** Share of a side that must be the same for it to agree. Unrelated prose of 32 characters stays under .4. */
const AGREES = 0.6
/** Folded characters below which a side says too little to agree or not. */
const TELLING = 4
/** Room for what an edit added between. */
const SLACK = 8

/** How well the surroundings of a stretch of a folded text fit: a mean share of 0 to 1, and whether a side agrees. */
export function contextAgreement(
  text: Folded,
  from: number,
  to: number,
  { prefix, suffix }: Context,
): { score: number; agrees: boolean } {
  const sides: number[] = []
  const before = foldText(prefix).text.trim()
  if (before.length >= TELLING) {
    const window = text.text.slice(Math.max(0, from - before.length - SLACK), from).trimEnd()
    sides.push(shareInCommon(reverse(before), reverse(window)))
  }
  const after = foldText(suffix).text.trim()
  if (after.length >= TELLING) {
    sides.push(shareInCommon(after, text.text.slice(to, to + after.length + SLACK).trimStart()))
  }
  if (sides.length === 0) return { score: 0, agrees: false }
  return {
    score: sides.reduce((sum, side) => sum + side, 0) / sides.length,
    agrees: Math.max(...sides) >= AGREES,
  }
}

/** 1 − edit distance / length, of `wanted` and the beginning of `given` that fits it best. */
function shareInCommon(wanted: string, given: string): number {
  if (given.startsWith(wanted)) return 1
  let row = Array.from({ length: given.length + 1 }, (_, index) => index)
  for (let i = 0; i < wanted.length; i++) {
    const next = [i + 1]
    for (let j = 0; j < given.length; j++) {
      const substitution = (row[j] ?? 0) + (wanted[i] === given[j] ? 0 : 1)
      next.push(Math.min(substitution, (row[j + 1] ?? 0) + 1, (next[j] ?? 0) + 1))
    }
    row = next
  }
  return 1 - Math.min(...row) / wanted.length
}

const reverse = (text: string): string => [...text].toReversed().join('')
