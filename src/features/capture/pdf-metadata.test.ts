import { describe, expect, it } from 'vitest'
import type { Line } from './pdf-lines.ts'
import { pdfMetadata, realTitle } from './pdf-metadata.ts'

function line(text: string, size: number, base: number): Line {
  return {
    text,
    size,
    base,
    x0: 0,
    x1: 100,
    left: 0,
    right: 100,
    region: 0,
    font: 'F',
    isOneFont: true,
    fixedPitch: false,
  }
}

const page = [
  line('Journal of Notes', 9, 40),
  line('On the Keeping of', 20, 100),
  line('Commonplace Books', 20, 122),
  line('Jane Roe', 12, 150),
  line('A text begins here and goes on for a while.', 10, 200),
]

describe('pdfMetadata', () => {
  it.each([
    'Microsoft Word - x.doc',
    'Microsoft Word - Draft 3',
    'untitled',
    'Untitled-1',
    'thesis_final.pdf',
    'C:\\docs\\paper',
    '1204.0491v2',
    'BXX01234567 1..9',
    '   ',
    'PowerPoint Presentation',
    'doi:10.1000/xyz',
  ])('does not believe the title %j', (title) => {
    expect(realTitle(title)).toBeNull()
    expect(pdfMetadata({ title }, page).title).toBe('On the Keeping of Commonplace Books')
  })

  it.each(['On Reading', 'Word and Object', 'Print Culture', 'Main Street', 'Document and Memory'])(
    'believes the title %j',
    (title) => {
      expect(realTitle(title)).toBe(title)
    },
  )

  it('prefers the title that the XMP states', () => {
    expect(pdfMetadata({ title: 'x.doc', xmpTitle: 'The Real One' }, page).title).toBe('The Real One')
  })

  it('takes the first line of a page in one size', () => {
    const plain = [line('A letter', 10, 40), line('Dear reader, this is all in one size.', 10, 60)]
    expect(pdfMetadata({}, plain).title).toBe('A letter')
    expect(pdfMetadata({}, []).title).toBeNull()
  })

  it.each([
    ['Jane Roe', ['Jane Roe']],
    ['Roe, Jane', ['Roe, Jane']],
    ['Jane Roe; Sam Poe', ['Jane Roe', 'Sam Poe']],
    ['Jane Roe and Sam Poe', ['Jane Roe', 'Sam Poe']],
    ['Jane Roe, Sam Poe, and Ann Low', ['Jane Roe', 'Sam Poe', 'Ann Low']],
    ['Administrator', []],
    ['Microsoft Office User', []],
  ])('reads the authors of %j', (author, authors) => {
    expect(pdfMetadata({ author }, []).authors).toEqual(authors)
  })

  it('takes the list of the XMP as it stands', () => {
    expect(pdfMetadata({ author: 'x', xmpCreators: ['Roe, Jane', 'Sam Poe'] }, []).authors).toEqual([
      'Roe, Jane',
      'Sam Poe',
    ])
  })

  it('keeps the date of the file apart from that of the work', () => {
    const { published, created } = pdfMetadata({ creationDate: "D:20190304120000+01'00'" }, [])
    expect(published).toBeNull()
    expect(created).toBe('2019-03-04')
  })
})
