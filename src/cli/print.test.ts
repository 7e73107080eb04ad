import { Writable } from 'node:stream'
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { displayWidth } from './measure.ts'
import { Printer, jsonText, oneLine, printable } from './print.ts'

function printerOf(facts: { tty: boolean; columns?: number; color?: boolean }) {
  let written = ''
  const output = new Writable({
    write(chunk, _encoding, done) {
      written += String(chunk)
      done()
    },
  })
  const out = new Printer(output, { columns: undefined, color: false, ...facts })
  return { out, text: () => written }
}

const COLUMNS = [
  { title: 'ID' },
  { title: 'TITLE', flexible: true, least: 8 },
  { title: 'BY', flexible: true, least: 6, spare: true },
  { title: 'SAVED', spare: true },
]

describe('table', () => {
  it('cuts the flexible columns so that the row fits the terminal', () => {
    const { out, text } = printerOf({ tty: true, columns: 40 })
    out.table(COLUMNS, [['1', 'A title that is far too long for this', 'An author with a name', 'today']])
    expect(text()).toBe(
      'ID  TITLE          BY              SAVED\n1   A title that…  An author wit…  today\n',
    )
  })

  it('leaves off what there is no room for', () => {
    const { out, text } = printerOf({ tty: true, columns: 14 })
    out.table(COLUMNS, [['1', 'A title that is far too long', 'Somebody', 'yesterday']])
    expect(text()).toBe('ID  TITLE\n1   A title t…\n')
  })

  it('cuts nothing where no terminal shows it', () => {
    const { out, text } = printerOf({ tty: false })
    out.table(COLUMNS, [['1', 'x'.repeat(300), 'y'.repeat(300), 'today']])
    expect(text()).toContain(`${'x'.repeat(300)}  ${'y'.repeat(300)}  today`)
  })

  it('does not stretch every row to the longest title where no terminal shows it', () => {
    const { out, text } = printerOf({ tty: false })
    out.table(COLUMNS, [
      ['1', 'x'.repeat(2000), 'A', 'today'],
      ['2', 'short', 'B', 'today'],
    ])
    const [head, long, short] = text().split('\n')
    expect(long).toBe(`1   ${'x'.repeat(2000)}  A   today`)
    expect(Math.max(head!.length, short!.length)).toBeLessThan(100)
  })

  it('fits whatever stands in it', () => {
    const cell = fc.string({ unit: 'grapheme' }).map(oneLine)
    fc.assert(
      fc.property(
        fc.array(fc.tuple(cell, cell, cell)),
        fc.integer({ min: 30, max: 100 }),
        (rows, columns) => {
          const { out, text } = printerOf({ tty: true, columns })
          out.table(
            COLUMNS.slice(0, 3),
            rows.map(([a, b, c]) => [a.slice(0, 4), b, c]),
          )
          for (const line of text().split('\n')) expect(displayWidth(line)).toBeLessThanOrEqual(columns)
        },
      ),
    )
  })
})

describe('colours', () => {
  it('are put on only where they are wanted', () => {
    const plain = printerOf({ tty: true })
    plain.out.line({ text: 'good', style: '32' })
    expect(plain.text()).toBe('good\n')
    const coloured = printerOf({ tty: true, color: true })
    coloured.out.line({ text: 'good', style: '32' })
    expect(coloured.text()).toBe('\u001b[32mgood\u001b[0m\n')
  })
})

describe('foreign text', () => {
  it('brings no control code to the terminal', () => {
    expect(printable('a\u001b[2Jb\u009b1mc\r\nd\te\u202e')).toBe('a[2Jb1mc\nd\te')
    expect(oneLine('  two\n lines\u0007 ')).toBe('two lines')
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        expect(printable(text)).not.toMatch(/(?![\n\t])\p{Cc}/u)
        expect(jsonText({ text })).not.toMatch(/(?!\n)\p{Cc}/u)
        expect(JSON.parse(jsonText({ text }))).toEqual({ text })
      }),
    )
  })
})
