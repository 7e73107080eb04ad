import { describe, expect, it } from 'vitest'
import { languageTag } from './language-tag.ts'

describe('languageTag', () => {
  it.each([
    ['en-us', 'en-US'],
    ['de_DE', 'de-DE'],
    ['x-default', null],
    ['English', null],
    ['und', null],
    [undefined, null],
  ])('%j is %j', (stated, tag) => {
    expect(languageTag(stated)).toBe(tag)
  })
})
