import iconv from 'iconv-lite'
import { describe, expect, it } from 'vitest'
import { capturingLibrary, markdownOf, save } from '../../../test/support/saved.ts'

const RUSSIAN = 'Он читал книгу до утра и ничего не заметил, потому что книга была хороша.'
const CHINESE = '他一直读到天亮，什么都没有注意到，因为那本书写得太好了。'
const TAIWANESE = '他一直讀到天亮，什麼都沒有注意到，因為那本書寫得太好了。'
const JAPANESE = '彼は夜明けまで本を読み、何も気づかなかった。それは良い本だったから。'
const KOREAN = '그는 새벽까지 책을 읽었고 아무것도 알아차리지 못했다. 좋은 책이었기 때문이다.'
const ENGLISH = 'He read “till dawn” – and didn’t notice: the book’s price was 3 €.'
const POLISH = 'Zażółć gęślą jaźń: czytał książkę aż do świtu i nic nie zauważył.'
const GREEK = 'Διάβαζε το βιβλίο ως το πρωί και δεν κατάλαβε τίποτα, γιατί ήταν καλό.'
const HEBREW = 'הוא קרא את הספר עד הבוקר ולא שם לב לכלום, כי הספר היה טוב.'
const THAI = 'เขาอ่านหนังสือจนรุ่งเช้าโดยไม่ทันสังเกตอะไรเลย เพราะหนังสือเล่มนั้นดี'
const TURKISH = 'Şafağa kadar kitabı okudu ve hiçbir şeyi fark etmedi, çünkü iyiydi.'

const page = (words: string, head: string) =>
  `<!doctype html><html><head>${head}<title>${words.slice(0, 12)}</title></head><body><article>${`<p>${words}</p>`.repeat(3)}</article></body></html>`
const meta = (charset: string) => `<meta charset="${charset}">`

/** ISO-2022-JP is EUC-JP with seven bits, between escapes. */
function iso2022jp(text: string): Buffer {
  const parts = text
    .split(/([^\0-\x7f]+)/)
    .map((part, at) =>
      at % 2 === 0
        ? Buffer.from(part, 'latin1')
        : Buffer.concat([
            Buffer.from('\x1b$B', 'latin1'),
            iconv.encode(part, 'euc-jp').map((byte) => byte & 0x7f),
            Buffer.from('\x1b(B', 'latin1'),
          ]),
    )
  return Buffer.concat(parts)
}

/** What `save_url` and `read_item` make of such a page. */
async function readAs(bytes: Uint8Array, contentType: string): Promise<{ title: string; markdown: string }> {
  const library = await capturingLibrary({
    'https://example.test/a': { bytes, headers: { 'content-type': contentType } },
  })
  const { item } = await save(library, 'https://example.test/a')
  return { title: item.title, markdown: await markdownOf(library, item.id) }
}

