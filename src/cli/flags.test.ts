import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parseFlags, type Flag } from './flags.ts'
import { closest } from './suggest.ts'

const FLAGS: Flag[] = [
  { name: 'wait', short: 'w', help: '' },
  { name: 'note', short: 'n', value: 'TEXT', help: '' },
  { name: 'tag', value: 'NAME', many: true, help: '' },
  { name: 'max-chars', aliases: ['maxChars'], value: 'N', help: '' },
  { name: 'loud', negatable: true, help: '' },
]

describe('parseFlags', () => {
  it('reads flags wherever they stand, in every spelling', () => {
    const args = parseFlags(
      ['a', '--wait', '--note=x=y', 'b', '--tag', 'one', '--tag', 'two', '--maxChars', '5', '--no-loud'],
      FLAGS,
    )
    expect(args.positionals).toEqual(['a', 'b'])
    expect(args.on('wait')).toBe(true)
    expect(args.one('note')).toBe('x=y')
    expect(args.all('tag')).toEqual(['one', 'two'])
    expect(args.number('max-chars', 1)).toBe(5)
    expect([args.given('loud'), args.on('loud')]).toEqual([true, false])
  })

  it('reads letters together, the last one with its value', () => {
    const args = parseFlags(['-wnhello', '-'], FLAGS)
    expect([args.on('wait'), args.one('note'), args.positionals]).toEqual([true, 'hello', ['-']])
  })

  it('takes a value that begins with a dash, but no flag for one', () => {
    expect(parseFlags(['--note', '- a list'], FLAGS).one('note')).toBe('- a list')
    expect(parseFlags(['--note', '-5'], FLAGS).one('note')).toBe('-5')
    expect(() => parseFlags(['--note', '--wait'], FLAGS)).toThrow('--note needs a value')
    expect(parseFlags(['--note=--wait'], FLAGS).one('note')).toBe('--wait')
  })

  it.each([
    [['--nots', 'x'], 'There is no flag --nots'],
    [['-x'], 'There is no flag -x'],
    [['--no-wait'], 'There is no flag --no-wait'],
    [['--note'], 'needs a value'],
    [['--note', 'a', '--note', 'b'], 'given twice'],
    [['--wait=no'], 'true or false'],
  ])('refuses %j', (argv, message) => {
    expect(() => parseFlags(argv, FLAGS)).toThrow(message)
  })

  it('takes everything after -- as it stands', () => {
    fc.assert(
      fc.property(fc.array(fc.string()), (words) => {
        expect(parseFlags(['--wait', '--', ...words], FLAGS).positionals).toEqual(words)
      }),
    )
  })

  it('gives every value back as it was given', () => {
    fc.assert(
      fc.property(fc.array(fc.string()), (values) => {
        const args = parseFlags(
          values.map((value) => `--tag=${value}`),
          FLAGS,
        )
        expect(args.all('tag')).toEqual(values)
      }),
    )
  })
})

describe('closest', () => {
  it.each([
    ['serch', 'search'],
    ['lsit', 'list'],
    ['comp', 'completion'],
    ['xyzzy', undefined],
  ])('%s: %s', (typed, meant) => {
    expect(closest(typed, ['search', 'list', 'completion', 'read'])).toBe(meant)
  })
})
