import type { DomDocument, DomElement } from './article-dom.ts'

/**
 * Rewrites what extractors would lose or spoil into plain elements they keep, before they run: formulas of every renderer
 * become `<math data-latex>`, the language of code stands on its `<pre>`, lazy images get their address, and what cells and
 * tasks say by attributes or boxes is kept as data.
 */
export function normaliseMarkup(document: DomDocument): void {
  normaliseMath(document)
  normaliseCode(document)
  for (const image of document.querySelectorAll('img')) normaliseImage(image)
  for (const cell of document.querySelectorAll('td[align], th[align], td[style], th[style]'))
    keepAlignment(cell)
  for (const box of document.querySelectorAll('li input[type="checkbox"]')) {
    box.closest('li')?.setAttribute('data-checked', String(box.hasAttribute('checked')))
  }
}

function keepAlignment(cell: DomElement): void {
  const inStyle = /text-align:\s*(left|right|center)/.exec(cell.getAttribute('style') ?? '')?.[1]
  const side = inStyle ?? cell.getAttribute('align')
  if (side) cell.setAttribute('data-align', side)
}

function normaliseMath(document: DomDocument): void {
  for (const script of document.querySelectorAll('script[type^="math/tex"]')) {
    const isBlock = /mode\s*=\s*display/.test(script.getAttribute('type') ?? '')
    const before = script.previousElementSibling
    if (before && /\bMathJax/.test(before.getAttribute('class') ?? '')) before.remove()
    script.replaceWith(formula(document, script.textContent ?? '', isBlock))
  }
  for (const math of document.querySelectorAll('math')) {
    if (math.hasAttribute('data-latex') || !math.parentElement) continue
    const source =
      math.querySelector('annotation[encoding*="tex" i]')?.textContent || math.getAttribute('alttext') || ''
    const tex = cleanTex(source)
    // What a renderer puts around the formula says the same once more for the eye.
    const outer = math.closest(
      '.katex-display, .katex, .MathJax_Display, .MathJax, mjx-container, .mwe-math-element',
    )
    const isBlock =
      math.getAttribute('display') === 'block' ||
      math.closest('.katex-display, .MathJax_Display, mjx-container[display="true"]') !== null
    if (tex) (outer ?? math).replaceWith(formula(document, tex, isBlock))
    else if (outer) outer.replaceWith(math)
  }
  const rendered =
    'img.latex, img.mwe-math-fallback-image-inline, img.tex, img[class*="math"][alt], img[src*="/latex"][alt]'
  for (const image of document.querySelectorAll(rendered)) {
    const tex = cleanTex(image.getAttribute('alt') ?? '')
    if (tex) image.replaceWith(formula(document, tex, false))
  }
}

function formula(document: DomDocument, source: string, isBlock: boolean): DomElement {
  const math = document.createElement('math')
  const tex = cleanTex(source)
  math.setAttribute('data-latex', tex)
  if (isBlock) math.setAttribute('display', 'block')
  // Readability drops what holds no text.
  math.append(tex)
  return math
}

/** Without the wrapping that encyclopaedias put around each formula, and without dollars. */
function cleanTex(source: string): string {
  const tex = source.trim().replace(/^\$+|\$+$/g, '')
  return (/^\{\\(?:displaystyle|textstyle)\s([^]*)\}$/.exec(tex)?.[1] ?? tex).trim()
}

const LANGUAGE =
  /(?:^|\s)(?:language|lang|highlight-source|highlight-text-\w+|brush:?)[-\s:]\s*([\w+#.-]+)|(?:^|\s)(?:sourceCode|hljs)\s+(?!language|hljs)([\w+#.-]+)|(?:^|\s)highlight-([\w+#]+)(?:\s|$)/i
const NO_LANGUAGE =
  /^(?:default|none|text|plain|plaintext|notranslate|nohighlight|source|undefined|auto|sourcecode)$/i

function normaliseCode(document: DomDocument): void {
  for (const pre of document.querySelectorAll('pre')) {
    const language = languageOf(pre)
    if (language) pre.setAttribute('data-language', language)
  }
}

function languageOf(pre: DomElement): string | undefined {
  const code = pre.querySelector('code')
  const places = [code, pre, pre.parentElement, pre.parentElement?.parentElement]
  for (const place of places) {
    if (!place) continue
    const named = place.getAttribute('data-lang') ?? place.getAttribute('data-language')
    const match = LANGUAGE.exec(place.getAttribute('class') ?? '')
    const language = (named ?? match?.[1] ?? match?.[2] ?? match?.[3])?.trim().toLowerCase()
    if (language && /^[\w+#.-]{1,30}$/.test(language) && !NO_LANGUAGE.test(language)) return language
  }
  return undefined
}

const LAZY = ['data-src', 'data-original', 'data-lazy-src', 'data-lazy', 'data-hi-res-src', 'data-url']

function normaliseImage(image: DomElement): void {
  const source = image.getAttribute('src') ?? ''
  const lazy = LAZY.map((name) => image.getAttribute(name)).find((value) => value && isImageAddress(value))
  const sets = [image.getAttribute('data-srcset'), image.getAttribute('srcset')]
  const picture = image.parentElement?.localName === 'picture' ? image.parentElement : null
  for (const part of picture?.querySelectorAll('source') ?? []) {
    sets.push(part.getAttribute('data-srcset') ?? part.getAttribute('srcset'))
  }
  const isPlaceholder =
    source === '' || /^data:|\/(?:blank|placeholder|spacer|transparent|1x1|lazy)[^/]*$/i.test(source)
  const best = lazy ?? (isPlaceholder ? sets.map((set) => largestOf(set ?? '')).find(Boolean) : undefined)
  if (best) image.setAttribute('src', best)
}

function isImageAddress(value: string): boolean {
  return !/^\s*(?:data:|\{|\[)/.test(value) && value.length < 2048
}

/** The largest image of a `srcset` that is at most 2,000 pixels wide, else the first. */
function largestOf(set: string): string | undefined {
  if (set.length > 20_000) return undefined
  let best: { url: string; size: number } | undefined
  for (const [, url = '', size = '1'] of set.matchAll(/([^\s,]\S*[^\s,])(?:\s+([\d.]+)[wx])?\s*(?:,|$)/g)) {
    const width = Number(size)
    if (isImageAddress(url) && (!best || (width > best.size && width <= 2000))) best = { url, size: width }
  }
  return best?.url
}
