import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Line } from './pdf-lines.ts'
import { civilDate, languageTag, pdfMetadata, realTitle } from './pdf-metadata.ts'

function line(text: string, size: number, base: number): Line {
  return { text, size, base, x0: 0, x1: 100, left: 0, right: 100, region: 0, font: 'F' }
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

describe('civilDate', () => {
  it.each([
    ['D:2019', '2019'],
    ['D:201903', '2019-03'],
    ['D:20190304', '2019-03-04'],
    ["D:20190304233000-08'00'", '2019-03-04'],
    ['20190304', '2019-03-04'],
    ['2019-03-04T10:00:00Z', '2019-03-04'],
    ['2019-03', '2019-03'],
    ['2019', '2019'],
    ['D:20190230', '2019-02'],
    ['D:20191300', '2019'],
    ['March', null],
    ['D:00000000', null],
    ['', null],
  ])('%j is %j', (stated, date) => {
    expect(civilDate(stated)).toBe(date)
  })

  it('invents no precision', () => {
    fc.assert(
      fc.property(
        fc.date({ min: new Date('1500-01-01'), max: new Date('2100-01-01'), noInvalidDate: true }),
        (date) => {
          const iso = date.toISOString().slice(0, 10)
          expect(civilDate(iso)).toBe(iso)
          expect(civilDate(iso.slice(0, 7))).toBe(iso.slice(0, 7))
          expect(civilDate(`D:${iso.replaceAll('-', '')}`)).toBe(iso)
        },
      ),
    )
  })
})

describe('languageTag', () => {
  it.each([
    ['en-us', 'en-US'],
    ['de_DE', 'de-DE'],
    ['x-default', null],
    ['English', null],
    ['und', null],
    [undefined, null],
  ])('%j is %j', (stated, tag) => {
    expect(languageTag(stated)).toBe(tag)
  })
})
