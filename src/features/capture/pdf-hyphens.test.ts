import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { joinLines, lexiconOf } from './pdf-hyphens.ts'

const nothing = lexiconOf([])

describe('joinLines', () => {
  it('takes out a hyphen that breaks a word', () => {
    expect(joinLines('the commonplace was a remem-', 'brance of things', nothing)).toBe(
      'the commonplace was a remembrance of things',
    )
  })

  it.each([
    ['a well-', 'known book', 'a well-known book'],
    ['a self-', 'made index', 'a self-made index'],
    ['an evidence-', 'based rule', 'an evidence-based rule'],
    ['the state-of-the-', 'art reader', 'the state-of-the-art reader'],
    ['by Jean-', 'Paul', 'by Jean-Paul'],
    ['the COVID-', '19 years', 'the COVID-19 years'],
    ['in 1990-', 'era hardware', 'in 1990-era hardware'],
  ])('keeps a hyphen of the word: %s %s', (first, second, joined) => {
    expect(joinLines(first, second, nothing)).toBe(joined)
  })

  it.each([
    ['a ten-', 'dency', 'a tendency'],
    ['for ex-', 'ample', 'for example'],
    ['the self-', 'ish one', 'the selfish one'],
    ['a life-', 'time', 'a lifetime'],
    ['the un-', 'known', 'the unknown'],
    ['the low-', 'er shelf', 'the lower shelf'],
  ])('takes out a hyphen after what only looks like a part of a compound: %s %s', (first, second, joined) => {
    expect(joinLines(first, second, lexiconOf(['a known shelf of time']))).toBe(joined)
  })

  it('keeps a hyphen before a word that the document has by itself', () => {
    expect(joinLines('a long-', 'lost letter', lexiconOf(['a lost letter']))).toBe('a long-lost letter')
  })

  it('believes the document', () => {
    const document = lexiconOf(['a river-boat and a selfless man'])
    expect(joinLines('one more river-', 'boat', document)).toBe('one more river-boat')
    expect(joinLines('the most self-', 'less of all', document)).toBe('the most selfless of all')
  })

  it('does not take a cut word for a witness of itself', () => {
    const document = lexiconOf(['one more river-', 'boat'])
    expect(document.compounds.has('river-boat')).toBe(false)
    expect(document.words.has('river')).toBe(false)
  })

  it('leaves hanging hyphens', () => {
    expect(joinLines('both pre-', 'and post-war', nothing)).toBe('both pre- and post-war')
    expect(joinLines('die Haupt-', 'und Nebensätze', nothing)).toBe('die Haupt- und Nebensätze')
  })

  it('joins soft hyphens, dashes without spaces and scripts without spaces', () => {
    expect(joinLines('soft\u00ad', 'ware', nothing)).toBe('software')
    expect(joinLines('he paused\u2014', 'then went on', nothing)).toBe('he paused\u2014then went on')
    expect(joinLines('he paused \u2014', 'then went on', nothing)).toBe('he paused \u2014 then went on')
    expect(joinLines('資料庫遷移前', '一定要先備份', nothing)).toBe('資料庫遷移前一定要先備份')
  })

  it('changes nothing but the seam', () => {
    fc.assert(
      fc.property(fc.string(), fc.string(), (first, second) => {
        const joined = joinLines(first, second, nothing)
        expect(joined.startsWith(first.slice(0, -1))).toBe(true)
        expect(joined.endsWith(second)).toBe(true)
        expect(joined.length - first.length - second.length).toBeGreaterThanOrEqual(-1)
        expect(joined.length - first.length - second.length).toBeLessThanOrEqual(1)
      }),
    )
  })
})
