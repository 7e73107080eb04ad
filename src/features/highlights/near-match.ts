import search from 'approx-string-match'

export interface NearMatch {
  /** Range of units of the searched text. */
  from: number
  to: number
  /** Edit distance to the pattern. */
  errors: number
}

type Gap = readonly [from: number, to: number]

/** Units searched at once, so that a text which resembles the pattern everywhere is given up early. */
const STRETCH = 32_768
/** Ends of matches in one stretch from which there is no telling which is meant. */
const TOO_MANY = 400

/**
 * Up to about `wanted` separate places that differ from `pattern` by at most `most` edits, best first. The matcher (Myers'
 * bit vectors) gives only the places of the least distance, so what is left of the text is searched again for the next.
 */
export function nearMatches(text: string, pattern: string, most: number, wanted: number): NearMatch[] {
  const found: NearMatch[] = []
  let gaps: Gap[] = [[0, text.length]]
  while (found.length < wanted) {
    const best = leastOf(text, gaps, pattern, most)
    if (best.length === 0) break
    found.push(...best)
    gaps = best.reduce(cutOut, gaps)
  }
  return found
}

/** All places of the least distance. */
function leastOf(text: string, gaps: Gap[], pattern: string, most: number): NearMatch[] {
  let least = most
  const ends: NearMatch[] = []
  const overlap = pattern.length + most
  for (const [from, to] of gaps) {
    for (let at = from; at < to; at += STRETCH) {
      const stretch = text.slice(at, Math.min(to, at + STRETCH + overlap))
      const matches = search(stretch, pattern, least)
      if (matches.length > TOO_MANY) return []
      for (const { start, end, errors } of matches) {
        least = Math.min(least, errors)
        ends.push({ from: at + start, to: at + end, errors })
      }
    }
  }
  return regionsOf(
    ends.filter(({ errors }) => errors === least),
    pattern.length,
  ).map((match) => trimmed(text, match))
}

/** One match a region: of overlapping ones the one whose length is nearest to the pattern's. */
function regionsOf(matches: NearMatch[], length: number): NearMatch[] {
  const regions: NearMatch[] = []
  const misfit = ({ from, to }: NearMatch) => Math.abs(to - from - length)
  for (const match of matches.toSorted((a, b) => a.from - b.from || a.to - b.to)) {
    const last = regions.at(-1)
    if (!last || match.from >= last.to) regions.push(match)
    else if (misfit(match) < misfit(last)) regions[regions.length - 1] = match
  }
  return regions.filter(({ from, to }) => to > from)
}

function trimmed(text: string, { from, to, errors }: NearMatch): NearMatch {
  let first = from
  let last = to
  while (first < last && text[first] === ' ') first++
  while (last > first && text[last - 1] === ' ') last--
  return first < last ? { from: first, to: last, errors } : { from, to, errors }
}

const cutOut = (gaps: Gap[], match: NearMatch): Gap[] =>
  gaps.flatMap((gap): Gap[] => {
    const [from, to] = gap
    if (match.to <= from || match.from >= to) return [gap]
    const rest: Gap[] = [
      [from, match.from],
      [match.to, to],
    ]
    return rest.filter(([start, end]) => end > start)
  })
