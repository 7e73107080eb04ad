import * as fc from 'fast-check'
import iconv from 'iconv-lite'
import { describe, expect, it } from 'vitest'
import { decodeText } from './decode-text.ts'

const RUSSIAN = 'Он читал книгу до утра и ничего не заметил.'
const CHINESE = '他一直读到天亮，什么都没有注意到。'
const JAPANESE = '彼は夜明けまで本を読み、何も気づかなかった。'
const page = (charset: string, text: string) => `<html><head><meta charset="${charset}"></head><p>${text}</p>`

describe('decodeText', () => {
  it.each([
    ['windows-1251', RUSSIAN],
    ['gbk', CHINESE],
    ['gb2312', CHINESE],
    ['shift_jis', JAPANESE],
    ['euc-jp', JAPANESE],
    ['euc-kr', '그는 새벽까지 책을 읽었다.'],
    ['big5', '他一直讀到天亮。'],
    ['koi8-r', RUSSIAN],
  ])('believes a page that declares %s itself', (charset, text) => {
    const bytes = iconv.encode(page(charset, text), charset)
    expect(decodeText(bytes, 'text/html').text).toContain(text)
    expect(decodeText(bytes).text).toContain(text)
  })

  it('reads the old form of the declaration, and one that stands far down', () => {
    const old = `<meta http-equiv="Content-Type" content="text/html; charset=windows-1251"><p>${RUSSIAN}`
    expect(decodeText(iconv.encode(old, 'win1251')).text).toContain(RUSSIAN)
    const far = `<style>${'a{}'.repeat(2000)}</style>${old}`
    expect(decodeText(iconv.encode(far, 'win1251')).text).toContain(RUSSIAN)
    const xml = `<?xml version="1.0" encoding="windows-1251"?><html><p>${RUSSIAN}</p></html>`
    expect(decodeText(iconv.encode(xml, 'win1251')).text).toContain(RUSSIAN)
  })

  it('lets the header go before the page', () => {
    const bytes = iconv.encode(page('iso-8859-1', RUSSIAN), 'win1251')
    expect(decodeText(bytes, 'text/html; charset=windows-1251').text).toContain(RUSSIAN)
  })

  it('is UTF-8 under a header that says so, whatever the page declares', () => {
    const bytes = Buffer.from(page('ISO-8859-1', 'naïve “café” – 3 €'))
    expect(decodeText(bytes, 'text/html; charset=UTF-8')).toMatchObject({ encoding: 'utf-8' })
    expect(decodeText(bytes, 'text/html; charset="utf-8"').text).toContain('naïve “café” – 3 €')
  })

  it('goes by the page where the header’s UTF-8 is no UTF-8', () => {
    const bytes = iconv.encode(page('windows-1251', RUSSIAN), 'win1251')
    expect(decodeText(bytes, 'text/html; charset=utf-8').text).toContain(RUSSIAN)
  })

  it('sees UTF-8 behind a careless label of Western Latin', () => {
    expect(decodeText(Buffer.from('Straße – “ja”'), 'text/plain; charset=iso-8859-1').text).toBe(
      'Straße – “ja”',
    )
  })

  it('does not take 8-bit text for 16-bit units because the header says so', () => {
    for (const name of ['utf-16', 'utf-16le', 'utf-16be'])
      expect(decodeText(Buffer.from('<p>a café</p>'), `text/html; charset=${name}`).text).toBe(
        '<p>a café</p>',
      )
    const chinese = iconv.encode(CHINESE, 'utf-16le') // not one zero byte in it
    expect(decodeText(chinese, 'text/plain; charset=utf-16le').text).toBe(CHINESE)
  })

  it('takes away a byte order mark and believes it', () => {
    expect(decodeText(Buffer.from('\uFEFFnaïve'), 'text/html; charset=windows-1251').text).toBe('naïve')
    expect(decodeText(iconv.encode('naïve', 'utf-16le', { addBOM: true })).text).toBe('naïve')
    expect(decodeText(iconv.encode('naïve', 'utf-16be', { addBOM: true })).text).toBe('naïve')
  })

  it('gives the quotation marks of windows-1252', () => {
    const bytes = Uint8Array.of(0x93, 0x41, 0x94, 0x80, 0x92)
    expect(decodeText(bytes, 'text/html; charset=latin1').text).toBe('“A”€’')
    expect(decodeText(bytes).text).toBe('“A”€’')
  })

  it('finds out what nobody declared', () => {
    const long = (text: string) => text.repeat(12)
    expect(decodeText(iconv.encode(long(RUSSIAN), 'win1251')).text).toBe(long(RUSSIAN))
    expect(decodeText(iconv.encode(long(CHINESE), 'gb18030')).text).toBe(long(CHINESE))
    expect(decodeText(iconv.encode(long(JAPANESE), 'shift_jis')).text).toBe(long(JAPANESE))
    expect(decodeText(Buffer.from(CHINESE)).text).toBe(CHINESE)
  })

  it('keeps a UTF-8 page with one broken byte', () => {
    const bytes = Buffer.concat([Buffer.from(CHINESE.repeat(3)), Buffer.from([0xe4]), Buffer.from(' end')])
    expect(decodeText(bytes, 'text/html; charset=utf-8').text).toBe(`${CHINESE.repeat(3)}\uFFFD end`)
  })

  it('reads Japanese mail encoding, which only the platform knows', () => {
    const bytes = Buffer.from('\x1b$B$"\x1b(B', 'latin1')
    expect(decodeText(bytes, 'text/html; charset=iso-2022-jp').text).toBe('あ')
  })

  it('passes over labels that mean nothing', () => {
    const html = '<meta http-equiv="content-type" content="text/html; charset"><meta charset=klingon>ü'
    expect(decodeText(Buffer.from(html), 'text/html; charset=none').text).toBe(html)
  })

  it('gives back every text that was written in UTF-8', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), (text) => {
        const start = text.startsWith('\uFEFF') ? text.slice(1) : text
        return decodeText(Buffer.from(text), 'text/plain; charset=utf-8').text === start
      }),
    )
  })

  it('gives some text for any bytes', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), (bytes) => typeof decodeText(bytes).text === 'string'),
    )
  })
})
