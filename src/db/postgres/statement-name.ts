/** So many statements are kept parsed on each connection; what comes later is parsed each time. */
const MOST = 200
/** What a connection has parsed must not give other columns later, as `*` does once a newer program has added one. */
const ALL_COLUMNS = /(?:select |returning |\.)\*/

const names = new Map<string, string | undefined>()

/**
 * A name under which connections keep a statement parsed and planned, or undefined for one that is parsed each time it is sent:
 * for most of ours that takes the database longer than running them.
 */
export function statementName(text: string): string | undefined {
  const known = names.get(text)
  if (known !== undefined || names.size >= MOST || ALL_COLUMNS.test(text)) return known
  const name = `s${names.size}`
  names.set(text, name)
  return name
}

/** A statement as the driver takes it. */
export function named(text: string, values: unknown[]): { name?: string; text: string; values: unknown[] } {
  const name = statementName(text)
  return name === undefined ? { text, values } : { name, text, values }
}
