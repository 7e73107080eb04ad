/** Documents as a test reads them. */
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

export const ROOT = fileURLToPath(new URL('../..', import.meta.url))

export const read = (path: string): string => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8')

export interface Block {
  language: string
  text: string
}

/** What stands between fences. */
export const blocksOf = (markdown: string): Block[] =>
  [...markdown.matchAll(/^```(\w*)\n(.*?)^```$/gms)].map(([, language = '', text = '']) => ({
    language,
    text,
  }))

/** The anchors of its headings, as they are made where Markdown is shown. */
export const anchorsOf = (markdown: string): string[] =>
  [...markdown.replace(/^```.*?^```$/gms, '').matchAll(/^#+ (.+)$/gm)].map(([, title = '']) =>
    title
      .toLowerCase()
      .replaceAll(/[^\w\s-]/g, '')
      .trim()
      .replaceAll(/\s/g, '-'),
  )

/** Where it links to, but for other sites. */
export const linksOf = (markdown: string): string[] =>
  [...markdown.replace(/^```.*?^```$/gms, '').matchAll(/\]\(([^()\s]+)\)/g)]
    .map(([, target = '']) => target)
    .filter((target) => !/^[a-z]+:/.test(target))
