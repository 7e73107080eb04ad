import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import type {
  DocumentInitParameters,
  PDFDocumentProxy,
  PDFPageProxy,
} from 'pdfjs-dist/types/src/display/api.d.ts'
import { Failure } from '../../core/failure.ts'
import type { PdfText } from './extract-pdf.ts'
import { blocksOf, type OutlineEntry, type PageLines } from './pdf-blocks.ts'
import { withoutFurniture } from './pdf-furniture.ts'
import { linesOf, type Line, type PlacedText } from './pdf-lines.ts'
import { pdfMetadata, type PdfStated } from './pdf-metadata.ts'
import { renderBlocks } from './pdf-text.ts'
import { countWords } from './count-words.ts'

/** More pages than any book has; a file that claims more is made to keep us busy. */
const MOST_PAGES = 10_000
/** Fonts and maps are let go after so many pages: memory stays that of a part of the file. */
const PAGES_BETWEEN_CLEANUPS = 32
const MOST_OUTLINE_ENTRIES = 2_000

/** Reads a PDF in this thread. Failures as `extractPdf` lists them. */
export async function readPdf(bytes: Uint8Array): Promise<PdfText> {
  const document = await openPdf(bytes)
  if (document.numPages > MOST_PAGES) {
    throw new Failure('too_large', `The PDF has ${document.numPages} pages.`, {
      hint: `Split it into files of at most ${MOST_PAGES} pages.`,
    })
  }
  const pages: Line[][] = []
  const unread: number[] = []
  for (let number = 1; number <= document.numPages; number++) {
    try {
      const page = await document.getPage(number)
      pages.push(linesOf(await placedTextOf(page)))
      page.cleanup()
    } catch {
      pages.push([])
      unread.push(number)
    }
    if (number % PAGES_BETWEEN_CLEANUPS === 0) await document.cleanup()
  }
  if (unread.length === document.numPages) throw damaged('None of its pages can be read.')
  const bodies = withoutFurniture(pages)
  const lines: PageLines[] = bodies.map((lines, index) => ({ page: index + 1, lines }))
  const blocks = blocksOf(lines, await outlineOf(document))
  if (!blocks.some((block) => /[\p{L}\p{N}]/u.test(block.text))) throw noText(document.numPages)
  const metadata = pdfMetadata(await statedBy(document), pages[0] ?? [])
  const labels = await document.getPageLabels().catch(() => null)
  const rendered = renderBlocks(blocks, document.numPages, labels)
  const empty = bodies.flatMap((lines, index) =>
    lines.length === 0 && !unread.includes(index + 1) && pages[index]?.length === 0 ? [index + 1] : [],
  )
  return {
    ...rendered,
    ...metadata,
    pageCount: document.numPages,
    words: countWords(rendered.plain),
    warnings: warningsOf(unread, empty),
  }
}

async function openPdf(bytes: Uint8Array): Promise<PDFDocumentProxy> {
  // Drawing needs a canvas package that not every platform has; reading text needs no more than that this name exists.
  if (!('DOMMatrix' in globalThis)) Object.assign(globalThis, { DOMMatrix: Object })
  const { getDocument, VerbosityLevel } = await import('pdfjs-dist/legacy/build/pdf.mjs')
  const folder = dirname(createRequire(import.meta.url).resolve('pdfjs-dist/package.json'))
  const parameters: DocumentInitParameters = {
    data: bytes,
    // Fonts of a file must never become code.
    isEvalSupported: false,
    verbosity: VerbosityLevel.ERRORS,
    useSystemFonts: false,
    disableFontFace: true,
    useWorkerFetch: false,
    useWasm: false,
    stopAtErrors: false,
    // Maps of Chinese, Japanese and Korean character sets, and the widths of the standard fonts.
    cMapUrl: join(folder, 'cmaps/'),
    cMapPacked: true,
    standardFontDataUrl: join(folder, 'standard_fonts/'),
  }
  try {
    return await getDocument(parameters).promise
  } catch (error) {
    if (error instanceof Error && error.name === 'PasswordException') {
      throw new Failure('encrypted_file', 'The PDF is locked with a password.', {
        hint: 'Open it with its password, save a copy without one, and add the copy.',
        cause: error,
      })
    }
    throw damaged('It is cut off or not a PDF.', error)
  }
}

async function placedTextOf(page: PDFPageProxy): Promise<PlacedText[]> {
  const viewport = page.getViewport({ scale: 1 })
  const { items, styles } = await page.getTextContent()
  const placed: PlacedText[] = []
  for (const item of items) {
    if (!('str' in item)) continue
    const matrix = multiply(viewport.transform, item.transform)
    const [, , , , x = 0, y = 0] = matrix
    const outside = x > viewport.width || y < 0 || x < -viewport.width || y > viewport.height + item.height
    if (outside) continue
    placed.push({
      text: item.str.replaceAll(/\p{Cc}/gu, ' ').toWellFormed(),
      matrix,
      width: item.width,
      font: item.fontName,
      fixedPitch: styles[item.fontName]?.fontFamily === 'monospace',
      rightToLeft: item.dir === 'rtl',
    })
  }
  return placed
}

