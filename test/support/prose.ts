/** Prose of about so many words, in paragraphs, no sentence of it twice: what an essay is to the reading aid. */
export function proseOf(words: number, about = 'the heron'): string[] {
  const WHO = [
    'The ferryman',
    'A patient reader',
    'The old surveyor',
    'My neighbour',
    'The harbour clerk',
    'Nobody',
  ]
  const DOES = ['remembers', 'describes', 'measures', 'forgives', 'mistrusts', 'copies out', 'misses']
  const WHAT = [
    'the colour of the water under the bridge',
    `what was written about ${about}`,
    'the weight of an unanswered letter',
    'how slowly the tide leaves the flats',
    'a debt that was never put into words',
  ]
  const WHEN = [
    'because attention is the only coin that cannot be borrowed',
    'although the winter had taken most of the reeds',
    'when the lamps along the quay are lit one after the other',
    'since a habit outlives the reason for it',
  ]
  const paragraphs: string[] = []
  let count = 0
  for (let n = 0; count < words; n += 5) {
    const sentences = [n, n + 1, n + 2, n + 3, n + 4].map(
      (i) => `${WHO[i % 6]} of chapter ${i + 1} ${DOES[i % 7]} ${WHAT[i % 5]}, ${WHEN[i % 4]}.`,
    )
    const paragraph = sentences.join(' ')
    count += paragraph.split(' ').length
    paragraphs.push(paragraph)
  }
  return paragraphs
}

/** A web page of paragraphs. */
export const pageWith = (title: string, paragraphs: readonly string[], head = ''): string =>
  `<!doctype html><html lang="en"><head><title>${title}</title>${head}</head><body><nav><a href="/">Home</a></nav>
   <article><h1>${title}</h1>${paragraphs.map((text) => `<p>${text}</p>`).join('\n')}</article></body></html>`
