/** A highlight that could be gone over on a day. */
export interface Candidate {
  id: number
  sourceId: number
}

/** One whose time has come, with its last answer and when it was due. ISO 8601. */
export interface DueCandidate extends Candidate {
  reviewedAt: string
  dueAt: string
}

/**
 * The order in which due highlights are taken: the longest overdue first, measured by how long they were to be remembered, at
 * one instant of the day so that it is the same all day.
 */
export function byUrgency<D extends DueCandidate>(due: readonly D[], end: string): D[] {
  const at = Date.parse(end)
  const weighed = due.map((highlight) => {
    const asked = Date.parse(highlight.reviewedAt)
    const span = Math.max(1, Date.parse(highlight.dueAt) - asked)
    return { highlight, urgency: (at - asked) / span }
  })
  return weighed
    .toSorted((a, b) => b.urgency - a.urgency || a.highlight.id - b.highlight.id)
    .map(({ highlight }) => highlight)
}

/** The first of an order, at most a third of them of one source unless there are no others. */
export function takeSpread<C extends Candidate>(order: readonly C[], most: number): C[] {
  const share = Math.ceil(most / 3)
  const counts = new Map<number, number>()
  const within: C[] = []
  const beyond: C[] = []
  for (const candidate of order) {
    if (within.length === most) break
    const count = counts.get(candidate.sourceId) ?? 0
    counts.set(candidate.sourceId, count + 1)
    if (count < share) within.push(candidate)
    else if (beyond.length < most) beyond.push(candidate)
  }
  const taken = new Set([...within, ...beyond].slice(0, most))
  return order.filter((candidate) => taken.has(candidate))
}

/** The same highlights, no two of one source in a row where that can be; else as near to their order as it allows. */
export function mixSources<C extends Candidate>(order: readonly C[], before?: number): C[] {
  const left = [...order]
  const counts = new Map<number, number>()
  for (const { sourceId } of left) counts.set(sourceId, (counts.get(sourceId) ?? 0) + 1)
  const mixed: C[] = []
  let last = before
  while (left.length > 0) {
    // One that makes up half of what is left has to come now, or it would be left over at the end.
    const pressing = [...counts].find(([source, count]) => source !== last && 2 * count > left.length)?.[0]
    const wanted =
      pressing === undefined
        ? left.findIndex(({ sourceId }) => sourceId !== last)
        : left.findIndex(({ sourceId }) => sourceId === pressing)
    const [next] = left.splice(Math.max(0, wanted), 1)
    if (!next) break
    mixed.push(next)
    last = next.sourceId
    counts.set(last, counts.get(last)! - 1)
  }
  return mixed
}

/** One highlight of each source, then a second of each, and so on, within a source and among sources by the lot of the day. */
export function dealOut<C extends Candidate>(candidates: readonly C[], day: string, most: number): C[] {
  const bySource = groupBySource(candidates)
  const stacks = [...bySource.values()]
    .map((stack) => byLot(stack, day, ({ id }) => id))
    .toSorted((a, b) => compareLots(day, a[0]!.sourceId, b[0]!.sourceId))
  const dealt: C[] = []
  for (let round = 0; dealt.length < most; round++) {
    const some = stacks.flatMap((stack) => stack[round] ?? [])
    if (some.length === 0) break
    dealt.push(...some)
  }
  return dealt.slice(0, most)
}

function groupBySource<C extends Candidate>(candidates: readonly C[]): Map<number, C[]> {
  const groups = new Map<number, C[]>()
  for (const candidate of candidates) {
    const group = groups.get(candidate.sourceId)
    if (group) group.push(candidate)
    else groups.set(candidate.sourceId, [candidate])
  }
  return groups
}

/** In an order of this day's own, the same whenever it is asked for. */
export const byLot = <T>(values: readonly T[], day: string, idOf: (value: T) => number): T[] =>
  values.toSorted((a, b) => compareLots(day, idOf(a), idOf(b)))

const compareLots = (day: string, a: number, b: number): number => lot(day, a) - lot(day, b) || a - b

/** FNV-1a of day and id, mixed once more, since ids that follow each other differ in their last digits only. */
function lot(day: string, id: number): number {
  let hash = 0x811c9dc5
  for (const char of `${day} ${id}`) hash = Math.imul(hash ^ char.charCodeAt(0), 0x01000193)
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b)
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35)
  return (hash ^ (hash >>> 16)) >>> 0
}
