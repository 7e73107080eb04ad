import { authorNames, oneLine } from './names.ts'

/** One author a line. */
export const koreaderAuthors = (field: string): string[] =>
  field.split('\n').flatMap((line) => authorNames(line.trim()))

/** The name of a book's file without its folder and ending; empty where there is none. */
export function nameOfFile(path: string): string {
  let name = path.split(/[/\\]/).at(-1) ?? ''
  try {
    name = decodeURIComponent(name)
  } catch {
    // A percent sign of the name itself.
  }
  return oneLine(name.replace(/\.(?:kepub\.)?[a-z\d]{2,5}$/i, ''))
}
