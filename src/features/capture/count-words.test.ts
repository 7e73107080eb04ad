import { expect, it } from 'vitest'
import { countWords } from './count-words.ts'

it.each([
  ['', 0],
  ['—  … !', 0],
  ['One two, three.', 3],
  ["don't well-known 1984", 3],
  ['資料庫遷移前一定', 4],
  ['ການອ່ານຫນັງສື', 7],
  ['one 資料 two', 3],
])('%j has %i words', (text, words) => {
  expect(countWords(text)).toBe(words)
})
