import { describe, expect, it } from 'vitest'
import { chooseBody } from './choose-body.ts'
import type { CleanBlock } from './clean-tree-figures.ts'

const facts = { url: 'https://example.org/a', title: 'A title', description: '', authors: [] }
const block = (value: string): CleanBlock => ({
  node: { type: 'paragraph', children: [{ type: 'text', value }] },
  names: ['body'],
  role: 'text',
})
const text = (seed: number) =>
  block(
    `Paragraph ${seed} tells ${Array.from({ length: 20 }, (_, at) => `tale${seed}x${at}`).join(' ')} to its end.`,
  )
const some = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, at) => text(from + at))

describe('chooseBody', () => {
  it('takes the reading that there is', () => {
    expect(chooseBody(some(1, 3), [], facts)).toEqual({ method: 'readability', blocks: expect.any(Array) })
    expect(chooseBody([], some(1, 3), facts).blocks).toHaveLength(3)
    expect(chooseBody([], some(1, 3), facts).method).toBe('defuddle')
    expect(chooseBody([], [], facts).blocks).toEqual([])
  })

  it('takes the other reading where the first missed most of the text', () => {
    expect(chooseBody(some(1, 2), some(1, 9), facts)).toMatchObject({ method: 'defuddle' })
    expect(chooseBody(some(1, 9), some(1, 2), facts).blocks).toHaveLength(9)
  })

  it('is not led astray by short pieces that only one of them has', () => {
    const videos = Array.from({ length: 60 }, (_, at) => block(`Watch video ${at} of all the many videos`))
    expect(chooseBody(some(1, 5), [...videos, ...some(1, 5)], facts)).toMatchObject({ method: 'readability' })
  })

  it('drops what only one has above and below, and keeps text between', () => {
    const first = [text(90), ...some(1, 3), text(91), block('Sign up now'), ...some(4, 6), text(92)]
    const kept = chooseBody(first, some(1, 6), facts).blocks
    expect(kept.map(({ node }) => JSON.stringify(node).match(/Paragraph (\d+)|Sign up/)?.[1])).toEqual([
      '1',
      '2',
      '3',
      '91',
      '4',
      '5',
      '6',
    ])
  })

  it('leaves a reading alone that the other does not know', () => {
    expect(chooseBody(some(1, 5), some(11, 15), facts).blocks).toHaveLength(5)
  })
})
