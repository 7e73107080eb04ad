import { describe, expect, it } from 'vitest'
import { detectKind } from './detect-kind.ts'
import type { FileKind } from './detect-kind.ts'

const latin1 = (text: string) => Buffer.from(text, 'latin1')
const epub = latin1('PK\x03\x04' + '\0'.repeat(26) + 'mimetypeapplication/epub+zip')

describe('detectKind by bytes', () => {
  it.each<[string, Uint8Array, FileKind]>([
    ['a page', latin1('<!DOCTYPE html><p>x'), 'html'],
    ['a page after a mark and a comment', Buffer.from('\uFEFF \n<!-- saved --><html lang=en>'), 'html'],
    ['a page in XML', latin1('<?xml version="1.0"?>\n<html xmlns="http://www.w3.org/1999/xhtml">'), 'html'],
    ['a page in 16 bits', Buffer.from('\uFEFF<html><p>x', 'utf16le'), 'html'],
    ['part of a page', latin1('<article><h1>A</h1><p>B</p></article>'), 'html'],
    ['a PDF behind some junk', latin1('\r\n\r\n%PDF-1.7\n'), 'pdf'],
    ['an EPUB', epub, 'epub'],
    ['another archive', latin1('PK\x03\x04' + '\0'.repeat(26) + 'word/document.xml'), 'unknown'],
    ['PNG', latin1('\x89PNG\r\n\x1a\n\0\0\0\rIHDR'), 'image'],
    ['JPEG', latin1('\xff\xd8\xff\xe0\0\x10JFIF'), 'image'],
    ['WebP', latin1('RIFF\x24\0\0\0WEBPVP8 '), 'image'],
    ['HEIC', latin1('\0\0\0\x18ftypheic\0\0\0\0'), 'image'],
    ['SVG', latin1('<?xml version="1.0"?><svg xmlns="http://www.w3.org/2000/svg">'), 'image'],
    ['captions', latin1('WEBVTT\n\n00:00.000 --> 00:02.000\nHi'), 'vtt'],
    ['captions in JSON', latin1('{"wireMagic":"pb3","pens":[{}],"events":[{"tStartMs":0}]}'), 'caption-json'],
    ['a transcript in JSON', latin1('{"version":"1.0.0","segments":[{"startTime":0.5}]}'), 'caption-json'],
    ['other JSON', latin1('{"events":[{"day":1}]}'), 'text'],
    ['captions in XML', latin1('<?xml version="1.0"?><timedtext format="3">'), 'caption-xml'],
    ['subtitles without a number', Buffer.from('\uFEFF00:00:01,000 --> 00:00:02,000\nHi'), 'srt'],
    ['a feed', latin1('<?xml version="1.0"?>\n<rss version="2.0"><channel>'), 'feed'],
    ['subtitles', latin1('1\r\n00:00:01,000 --> 00:00:02,000\r\nHi'), 'srt'],
    ['plain text', Buffer.from('Just words, naïve ones.'), 'text'],
    ['a page with a stray zero byte', latin1('<!DOCTYPE html><title>N\0ul</title><p>x'), 'html'],
    ['data that begins like a page', latin1('<html>' + '\0\x01\x02'.repeat(100)), 'unknown'],
    ['noise', Uint8Array.from([0, 1, 2, 3, 4, 5, 0, 0]), 'unknown'],
    ['nothing', new Uint8Array(), 'unknown'],
  ])('%s', (_name, bytes, kind) => {
    expect(detectKind({ bytes })).toBe(kind)
  })
})

describe('detectKind with more facts', () => {
  it('believes bytes over the header and the name', () => {
    const pdf = latin1('%PDF-1.4')
    expect(detectKind({ bytes: pdf, contentType: 'text/html; charset=utf-8', fileName: 'a.html' })).toBe(
      'pdf',
    )
    expect(detectKind({ bytes: latin1('<!doctype html>'), contentType: 'text/plain' })).toBe('html')
    expect(detectKind({ bytes: latin1('<!doctype html>'), contentType: 'application/pdf' })).toBe('html')
    expect(detectKind({ bytes: latin1('Sorry.'), contentType: 'application/pdf', fileName: 'a.pdf' })).toBe(
      'text',
    )
  })

  it('knows Markdown by header or name only', () => {
    const bytes = latin1('# Title\n\nText')
    expect(detectKind({ bytes, contentType: 'text/markdown; charset=utf-8' })).toBe('markdown')
    expect(detectKind({ bytes, contentType: 'text/plain', fileName: '/docs/README.md' })).toBe('markdown')
    expect(detectKind({ bytes, fileName: 'notes.MARKDOWN' })).toBe('markdown')
    expect(detectKind({ bytes: latin1('<p align="center">x</p>\n\n# T'), fileName: 'README.md' })).toBe(
      'markdown',
    )
    expect(detectKind({ bytes, contentType: 'text/plain' })).toBe('text')
  })

  it('does not read data as prose', () => {
    expect(detectKind({ bytes: latin1('{"a":1}'), contentType: 'application/json' })).toBe('unknown')
    expect(detectKind({ bytes: latin1('<rss version="2.0">'), contentType: 'application/rss+xml' })).toBe(
      'feed',
    )
  })

  it('goes by the header or the name while there are no bytes', () => {
    expect(detectKind({ contentType: 'application/epub+zip' })).toBe('epub')
    expect(detectKind({ fileName: 'talk.srt' })).toBe('srt')
    expect(detectKind({ fileName: 'constructor' })).toBe('unknown')
  })
})
