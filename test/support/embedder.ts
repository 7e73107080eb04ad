import type { Embedder } from '../../src/core/outside.ts'

const DIMENSIONS = 128

/**
 * An embedder to whom the words of one group mean the same, and all others nothing: texts are alike as far as they speak of
 * the same groups.
 */
export function conceptEmbedder(groups: readonly (readonly string[])[], id = 'concepts'): Embedder {
  return {
    id,
    dimensions: DIMENSIONS,
    embed: async (texts) =>
      texts.map((text) => {
        const words = text.toLowerCase().match(/\p{L}+/gu) ?? []
        const vector = new Float32Array(DIMENSIONS)
        for (const [i, group] of groups.entries()) {
          const held = words.filter((word) => group.includes(word)).length
          // Each group has a direction of its own.
          if (held > 0) for (let d = 0; d < DIMENSIONS; d++) vector[d]! += held * direction(i, d)
        }
        const length = Math.hypot(...vector)
        return length > 0 ? vector.map((value) => value / length) : vector
      }),
    close: async () => {},
  }
}

/** +1 or -1, by the bits of a mixed number. */
function direction(group: number, dimension: number): number {
  let mixed = Math.imul(group * 131 + dimension + 1, 0x9e3779b1)
  mixed = Math.imul(mixed ^ (mixed >>> 15), 0x85ebca6b)
  return (mixed ^ (mixed >>> 13)) & 1 ? 1 : -1
}
