// Comma-separated values as RFC 4180 has them, safe in a spreadsheet and exact on the way back.

const LINE_END = '\r\n'

/** What a spreadsheet would run as a formula, and what already bears the mark that keeps it from doing so. */
const RISKY = /^'*[=+\-@\t\r]/

/** How such a cell begins: one look saves most of them the rest. */
const MAY_BE_RISKY = new Set([...`'=+-@\t\r`].map((sign) => sign.charCodeAt(0)))

const QUOTED = /[",\r\n]/

/** One row with its line end. */
export const csvRow = (cells: readonly string[]): string => csvRowOf(cells.map(csvCell))

/** The same of cells that were made safe already. */
export const csvRowOf = (cells: readonly string[]): string => cells.join(',') + LINE_END

export function csvCell(text: string): string {
  if (text === '') return text
  const cell = MAY_BE_RISKY.has(text.charCodeAt(0)) && RISKY.test(text) ? `'${text}` : text
  return QUOTED.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell
}

/** What stood in a cell before it was made safe: the mark that was put in front is taken off again. */
export const readCell = (cell: string): string =>
  cell.startsWith("'") && RISKY.test(cell.slice(1)) ? cell.slice(1) : cell

const BETWEEN = '; '

/** Names in one cell: `; ` between them, and a backslash before a semicolon or backslash that is part of a name. */
export const joinNames = (names: readonly string[]): string =>
  names.map((name) => name.replaceAll(/[;\\]/g, String.raw`\$&`)).join(BETWEEN)

/** The names that `joinNames` put into one cell. */
export function splitNames(cell: string): string[] {
  if (cell === '') return []
  const names: string[] = []
  let name = ''
  for (let at = 0; at < cell.length; at++) {
    if (cell[at] === '\\' && at + 1 < cell.length) name += cell[++at]
    else if (cell[at] === ';') {
      names.push(name)
      name = ''
      if (cell[at + 1] === ' ') at++
    } else name += cell[at]
  }
  return [...names, name]
}

const RULE = '\n---\n'

/** Notes in one cell: a line `---` between them, and a backslash before a line of a note that would be taken for one. */
export const joinNotes = (notes: readonly string[]): string =>
  notes.map((note) => note.replaceAll(/^\\*---$/gm, String.raw`\$&`)).join(RULE)

/** The notes that `joinNotes` put into one cell. */
export const splitNotes = (cell: string): string[] =>
  cell === '' ? [] : cell.split(RULE).map((note) => note.replaceAll(/^\\(\\*---)$/gm, '$1'))
