/** Marks that mean something wherever they stand, to Markdown or to the programs that add to it. */
const ANYWHERE = /[\\`*[\]~|$]|<(?=[a-z/!?])|&(?=#?\w+;)|%%|==|(?<![\p{L}\p{N}])_|_(?![\p{L}\p{N}])/giu
const TAG = /(?<=^|\s)#(?=[\p{L}\p{N}_/-])/gu
/** Marks that mean something at the beginning of a line: headings, quotations, lists, rules. */
const AT_START = /^(\s*)(?:(#{1,6}(?=\s|$)|>|[-+](?=\s|$)|=+\s*$|-{2,}\s*$)|(\d{1,9})([.)])(?=\s|$))/u

/** Words that are no Markdown as Markdown that shows them as they are, line by line. */
export const plainAsMarkdown = (text: string): string =>
  linesOf(text)
    .map((line) =>
      line
        .replaceAll(ANYWHERE, (mark) => [...mark].map((sign) => `\\${sign}`).join(''))
        .replaceAll(TAG, String.raw`\#`)
        .replace(AT_START, (_all, blank: string, mark?: string, number?: string, dot?: string) =>
          mark === undefined ? `${blank}${number}\\${dot}` : `${blank}\\${mark}`,
        ),
    )
    .join('\n')

/** The lines of a text, whatever ends them. */
export const linesOf = (text: string): string[] => text.split(/\r\n|[\n\r\u2028\u2029\u0085]/)

/** The same in one line. */
export const oneLine = (text: string): string => text.replaceAll(/\s+/g, ' ').trim()
