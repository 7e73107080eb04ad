import { makePdf, wrap, type PdfPage } from '../test/support/make-pdf.ts'
import { passageText, Vocabulary } from './search-corpus.ts'

const vocabulary = new Vocabulary()

/** Paragraphs of made-up words, the same every time, until there are so many characters. */
function paragraphs(characters: number): string[] {
  const all: string[] = []
  for (let length = 0; length < characters; length += all.at(-1)!.length)
    all.push(passageText(vocabulary, all.length))
  return all
}

const page = (title: string, body: string): string =>
  `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>${title}</title></head><body><article><h1>${title}</h1>${body}</article></body></html>`

/** A page of prose, a link or a word in italics in every paragraph, of about so many characters. */
export const longPage = (characters: number): string =>
  page(
    'A long page',
    paragraphs(characters * 0.93)
      .map((text, at) => `<p>${text.replace(/ (\S+)/, at % 2 ? ' <a href="/x">$1</a>' : ' <em>$1</em>')}</p>`)
      .join('\n'),
  )

/** A page with a tag for every five words, of about so many characters. */
export const densePage = (characters: number): string =>
  page(
    'A dense page',
    paragraphs(characters * 0.66)
      .map((text, at) => {
        const words = text.split(' ')
        for (let w = 3; w < words.length; w += 6) {
          const name = ['b', 'i', 'code', 'span', 'a'][(w + at) % 5]
          words[w] = name === 'a' ? `<a href="/${w}">${words[w]}</a>` : `<${name}>${words[w]}</${name}>`
        }
        return `<p>${words.join(' ')}</p>`
      })
      .join('\n'),
  )

export const plainText = (characters: number): string =>
  paragraphs(characters)
    .map((text) => wrap(text, 76).join('\n'))
    .join('\n\n')

export const markdownText = (characters: number): string =>
  paragraphs(characters)
    .map((text, at) =>
      at % 40 ? text.replace(/ (\S+) (\S+)/, ' *$1* [$2](https://example.org/)') : `## ${text}`,
    )
    .join('\n\n')

/** A PDF of so many typewritten pages, about 480 words each. */
export function longPdf(pages: number): Uint8Array {
  const lines = paragraphs(pages * 3_500).flatMap((text) => wrap(text, 80))
  const each: PdfPage[] = Array.from({ length: pages }, (_, at) => ({
    pieces: lines.slice(at * 45, at * 45 + 45).map((text, row) => ({ text, x: 60, y: 740 - row * 15 })),
  }))
  return makePdf({ pages: each, compressed: true, info: { Title: 'A long paper' } })
}
