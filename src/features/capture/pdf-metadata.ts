import { civilDate } from './civil-date.ts'
import { languageTag } from './language-tag.ts'
import type { Line } from './pdf-lines.ts'

/** What a PDF says of itself: its information dictionary and its XMP, as far as they are used. */
export interface PdfStated {
  title?: string | undefined
  author?: string | undefined
  creationDate?: string | undefined
  language?: string | undefined
  xmpTitle?: string | undefined
  xmpCreators?: readonly string[] | undefined
  /** dc:date, prism:publicationDate or prism:coverDate. */
  xmpDate?: string | undefined
  xmpLanguage?: string | undefined
}

/** Dates are civil dates: `YYYY`, `YYYY-MM` or `YYYY-MM-DD`, as precise as the file states. */
export interface PdfMetadata {
  title: string | null
  authors: string[]
  /** When the work came out, by the file's XMP. */
  published: string | null
  /** When the file was made, by its information dictionary; not the date of the work. */
  created: string | null
  /** BCP 47. */
  language: string | null
}

/** `firstPage` are the lines of page 1, for the title of a file that states none. */
export function pdfMetadata(stated: PdfStated, firstPage: readonly Line[]): PdfMetadata {
  return {
    title: realTitle(stated.xmpTitle) ?? realTitle(stated.title) ?? largestText(firstPage),
    authors: authorsOf(stated),
    published: civilDate(stated.xmpDate),
    created: civilDate(stated.creationDate),
    language: languageTag(stated.language) ?? languageTag(stated.xmpLanguage),
  }
}

const FILE_NAME = /\.(?:docx?|odt|rtf|pdf|tex|dvi|ps|indd|qxd|pptx?|xlsx?|pages|html?|txt|wpd|fm|p65)$/iu
const NO_TITLE =
  /^(?:untitled|unbenannt|sans titre|sin título|document|dokument|title|titel|no title|none|null|print|layout|slide|presentation|powerpoint presentation|manuscript|book|main|paper|template|arxiv)[\s\d_.-]*$/iu
const BY_PROGRAM =
  /^(?:microsoft (?:office )?(?:word|powerpoint|excel)|adobe|quarkxpress|latex|print)\b\s*[-–:]?\s*/iu

/** A stated title, unless a program made it from a file's name. */
export function realTitle(stated: string | undefined): string | null {
  const title = cleaned(stated)
  if (title === '') return null
  if (BY_PROGRAM.test(title) && (FILE_NAME.test(title) || /^microsoft/iu.test(title))) return null
  if (FILE_NAME.test(title) || NO_TITLE.test(title)) return null
  if (/^(?:[a-z]:\\|file:|https?:|\/)/iu.test(title) || /^doi:?\s*10\./iu.test(title)) return null
  // One word of digits, hyphens and codes ("BXX12345 1..9", "1204.0491v2") names a file, not a work.
  if (!/\p{L}{2}/u.test(title) || (/^\S*\d\S*(?: \d+\.\.\d+)?$/u.test(title) && /\d{3}/u.test(title)))
    return null
  return title
}

/** The largest text of a page, lines of one size that follow each other joined. */
function largestText(lines: readonly Line[]): string | null {
  const worded = lines.filter((line) => (line.text.match(/\p{L}/gu)?.length ?? 0) >= 2)
  const largest = Math.max(...worded.map((line) => line.size))
  const first = worded.findIndex((line) => line.size > 0.95 * largest)
  if (first < 0) return null
  const title: string[] = []
  let last: Line | undefined
  for (const line of worded.slice(first)) {
    if (line.size < 0.95 * largest || (last && line.base - last.base > 2 * line.size)) break
    if (last && title.join(' ').length + line.text.length > 300) break
    title.push(line.text)
    last = line
    // A page in one size has no title; its first line serves.
    if (worded.every((other) => other.size < 1.05 * median(worded))) break
  }
  return cleaned(title.join(' ')).slice(0, 300) || null
}

function median(lines: readonly Line[]): number {
  return lines.map((line) => line.size).toSorted((a, b) => a - b)[Math.floor(lines.length / 2)] ?? 0
}

const NO_AUTHOR =
  /^(?:user|admin|administrator|owner|author|unknown|anonymous user|microsoft(?: office)? user|windows user|root|none|null|default|test|pc|scanner|[a-z]{1,4}\d+|.*\.(?:docx?|pdf|tex))$/iu

/** `Jane Roe; Sam Poe`, `Jane Roe and Sam Poe` and `Jane Roe, Sam Poe` are two, `Roe, Jane` is one. */
function authorsOf(stated: PdfStated): string[] {
  const given = stated.xmpCreators?.filter((name) => cleaned(name) !== '') ?? []
  const names = given.length > 1 ? given : splitAuthors(given[0] ?? stated.author ?? '')
  const clean = names.map(cleaned).filter((name) => /\p{L}{2}/u.test(name) && !NO_AUTHOR.test(name))
  return [...new Set(clean)].slice(0, 100)
}

function splitAuthors(text: string): string[] {
  if (text.includes(';')) return text.split(';')
  const parts = text.split(/\s+(?:and|und|et|&)\s+|,\s*(?:and\s+)?/u)
  const commas = text.includes(',')
  // "Roe, Jane" has one word before its only comma; "Jane Roe, Sam Poe" has several everywhere.
  if (commas && parts.some((part) => !part.trim().includes(' '))) return text.split(/\s+(?:and|und|et|&)\s+/u)
  return parts
}

function cleaned(text: string | undefined): string {
  return (text ?? '').replaceAll(/[\p{Cc}\p{Cf}\s]+/gu, ' ').trim()
}
