/** Padded tokens of one batch: about what keeps the activations in the cache (2048 were a quarter slower). */
const MOST_TOKENS = 512
const MOST_TEXTS = 64

/**
 * Groups texts into batches by their lengths in tokens, shortest first, so that long texts do not make short ones pay for
 * padding. Gives the indexes of each batch; every text is in exactly one.
 */
export function planBatches(lengths: number[]): number[][] {
  const order = lengths.map((_, i) => i).toSorted((a, b) => lengths[a]! - lengths[b]! || a - b)
  const batches: number[][] = []
  let batch: number[] = []
  for (const i of order) {
    const padded = Math.max(1, lengths[i]!) * (batch.length + 1)
    if (batch.length === MOST_TEXTS || (batch.length > 0 && padded > MOST_TOKENS)) {
      batches.push(batch)
      batch = []
    }
    batch.push(i)
  }
  if (batch.length > 0) batches.push(batch)
  return batches
}
