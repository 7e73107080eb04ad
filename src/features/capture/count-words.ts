import { UNSPACED } from '../../core/text.ts'

const EACH_UNSPACED = new RegExp(UNSPACED.source, 'gu')
const WORD = /[\p{L}\p{N}][\p{L}\p{N}\p{M}'’-]*/gu

/**
 * The number of words of a text: runs of letters and digits, with the apostrophes and hyphens inside them. In scripts
 * without spaces two characters count as one word, the usual length of a Chinese one.
 */
export function countWords(text: string): number {
  let unspaced = 0
  const rest = text.replace(EACH_UNSPACED, () => {
    unspaced++
    return ' '
  })
  return (rest.match(WORD)?.length ?? 0) + Math.ceil(unspaced / 2)
}
