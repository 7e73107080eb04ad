import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { sliceCodePoints } from '../../core/text.ts'
import { plainTextOf } from '../texts/plain-text.ts'
import { placeAt } from '../texts/places.ts'
import type { TimedCue } from './caption-cues.ts'
import { transcriptOf } from './transcript.ts'

const cue = (start: number, text: string, more: Partial<TimedCue> = {}): TimedCue => ({
  start,
  end: start + 2,
  lines: text.split('\n'),
  ...more,
})

describe('transcriptOf', () => {
  it('joins cues to paragraphs and names the second of every cue', () => {
    const { markdown, plain, places, words } = transcriptOf([
      cue(0, 'Winter came early'),
      cue(2.4, 'and stayed.'),
      cue(5.9, 'Nobody had\nsalt.'),
    ])
    expect(plain).toBe('Winter came early and stayed. Nobody had salt.')
    expect(markdown).toBe(`${plain}\n`)
    expect(words).toBe(8)
    expect(places.map(({ seconds, start }) => [seconds, plain.slice(start, start + 6)])).toEqual([
      [0, 'Winter'],
      [2, 'and st'],
      [5, 'Nobody'],
      [8, ''],
    ])
  })

  it('begins a paragraph after a pause that follows a sentence, and at a speaker', () => {
    const long = 'This is said slowly, with care, and it goes on for quite a while before the end comes.'
    const { markdown } = transcriptOf([
      cue(0, long),
      cue(9, 'After the pause.'),
      cue(11, 'Yes?', { speaker: 'Ada' }),
      cue(13, 'Go on.', { speaker: 'Ada' }),
      cue(15, 'No.', { speaker: 'Bob' }),
    ])
    expect(markdown).toBe(`${long}\n\nAfter the pause.\n\n**Ada:** Yes? Go on.\n\n**Bob:** No.\n`)
  })

  it('puts chapters as headings where they begin, and names them in the places', () => {
    const chapters = [
      { start: 0, title: 'Opening' },
      { start: 10, title: 'Salt # & ice' },
      { start: 90, title: 'Unsaid' },
    ]
    const { markdown, plain, places } = transcriptOf([cue(0.2, 'One.'), cue(9.8, 'Two.')], {
      chapters,
      seconds: 99.5,
    })
    expect(markdown).toBe('## Opening\n\nOne.\n\n## Salt \\# \\& ice\n\nTwo.\n\n## Unsaid\n')
    expect(JSON.parse(placeAt(places, plain.indexOf('Two')) ?? '')).toEqual({
      seconds: 9,
      label: 'Salt # & ice',
    })
    expect(places.at(-1)).toMatchObject({ seconds: 100, start: plain.length })
  })

  it('does not end paragraphs of automatic captions at every cue, nor never', () => {
    const cues = Array.from({ length: 300 }, (_, n) => cue(n * 2, `and then we said word${n} of it`))
    const paragraphs = transcriptOf(cues).plain.split('\n\n')
    expect(paragraphs.length).toBeGreaterThan(8)
    for (const paragraph of paragraphs) expect(paragraph.length).toBeLessThan(800)
  })

  it('joins scripts without spaces without any', () => {
    const { plain } = transcriptOf([
      cue(0, '資料庫遷移前'),
      cue(2, '一定要先備份。'),
      cue(4, 'OK'),
      cue(6, '好'),
    ])
    expect(plain).toBe('資料庫遷移前一定要先備份。 OK 好')
  })

  it('of nothing is nothing', () => {
    expect(transcriptOf([])).toEqual({ markdown: '', plain: '', places: [], words: 0 })
  })
})

const word = fc.oneof(
  fc.stringMatching(/^[A-Za-z]{1,8}[.,!?]?$/),
  fc.constantFrom(
    ...'# - + * > = 1. 2) `x` **b** _i_ [a](b) <b> & &amp; $x$ ~~s~~ | --- ``` :-- ![i](u) [^1] \\ >> 資料 😀'.split(
      ' ',
    ),
  ),
  fc.constantFrom(
    'https://example.org/a_b',
    'www.example.org',
    'a_b@example.org',
    '@me',
    'http://x',
    '[x]:',
    '<!--',
  ),
)
const cues = fc
  .array(
    fc.record({
      start: fc.nat(4000),
      length: fc.nat(9),
      words: fc.array(word, { minLength: 1, maxLength: 9 }),
      speaker: fc.constantFrom(undefined, undefined, 'Ada', 'B. *Roe*'),
    }),
    { maxLength: 40 },
  )
  .map((list) =>
    list
      .toSorted((a, b) => a.start - b.start)
      .map(({ start, length, words, speaker }): TimedCue => ({
        start,
        end: start + length,
        lines: [words.join(' ')],
        ...(speaker !== undefined && { speaker }),
      })),
  )
const chapters = fc.array(fc.record({ start: fc.nat(4000), title: word }), { maxLength: 5 })

describe('any transcript', () => {
  it('has every word once and in order, is what its Markdown shows, and its places are where they say', () => {
    fc.assert(
      fc.property(cues, chapters, (list, parts) => {
        const { markdown, plain, places } = transcriptOf(list, { chapters: parts })
        expect(plainTextOf(markdown)).toBe(plain)
        const paragraphs = plain.split('\n\n')
        if (parts.length === 0 && list.every(({ speaker }) => speaker === undefined)) {
          const said = list.flatMap(({ lines }) => lines).join(' ')
          expect(paragraphs.join(' ').replaceAll(/\s/g, '')).toBe(said.replaceAll(/\s/g, ''))
        }
        for (const [index, { seconds = -1, start, at = -1 }] of places.entries()) {
          expect(seconds).toBeGreaterThanOrEqual(
            places[index - 1]?.start === undefined ? 0 : places[index - 1]!.seconds!,
          )
          expect(start).toBeGreaterThanOrEqual(places[index - 1]?.start ?? 0)
          // What stands there in the text stands there in its Markdown.
          const shown = sliceCodePoints(plain, start, start + 30)
            .split(/[\n:]/)[0]!
            .replaceAll(/[^\p{L}\p{N}]/gu, '')
          const written = sliceCodePoints(markdown, at, at + 90).replaceAll(/[^\p{L}\p{N}]/gu, '')
          expect(written.startsWith(shown)).toBe(true)
        }
      }),
      { numRuns: 300 },
    )
  })
})
