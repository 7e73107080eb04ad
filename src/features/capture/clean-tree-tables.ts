import type { TableCell, TableRow } from 'mdast'
import type { DomElement } from './article-dom.ts'
import { breaksAs, tidyInlines } from './clean-tree-inlines.ts'
import type { Block, Inline } from './clean-tree-inlines.ts'
import { flatInlines } from './clean-tree-phrasing.ts'
import type { Context } from './clean-tree-phrasing.ts'

/** Tables that hold data; the others only lay out the page. */
export function isDataTable(table: DomElement): boolean {
  if (/^(?:presentation|none)$/.test(table.getAttribute('role') ?? '')) return false
  if (table.querySelector('table, pre, h1, h2, h3, figure, form')) return false
  const rows = [...table.querySelectorAll('tr')]
  const columns = Math.max(0, ...rows.map((row) => row.children.length))
  const hasHead = table.querySelector('th, caption') !== null
  if (columns < 2 || (rows.length < 2 && !hasHead)) return false
  if (hasHead) return true
  return ![...table.querySelectorAll('td')].some((cell) => (cell.textContent ?? '').length > 600)
}

/** A table as GFM has it: a head (empty if it has none), one line a row, spans filled up. */
export function tableOf(table: DomElement, context: Context): Block | undefined {
  const rows: TableRow[] = []
  let columns = 0
  const align: ('left' | 'right' | 'center' | null)[] = []
  let hasHead = false
  for (const row of table.querySelectorAll('tr')) {
    const cells: TableCell[] = []
    let heads = 0
    for (const cell of row.children) {
      if (cell.localName !== 'td' && cell.localName !== 'th') continue
      if (cell.localName === 'th') heads++
      const side = alignOf(cell)
      if (side) align[cells.length] ??= side
      cells.push({
        type: 'tableCell',
        children: breaksAs(htmlBreak, tidyInlines(flatInlines(cell, context))),
      })
      const span = Math.min(Number(cell.getAttribute('colspan')) || 1, 50)
      for (let extra = 1; extra < span; extra++) cells.push({ type: 'tableCell', children: [] })
    }
    if (cells.length === 0) continue
    if (rows.length === 0) hasHead = heads === cells.length || row.parentElement?.localName === 'thead'
    rows.push({ type: 'tableRow', children: cells })
    columns = Math.max(columns, cells.length)
  }
  // Spans must not multiply a small table into a large one.
  if (rows.length === 0 || columns * rows.length > 100_000) return undefined
  if (!hasHead) rows.unshift({ type: 'tableRow', children: [] })
  for (const row of rows)
    while (row.children.length < columns) row.children.push({ type: 'tableCell', children: [] })
  return {
    type: 'table',
    align: Array.from({ length: columns }, (_, at) => align[at] ?? null),
    children: rows,
  }
}

function alignOf(cell: DomElement): 'left' | 'right' | 'center' | undefined {
  const side = cell.getAttribute('data-align')
  return side === 'left' || side === 'right' || side === 'center' ? side : undefined
}

/** A line break inside a cell can only be written as HTML in GFM. */
const htmlBreak: Inline = { type: 'html', value: '<br>' }
