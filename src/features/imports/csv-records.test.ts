import { parse } from 'csv-parse/sync'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { csvRecords } from './csv-records.ts'

const cellsOf = (text: string, delimiter = ','): string[][] =>
  [...csvRecords(text, delimiter)].map((record) => record.cells)

describe('csvRecords', () => {
  test.each([
    [
      'quotes, doubled quotes, line ends within',
      'a,"b ""c"", d"\r\n"e\nf",g\r\n',
      [
        ['a', 'b "c", d'],
        ['e\nf', 'g'],
      ],
    ],
    [
      'no line end at the end',
      'a,b\nc,d',
      [
        ['a', 'b'],
        ['c', 'd'],
      ],
    ],
    [
      'line ends of all systems in one file',
      'a,b\rc,d\r\ne,f\ng,h',
      [
        ['a', 'b'],
        ['c', 'd'],
        ['e', 'f'],
        ['g', 'h'],
      ],
    ],
    [
      'empty cells and lines',
      ',\n\n\n,,\n',
      [
        ['', ''],
        ['', '', ''],
      ],
    ],
    ['a quotation mark in a plain cell', 'a 5" disk,b\n', [['a 5" disk', 'b']]],
    [
      'quotation marks in a quoted cell that nobody doubled',
      '"say "hello" to",b\n',
      [['say "hello" to', 'b']],
    ],
    ['a comma at the end', 'a,b,\n', [['a', 'b', '']]],
    ['an empty quoted cell', '"",""\n', [['', '']]],
  ])('%s', (_name, text, cells) => {
    expect(cellsOf(text)).toEqual(cells)
  })

  test('an open quotation mark costs its own line', () => {
    const records = [...csvRecords('a,b\n1,"open\n2,c\n3,d\n', ',')]
    expect(records.map(({ cells, line, open }) => ({ cells, line, open }))).toEqual([
      { cells: ['a', 'b'], line: 1, open: false },
      { cells: ['1', 'open'], line: 2, open: true },
      { cells: ['2', 'c'], line: 3, open: false },
      { cells: ['3', 'd'], line: 4, open: false },
    ])
  })

  test('lines are counted through cells that hold line ends', () => {
    expect([...csvRecords('a\r\n"b\r\nc"\r\nd\r\n', ',')].map(({ line }) => line)).toEqual([1, 2, 4])
  })

  test('reads what is written by the rules as csv-parse does, whatever the cells are', () => {
    const cell = fc.oneof(
      fc.string({ unit: fc.constantFrom('a', '"', ',', '\n', '\r\n', ';', ' ', 'é', '😀'), maxLength: 12 }),
      fc.string({ maxLength: 20 }),
    )
    const row = fc.array(cell, { minLength: 2, maxLength: 5 })
    fc.assert(
      fc.property(
        fc.array(row, { minLength: 1, maxLength: 8 }),
        fc.constantFrom(',', ';', '\t'),
        (rows, delimiter) => {
          const text = rows
            .map((cells) => cells.map((value) => `"${value.replaceAll('"', '""')}"`).join(delimiter))
            .join('\r\n')
          expect(cellsOf(text, delimiter)).toEqual(rows)
          const theirs: unknown = parse(text, { delimiter, relax_column_count: true })
          expect(theirs).toEqual(rows)
        },
      ),
    )
  })

  test('every character of any text belongs to a record or a line end', () => {
    const text = fc.string({ unit: fc.constantFrom('a', 'b', '"', ',', '\n', '\r', ' '), maxLength: 60 })
    fc.assert(
      fc.property(text, (any) => {
        let at = 0
        for (const { start, end, line } of csvRecords(any, ',')) {
          expect(any.slice(at, start)).toMatch(/^[\r\n]*$/)
          expect(end).toBeGreaterThan(start)
          expect(line).toBe(any.slice(0, start).split(/\r\n|\r|\n/).length)
          at = end
        }
        expect(any.slice(at)).toMatch(/^[\r\n]*$/)
      }),
    )
  })
})
