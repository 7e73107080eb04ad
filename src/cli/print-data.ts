import { oneLine, STYLE, type Printer } from './print.ts'

/** Prints any tool's output for a person: a line a value, indented by depth; what is empty is left out. */
export function printData(out: Printer, data: Record<string, unknown>): void {
  printFields(out, data, '')
}

function printFields(out: Printer, fields: Record<string, unknown>, indent: string): void {
  // `meta` says again, for programs, what stands beside it.
  for (const [name, value] of Object.entries(fields))
    if (name !== 'meta') printField(out, name, value, indent)
}

function printField(out: Printer, name: string, value: unknown, indent: string): void {
  const label = { text: `${words(name)}:`, style: STYLE.dim }
  if (isEmpty(value)) return
  if (Array.isArray(value)) {
    if (value.every((element) => typeof element !== 'object')) {
      out.paragraph(
        [label, { text: ` ${value.map((element) => oneLine(String(element))).join(', ')}` }],
        indent,
      )
      return
    }
    out.line(indent, label)
    for (const element of value) {
      if (!isRecord(element)) continue
      out.line(indent, { text: '  ─', style: STYLE.dim })
      printFields(out, element, `${indent}  `)
    }
    return
  }
  if (isRecord(value)) {
    out.line(indent, label)
    printFields(out, value, `${indent}  `)
    return
  }
  out.paragraph([label, { text: ` ${oneLine(String(value))}` }], indent)
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const isEmpty = (value: unknown): boolean =>
  value === null ||
  value === undefined ||
  value === '' ||
  (Array.isArray(value) && value.length === 0) ||
  (isRecord(value) && Object.values(value).every(isEmpty))

/** `nextOffset` and `next_offset` as `next offset`. */
const words = (name: string): string =>
  name
    .replaceAll('_', ' ')
    .replaceAll(/([a-z])([A-Z])/g, '$1 $2')
    .toLowerCase()