/** The product of two affine maps given as [a, b, c, d, e, f]. */
function multiply(m: readonly number[], n: readonly number[]): number[] {
  const [a = 1, b = 0, c = 0, d = 1, e = 0, f = 0] = m
  const [p = 1, q = 0, r = 0, s = 1, t = 0, u = 0] = n
  return [a * p + c * q, b * p + d * q, a * r + c * s, b * r + d * s, a * t + c * u + e, b * t + d * u + f]
}

async function statedBy(document: PDFDocumentProxy): Promise<PdfStated> {
  try {
    const { info, metadata } = await document.getMetadata()
    const stated: Record<string, unknown> = { ...info }
    const xmp = (name: string): unknown => metadata?.get(name)
    const creators = xmp('dc:creator')
    return {
      title: textOr(stated['Title']),
      author: textOr(stated['Author']),
      creationDate: textOr(stated['CreationDate']),
      language: textOr(stated['Language']),
      xmpTitle: textOr(xmp('dc:title')),
      xmpCreators: Array.isArray(creators) ? creators.filter((name) => typeof name === 'string') : undefined,
      xmpDate:
        textOr(xmp('prism:publicationdate')) ?? textOr(xmp('prism:coverdate')) ?? textOr(xmp('dc:date')),
      xmpLanguage: textOr(xmp('dc:language')),
    }
  } catch {
    // A file whose metadata is broken is read without it.
    return {}
  }
}

function textOr(value: unknown): string | undefined {
  if (Array.isArray(value)) return textOr(value[0])
  return typeof value === 'string' && value.trim() !== '' ? value : undefined
}

async function outlineOf(document: PDFDocumentProxy): Promise<OutlineEntry[]> {
  const entries: OutlineEntry[] = []
  type Node = Awaited<ReturnType<PDFDocumentProxy['getOutline']>>[number]
  const walk = async (nodes: readonly Node[], depth: number): Promise<void> => {
    for (const node of nodes) {
      if (entries.length >= MOST_OUTLINE_ENTRIES) return
      const page = await pageOf(document, node.dest)
      if (page !== undefined) entries.push({ title: node.title, page, depth })
      if (depth < 5) await walk(node.items, depth + 1)
    }
  }
  try {
    await walk((await document.getOutline()) ?? [], 0)
  } catch {
    // A broken table of contents costs headings, not the text.
  }
  return entries
}

async function pageOf(document: PDFDocumentProxy, dest: unknown): Promise<number | undefined> {
  try {
    const explicit: unknown = typeof dest === 'string' ? await document.getDestination(dest) : dest
    const target: unknown = Array.isArray(explicit) ? explicit[0] : undefined
    if (typeof target === 'number') return target + 1
    if (isRef(target)) return (await document.getPageIndex(target)) + 1
  } catch {
    // An entry that leads nowhere is passed over.
  }
  return undefined
}

function isRef(value: unknown): value is { num: number; gen: number } {
  return typeof value === 'object' && value !== null && 'num' in value && 'gen' in value
}

function warningsOf(unread: readonly number[], empty: readonly number[]): string[] {
  const warnings: string[] = []
  if (unread.length > 0)
    warnings.push(`${pagesNamed(unread)} could not be read and ${isAre(unread)} missing.`)
  if (empty.length > 0) {
    warnings.push(`${pagesNamed(empty)} ${empty.length === 1 ? 'has' : 'have'} no text: blank, or a picture.`)
  }
  return warnings
}

function pagesNamed(pages: readonly number[]): string {
  const shown = pages.slice(0, 10).join(', ')
  const more = pages.length > 10 ? ` and ${pages.length - 10} more` : ''
  return `${pages.length === 1 ? 'Page' : 'Pages'} ${shown}${more}`
}

function isAre(pages: readonly number[]): string {
  return pages.length === 1 ? 'is' : 'are'
}

function damaged(why: string, cause?: unknown): Failure {
  return new Failure('damaged_file', `The PDF cannot be read. ${why}`, {
    hint: 'Download it again, or open it in another program and save it anew.',
    cause,
  })
}

function noText(pageCount: number): Failure {
  const pages = pageCount === 1 ? 'Its page holds' : `Its ${pageCount} pages hold`
  return new Failure('no_text', `The PDF has no text. ${pages} pictures of text, or nothing.`, {
    hint: 'Run a text recognition (OCR) program over it, such as `ocrmypdf`, and add the result.',
  })
}
