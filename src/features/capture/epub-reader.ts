import { placesInMarkdown } from './places-in-markdown.ts'
import { Failure } from '../../core/failure.ts'
import { plainTextOf } from '../texts/plain-text.ts'
import { countWords } from './count-words.ts'
import { damagedEpub, openEpubArchive, resolveName, type EpubArchive } from './epub-archive.ts'
import { readChapter, type Chapter } from './epub-chapter.ts'
import { contentsOfNav, contentsOfNcx, type ContentsEntry } from './epub-contents.ts'
import { all, asXml, packageName, parseXml, readPackage, type EpubPackage } from './epub-package.ts'
import type { ChapterMark, EpubText } from './extract-epub.ts'

/** Ways of scrambling fonts that hide no text (EPUB 3.3, 4.4; Adobe's older one). */
const FONT_SCRAMBLING = new Set(['http://www.idpf.org/2008/embedding', 'http://ns.adobe.com/pdf/enc#RC'])

/** Reads an EPUB in this thread. Failures as `extractEpub` lists them. */
export async function readEpub(bytes: Uint8Array): Promise<EpubText> {
  const archive = openEpubArchive(bytes)
  refuseLocked(archive)
  const name = packageNameIn(archive)
  const opf = name === undefined ? undefined : archive.text(name)
  if (name === undefined || opf === undefined) throw damagedEpub('It does not say what it holds.')
  const book = readPackage(opf, name)
  if (book.spine.length === 0 && !/<(?:\w+:)?itemref\b/u.test(opf)) throw damagedEpub('It lists no chapters.')
  const { chapters, missing } = chaptersOf(archive, book)
  if (chapters.length === 0 && missing.length > 0) throw damagedEpub('Its chapters are not in it.')
  const { markdown, plain, starts } = joined(chapters)
  const words = countWords(plain)
  if (words === 0) {
    throw new Failure('no_text', 'The EPUB has no text; it may be made of pictures.', {
      hint: 'If it is a comic or a scanned book, run a text recognition (OCR) program over it and add the result.',
    })
  }
  const cover = coverOf(archive, book)
  return {
    markdown,
    plain,
    html: null,
    title: book.title,
    authors: book.authors,
    contributors: book.contributors,
    language: book.language,
    published: book.published,
    publisher: book.publisher,
    description: book.description === null ? null : plainDescription(book.description),
    isbns: book.isbns,
    ...(cover && { cover }),
    chapters: placesInMarkdown(markdown, plain, marksOf(chapters, contentsOf(archive, book), starts)),
    words,
    warnings: missing.map((file) => `A chapter is missing from the file: ${file}.`),
  }
}

/** Refuses a book whose text is locked: by Adobe (rights.xml), Apple (sinf.xml), Readium (license.lcpl) or unknown means. */
function refuseLocked(archive: EpubArchive): void {
  const encryption = archive.text('META-INF/encryption.xml')
  const data =
    encryption === undefined
      ? []
      : all(asXml(parseXml(encryption, 'encryption list')['encryption'])['EncryptedData'])
  const isLocked = data.some(
    (entry) => !FONT_SCRAMBLING.has(String(asXml(entry['EncryptionMethod'])['@Algorithm'])),
  )
  const hasLicence = ['rights.xml', 'sinf.xml', 'license.lcpl'].some((file) =>
    archive.has(`META-INF/${file}`),
  )
  if (!isLocked && !hasLicence) return
  throw new Failure(
    'drm_protected',
    'The EPUB is locked by copy protection (DRM), so its text cannot be read.',
    {
      hint: 'Add the copy without copy protection if the shop gives one, or save your highlights from the app that opens it and import those.',
    },
  )
}

/** The package file, also of a book whose container file is missing or wrong. */
function packageNameIn(archive: EpubArchive): string | undefined {
  const container = archive.text('META-INF/container.xml')
  const named = container === undefined ? undefined : packageName(container)
  const usual = [
    'OEBPS/content.opf',
    'content.opf',
    'EPUB/package.opf',
    'OPS/package.opf',
    'OEBPS/package.opf',
  ]
  return [named, ...usual].find((name) => name !== undefined && archive.has(name))
}

interface NamedChapter extends Chapter {
  file: string
}