describe('a saved page is readable', () => {
  it.each([
    ['windows-1251', RUSSIAN],
    ['koi8-r', RUSSIAN],
    ['iso-8859-5', RUSSIAN],
    ['gbk', CHINESE],
    ['gb2312', CHINESE],
    ['gb18030', CHINESE],
    ['big5', TAIWANESE],
    ['shift_jis', JAPANESE],
    ['x-sjis', JAPANESE],
    ['euc-jp', JAPANESE],
    ['euc-kr', KOREAN],
    ['ks_c_5601-1987', KOREAN],
    ['windows-1252', ENGLISH],
    ['windows-1250', POLISH],
    ['iso-8859-2', POLISH],
    ['windows-1253', GREEK],
    ['windows-1254', TURKISH],
    ['windows-1255', HEBREW],
    ['windows-874', THAI],
    ['utf-8', THAI],
  ])('that declares %s in its own text alone', async (charset, words) => {
    const known = { 'x-sjis': 'shift_jis', 'ks_c_5601-1987': 'euc-kr' }[charset] ?? charset
    const { title, markdown } = await readAs(iconv.encode(page(words, meta(charset)), known), 'text/html')
    expect(markdown).toContain(words)
    expect(words.startsWith(title)).toBe(true)
  })

  it('in the old Japanese encoding of mail', async () => {
    const bytes = iso2022jp(page(JAPANESE, meta('iso-2022-jp')))
    expect((await readAs(bytes, 'text/html')).markdown).toContain(JAPANESE)
  })

  it.each([
    ['windows-1251', RUSSIAN],
    ['gbk', CHINESE],
    ['shift_jis', JAPANESE],
  ])('that declares %s by http-equiv, after much else', async (charset, words) => {
    const head = `<style>${'a{color:red}'.repeat(300)}</style><meta http-equiv="Content-Type" content="text/html; charset=${charset}">`
    expect((await readAs(iconv.encode(page(words, head), charset), 'text/html')).markdown).toContain(words)
  })

  it.each([
    [
      'header UTF-8 over a page that says ISO-8859-1',
      Buffer.from(page(ENGLISH, meta('ISO-8859-1'))),
      'utf-8',
    ],
    [
      'header UTF-8 over a page that says windows-1251',
      Buffer.from(page(RUSSIAN, meta('windows-1251'))),
      'UTF-8',
    ],
    [
      'header windows-1251 over a page that says UTF-8',
      iconv.encode(page(RUSSIAN, meta('utf-8')), 'win1251'),
      'windows-1251',
    ],
    [
      'header ISO-8859-1, as servers send it unasked, over UTF-8',
      Buffer.from(page(RUSSIAN, '')),
      'ISO-8859-1',
    ],
    ['header UTF-8 that is not true', iconv.encode(page(RUSSIAN, meta('windows-1251')), 'win1251'), 'utf-8'],
    ['header of no meaning', Buffer.from(page(RUSSIAN, '')), 'none'],
  ])('%s', async (_what, bytes, charset) => {
    const words = _what.includes('ISO-8859-1') && !_what.includes('unasked') ? ENGLISH : RUSSIAN
    expect((await readAs(bytes, `text/html; charset=${charset}`)).markdown).toContain(words)
  })

  it.each([
    ['UTF-8 with its mark', Buffer.from(`\ufeff${page(RUSSIAN, '')}`), 'text/html'],
    [
      'UTF-8 with its mark, under another header',
      Buffer.from(`\ufeff${page(RUSSIAN, '')}`),
      'text/html; charset=iso-8859-1',
    ],
    ['UTF-16 LE with its mark', iconv.encode(page(RUSSIAN, ''), 'utf-16le', { addBOM: true }), 'text/html'],
    ['UTF-16 BE with its mark', iconv.encode(page(RUSSIAN, ''), 'utf-16be', { addBOM: true }), 'text/html'],
    ['UTF-16 LE by its header', iconv.encode(page(RUSSIAN, ''), 'utf-16le'), 'text/html; charset=utf-16le'],
    ['UTF-16 BE that nobody announced', iconv.encode(page(RUSSIAN, ''), 'utf-16be'), 'text/html'],
    [
      'UTF-16 with its mark, though it says UTF-8',
      iconv.encode(page(RUSSIAN, meta('utf-8')), 'utf-16le', { addBOM: true }),
      'text/html',
    ],
  ])('in %s', async (_what, bytes, contentType) => {
    const { title, markdown } = await readAs(bytes, contentType)
    expect(markdown).toContain(RUSSIAN)
    expect(title.startsWith('Он')).toBe(true)
  })

  it.each([
    ['windows-1251', RUSSIAN],
    ['gbk', CHINESE],
    ['shift_jis', JAPANESE],
    ['euc-kr', KOREAN],
  ])('in %s, though nobody says so', async (charset, words) => {
    expect((await readAs(iconv.encode(page(words.repeat(4), ''), charset), 'text/html')).markdown).toContain(
      words,
    )
  })

  it('as a text file, too', async () => {
    const library = await capturingLibrary({
      'https://example.test/a.txt': {
        bytes: iconv.encode(`${RUSSIAN}\n\n${RUSSIAN}\n`, 'koi8-r'),
        headers: { 'content-type': 'text/plain; charset=koi8-r' },
      },
    })
    const { item } = await save(library, 'https://example.test/a.txt')
    expect(await markdownOf(library, item.id)).toContain(RUSSIAN)
  })
})
