/** Placeholders that programs write where they know no author. */
const NOBODY =
  /^(?:unknown(?: author)?|n\/a|none|null|inconnu(?:\(e\))?|unbekannt|desconocido|desconhecido|sconosciuto|onbekend|不明|未知|佚名)$/i

/** One line: white space of all kinds as single spaces, marks that nobody sees at its ends gone. */
export function oneLine(text: string): string {
  // Nearly every name is printable ASCII with single spaces.
  if (/^(?:[!-~]+ )*[!-~]+$/.test(text)) return text
  return text
    .replaceAll('\uFEFF', '')
    .replaceAll(/[\p{White_Space}\p{Cc}]+/gu, ' ')
    .replace(/^[\u200B\u200E\u200F\u2060 ]+/u, '')
    .replace(/[\u200B\u200E\u200F\u2060 ]+$/u, '')
    .toWellFormed()
}

/** Text as it is, with line ends as `\n` and nothing empty around it. */
export function fullText(text: string): string {
  const lines = text.includes('\r') ? text.replaceAll(/\r\n?/g, '\n') : text
  return lines.replaceAll('\uFEFF', '').replaceAll('\0', '').trim().toWellFormed()
}

/**
 * Names of authors as files write them in one field: parted by semicolons, line ends or ampersands, or by commas where every
 * part is a whole name. `Roe, Sam` is one person and stays as it is written.
 */
export function authorNames(field: string): string[] {
  const names = new Set<string>()
  for (const part of field.split(/[;；\n|]|\s&\s|、/u)) {
    for (const name of splitCommas(oneLine(part))) {
      if (name !== '' && !NOBODY.test(name)) names.add(name)
    }
  }
  return [...names]
}

function splitCommas(field: string): string[] {
  const parts = field.split(/\s*,\s*/).filter((part) => part !== '')
  // `Martin, George R. R.` and `Le Guin, Ursula K.` are one person: a family name, then given names.
  const areWhole = parts.every(
    (part) =>
      /\S\s+\S/.test(part) &&
      !/^(?:le|la|de|del|du|da|di|van|von|der|den|ter|st\.?|mc|al|el|bin|ibn)\s+\S+$/i.test(part),
  )
  return parts.length > 1 && areWhole ? parts : [field]
}

/** Tags in one field, parted by `mark`. */
export function tagsIn(field: string, mark: string | RegExp): string[] {
  const tags = new Set<string>()
  if (field === '') return []
  for (const part of field.split(mark)) {
    const tag = oneLine(part)
    if (tag !== '') tags.add(tag)
  }
  return [...tags]
}

/**
 * Tags written as a list of a programming language: `['a', 'it\'s', "b, c"]`, `["a"]`; a field that is none is parted at its
 * commas.
 */
export function tagsInList(field: string): string[] {
  const list = /^\s*[[(]([^]*)[\])]\s*$/.exec(field)
  if (!list) return tagsIn(field, ',')
  const inner = list[1]!
  const quoted = [...inner.matchAll(/'((?:[^'\\]|\\.)*)'|"((?:[^"\\]|\\.)*)"/g)]
  if (quoted.length === 0) return tagsIn(inner, ',')
  const tags = new Set<string>()
  for (const [, single, double] of quoted) {
    const tag = oneLine((single ?? double ?? '').replaceAll(/\\(u[\da-f]{4}|x[\da-f]{2}|.)/gi, unescaped))
    if (tag !== '') tags.add(tag)
  }
  return [...tags]
}

function unescaped(_all: string, escape: string): string {
  if (escape.length > 1) return String.fromCharCode(Number.parseInt(escape.slice(1), 16))
  return escape === 'n' || escape === 't' ? ' ' : escape
}

/** Folder names of a path: `Work/Invoices`, or `Apps/Services / Tools` where the strokes have spaces around them. */
export const foldersIn = (path: string): string[] =>
  path
    .split(/\s\/\s/.test(path) ? /\s\/\s/ : '/')
    .map(oneLine)
    .filter((name) => name !== '')