function chaptersOf(
  archive: EpubArchive,
  book: EpubPackage,
): { chapters: NamedChapter[]; missing: string[] } {
  const chapters: NamedChapter[] = []
  const missing: string[] = []
  for (const [index, file] of book.spine.entries()) {
    const xhtml = archive.text(file)
    if (xhtml === undefined) missing.push(file)
    else chapters.push({ file, ...readChapter(xhtml, index + 1) })
  }
  return { chapters, missing }
}

/** The chapters as one text. `starts` are code points of `plain`, by chapter. */
function joined(chapters: readonly Chapter[]): { markdown: string; plain: string; starts: number[] } {
  const markdown: string[] = []
  const plain: string[] = []
  const starts: number[] = []
  let length = 0
  let last: Chapter | undefined
  for (const chapter of chapters) {
    // Two lists on end would become one; an empty comment parts them.
    if (last?.endsWithList && chapter.beginsWithList) markdown.push('<!-- -->')
    if (chapter.markdown !== '') {
      markdown.push(chapter.markdown)
      last = chapter
    }
    starts.push(length)
    if (chapter.plain === '') continue
    plain.push(chapter.plain)
    length += codePointsIn(chapter.plain) + 2
  }
  for (const { notes, plainNotes } of chapters) {
    if (notes !== '') markdown.push(notes)
    if (plainNotes !== '') plain.push(plainNotes)
  }
  return { markdown: `${markdown.join('\n\n')}\n`, plain: plain.join('\n\n'), starts }
}

function contentsOf(archive: EpubArchive, book: EpubPackage): ContentsEntry[] {
  try {
    const nav = book.nav === null ? undefined : archive.text(book.nav)
    const entries = nav === undefined || book.nav === null ? [] : contentsOfNav(nav, book.nav)
    if (entries.length > 0) return entries
    const ncx = book.ncx === null ? undefined : archive.text(book.ncx)
    return ncx === undefined || book.ncx === null ? [] : contentsOfNcx(ncx, book.ncx)
  } catch (error) {
    // A broken table of contents costs names of chapters, not the text.
    if (error instanceof Failure && error.code === 'damaged_file') return []
    throw error
  }
}

/** Where each chapter of the table of contents begins; without one, where a file begins with a heading. */
function marksOf(
  chapters: readonly NamedChapter[],
  contents: readonly ContentsEntry[],
  starts: readonly number[],
): ChapterMark[] {
  const marks: ChapterMark[] = []
  const from = new Map<string, number>()
  for (const { title, file, isInside } of contents) {
    const index = chapters.findIndex((chapter) => chapter.file.toLowerCase() === file.toLowerCase())
    const chapter = chapters[index]
    if (!chapter) continue
    const searched = from.get(file) ?? 0
    // An entry that points into a file begins at the line with its title.
    const line = isInside ? lineWith(chapter.plain, title, searched) : undefined
    if (line !== undefined) from.set(file, line + title.length)
    marks.push({
      title,
      start: (starts[index] ?? 0) + codePointsIn(chapter.plain.slice(0, line ?? searched)),
    })
  }
  if (marks.length > 0) return marks.toSorted((a, b) => a.start - b.start)
  return chapters.flatMap((chapter, index) =>
    chapter.heading === null ? [] : [{ title: chapter.heading, start: starts[index] ?? 0 }],
  )
}

function codePointsIn(text: string): number {
  return Array.from(text).length
}

function lineWith(plain: string, title: string, from: number): number | undefined {
  for (let at = plain.indexOf(title, from); at >= 0; at = plain.indexOf(title, at + 1)) {
    if (at === 0 || plain[at - 1] === '\n') return at
  }
  return undefined
}

function coverOf(archive: EpubArchive, book: EpubPackage): Uint8Array | undefined {
  if (book.cover !== null) return archive.picture(book.cover)
  const page = book.coverPage === null ? undefined : archive.text(book.coverPage)
  if (page === undefined || book.coverPage === null) return undefined
  const href = /<(?:img|image)\b[^>]*?\s(?:src|(?:xlink:)?href)\s*=\s*["']([^"']+)["']/iu.exec(page)?.[1]
  return href === undefined ? undefined : archive.picture(resolveName(book.coverPage, href))
}

function plainDescription(description: string): string | null {
  const plain = /<[a-z/!]/iu.test(description)
    ? plainTextOf(readChapter(description, 0).markdown)
    : description
  return plain.trim().slice(0, 5_000) || null
}
