import { CSV_COLUMNS } from '../exports/highlight-csv.ts'
import { strToU8, zipSync } from 'fflate'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { makeDatabase } from '../../../test/support/make-database.ts'
import { checkAccount, readImport, rowsOf } from '../../../test/support/imports.ts'
import { Failure } from '../../core/failure.ts'
import { detectFormat, FORMATS } from './formats.ts'

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text)

const fileOf = async (file: string | Uint8Array): Promise<string> => {
  try {
    return (await readImport(file)).format
  } catch (error) {
    return error instanceof Failure ? error.code : `thrown: ${String(error)}`
  }
}

describe('what is no export', () => {
  test.each([
    ['nothing', '', 'damaged_file'],
    ['blanks', ' \n\t\n', 'damaged_file'],
    ['prose', 'Just some words.\nAnd others, with a comma.\n', 'unsupported_type'],
    [
      'a page',
      '<!doctype html><html><body><p>Hello <a href="x">there</a></p></body></html>',
      'unsupported_type',
    ],
    ['a table of something else', 'name,amount\na,1\n', 'unsupported_type'],
    ['JSON of something else', '{"a": [1, 2]}', 'unsupported_type'],
    ['JSON that is cut off', '{"rows": [{"uri": "https://example.org", "target": [{"sour', 'damaged_file'],
    ['a program', 'return os.execute("true")', 'unsupported_type'],
    ['a PDF', '%PDF-1.7\n%\u00e2\u00e3\n1 0 obj\n', 'unsupported_type'],
    ['captions', 'WEBVTT\n\n00:01.000 --> 00:02.000\nHello\n', 'unsupported_type'],
    ['Markdown with a rule', '# Title\n\n==========\n\nText.\n', 'unsupported_type'],
  ])('%s', async (_name, file, code) => {
    expect(await fileOf(file)).toBe(code)
  })

  test('says which files can be imported', () => {
    expect(() => detectFormat(bytes('Just words.'))).toThrow(
      expect.objectContaining({ hint: expect.stringContaining('Kindle, My Clippings.txt') }) as Error,
    )
  })

  test('a database of something else', async () => {
    expect(await fileOf(makeDatabase('create table note (id integer, body text)'))).toBe('unsupported_type')
    expect(await fileOf(makeDatabase('create table Bookmark (id integer)'))).toBe('unsupported_type')
    expect(await fileOf(bytes('SQLite format 3\0'))).toBe('damaged_file')
  })

  test('archives of something else, cut off, empty, or made to burst', async () => {
    const whole = zipSync({ 'metadata_0_to_1.json': strToU8('[]'), 'a.txt': strToU8('words '.repeat(1000)) })
    expect(await fileOf(zipSync({ 'a.txt': strToU8('words') }))).toBe('unsupported_type')
    expect(await fileOf(zipSync({}))).toBe('unsupported_type')
    for (const length of [10, 100, whole.length - 30, whole.length - 1])
      expect(await fileOf(whole.slice(0, length))).toBe('damaged_file')
    const zeros = new Uint8Array(40 * 2 ** 20)
    expect(
      await fileOf(zipSync({ 'metadata_0_to_1.json': strToU8('[]'), 'content/a.html': zeros }, { level: 9 })),
    ).toBe('too_large')
  })

  test('an archive whose directory lies about sizes is not believed', async () => {
    const file = Buffer.from(
      zipSync({
        'metadata_0_to_1.json': strToU8(
          JSON.stringify([{ slug: 'a', title: 'A', url: 'https://example.org/a' }]),
        ),
        'content/a.html': strToU8('<p>x</p>'.repeat(10_000)),
      }),
    )
    // The size of the second file, in the directory, becomes ten bytes.
    const at = file.lastIndexOf('content/a.html') - 46
    file.writeUInt32LE(10, at + 24)
    const read = await readImport(file)
    expect(read.items).toMatchObject([{ text: null }])
    expect(read.outcomes).toEqual(['1 remark part_unread'])
  })
})

const SAMPLES: Record<string, string> = {
  'commonplace-csv': [CSV_COLUMNS, CSV_COLUMNS.map(() => 'a'), CSV_COLUMNS.map(() => 'b')]
    .map((cells) => `${cells.join(',')}\r\n`)
    .join(''),
  'kindle-clippings':
    'A (B)\r\n- Your Highlight at location 1-2 | Added on Sunday, 1 January 2023 10:00:00\r\n\r\nWords\r\n==========\r\nA (B)\r\n- Your Note at location 2 | Added on Sunday, 1 January 2023 10:00:00\r\n\r\nThought\r\n==========\r\n',
  'readwise-csv':
    'Highlight,Book Title,Book Author,Note,Location Type,Location,Highlighted at\n"Words, more",A,B,"a\nb",page,1,2024-01-01\nOther,A,B,,page,2,\n',
  'reader-csv':
    'Title,URL,Document tags,Saved date,Reading progress,Location,Seen\nA,https://a.example/,"[\'x\']",2024-01-01,0.5,new,True\nB,https://b.example/,[],,0,feed,False\n',
  'instapaper-csv':
    'URL,Title,Selection,Folder,Timestamp\nhttps://a.example/,A,"Words, quoted",Unread,1600000000\nhttps://b.example/,B,,Archive,1\n',
  'pocket-csv':
    'title,url,time_added,tags,status\nA,https://a.example/,1600000000,x|y,unread\n"B ""b""",https://b.example/,,,archive\n',
  'raindrop-csv':
    'id,title,note,excerpt,url,folder,tags,created,cover,highlights,favorite\n1,A,n,e,https://a.example/,F/G,"x, y",2024-01-01,,"One\nTwo",true\n2,B,,,https://b.example/,,,,,,\n',
  'pocket-html':
    '<title>Pocket Export</title><h1>Unread</h1><ul><li><a href="https://a.example/" time_added="1600000000" tags="x">A</a></li></ul><h1>Read Archive</h1><ul><li><a href="https://b.example/" time_added="1" tags="">B</a></li></ul>',
  'netscape-bookmarks':
    '<!DOCTYPE NETSCAPE-Bookmark-file-1>\n<DL><p><DT><H3>F</H3><DL><p><DT><A HREF="https://a.example/" ADD_DATE="1600000000">A</A><DD>d</DL><p><DT><A HREF="https://b.example/">B</A></DL>',
  'hypothesis-json':
    '{"rows":[{"id":"a","user":"u","uri":"https://a.example/","text":"t","target":[{"selector":[{"type":"TextQuoteSelector","exact":"Words"}]}]},{"id":"b","user":"u","uri":"https://a.example/","text":"r","references":["a"],"target":[]}]}',
  'koreader-json':
    '{"title":"A","author":"B","entries":[{"text":"Words","note":"n","page":1,"time":1694256612},{"text":"More","page":2}]}',
  'koreader-lua':
    'return {\n["doc_props"] = {["title"]="A"},\n["annotations"] = {[1]={["drawer"]="lighten",["text"]="Words",["note"]="n",["datetime"]="2024-01-01 10:00:00"},[2]={["drawer"]="lighten",["text"]="More"}},\n}\n',
  'kindle-app-csv':
    '"Notes:",,,\n"A",,,\n"by B",,,\n----------------------,,,\n,,,\n"Annotation Type","Location","Starred?","Annotation"\n"Highlight (Yellow)","Location 93","","Words, more"\n"Note","Location 94","","n"\n',
}

describe('every text format', () => {
  test.each(Object.entries(SAMPLES))('%s is told by its content', async (id, text) => {
    const read = await readImport(text)
    expect(read.format).toBe(id)
    expect(read.report.rows).toBe(2)
    checkAccount(read)
    // Twice the same: reading leaves nothing behind.
    expect((await readImport(text)).items).toEqual(read.items)
  })

  test('has a sample here', () => {
    const others = ['pocket-zip', 'omnivore-zip', 'kobo', 'apple-books']
    expect(FORMATS.map(({ id }) => id).toSorted()).toEqual([...Object.keys(SAMPLES), ...others].toSorted())
  })

  test('whatever happens to a file, each of its rows is accounted for, and only failures are thrown', async () => {
    const sample = fc.constantFrom(...Object.values(SAMPLES))
    const junk = fc.oneof(
      fc.string({ maxLength: 6 }),
      fc.constantFrom('"', '\n', '==========', '<', '{', '}', ',', '\0', '|', '\uFEFF', '(', '0', '-'),
    )
    const edit = fc.record({ at: fc.nat(2000), cut: fc.nat(40), put: junk })
    await fc.assert(
      fc.asyncProperty(sample, fc.array(edit, { minLength: 1, maxLength: 4 }), async (text, edits) => {
        let changed = text
        for (const { at, cut, put } of edits) {
          const from = at % (changed.length + 1)
          changed = changed.slice(0, from) + put + changed.slice(from + cut)
        }
        try {
          checkAccount(await readImport(changed))
        } catch (error) {
          if (!(error instanceof Failure)) throw error
        }
      }),
      { numRuns: 1500 },
    )
  })

  test('a row that is damaged costs itself and no other', async () => {
    const row = (i: number): string =>
      `"Title ${i}, long",https://example.org/${i},${1_600_000_000 + i},a|b,unread`
    const clipping = (i: number): string =>
      `Book (Roe)\n- Your Highlight at location ${i * 100 + 1}-${i * 100 + 2} | Added on Sunday, 1 January 2023 10:00:00\n\nWords of number ${i}\n==========`
    const files = [
      { head: 'title,url,time_added,tags,status\n', row },
      { head: '', row: clipping },
    ]
    const damage = fc.record({
      at: fc.nat(500),
      cut: fc.nat(2),
      put: fc.constantFrom('', '"', ',', '""', '(', '|', 'x', '\0'),
    })
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...files),
        fc.integer({ min: 2, max: 8 }),
        fc.nat(7),
        damage,
        async (file, count, which, { at, cut, put }) => {
          const rows = Array.from({ length: count }, (_, i) => file.row(i))
          const broken = which % count
          // Within one line: what parts the rows stays.
          const line = rows[broken]!.split('\n')
          const where = at % line.length
          const text = line[where]!
          if (text.startsWith('=')) return
          const from = at % (text.length + 1)
          line[where] = text.slice(0, from) + put + text.slice(from + cut)
          rows[broken] = line.join('\n')
          const read = await readImport(`${file.head}${rows.join('\n')}\n`)
          checkAccount(read)
          expect(read.report.rows).toBe(count)
          const whole = new Set(rowsOf(read).map((number) => number - (file.head === '' ? 1 : 2)))
          for (let i = 0; i < count; i++) if (i !== broken) expect([i, whole.has(i)]).toEqual([i, true])
        },
      ),
      { numRuns: 1500 },
    )
  })

  test('arbitrary bytes are read or refused, and nothing else is thrown', async () => {
    const heads = [
      '',
      'PK\x03\x04',
      'PK\x05\x06',
      'SQLite format 3\0',
      '{',
      '[',
      'return {',
      '==========\n- ',
      '\xff\xfe',
      '<dl><dt><a href=',
      'url,folder,created\n',
    ]
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...heads), fc.uint8Array({ maxLength: 600 }), async (head, tail) => {
        const file = Buffer.concat([Buffer.from(head, 'latin1'), tail])
        expect(await fileOf(new Uint8Array(file))).not.toMatch(/^thrown/)
      }),
      { numRuns: 800 },
    )
  })

  test('a damaged archive or database is read or refused, and nothing else is thrown', async () => {
    const zip = zipSync({
      'metadata_0_to_1.json': strToU8('[{"slug":"a","title":"A","url":"https://a.example/"}]'),
      'content/a.html': strToU8('<p>x</p>'),
    })
    const database = makeDatabase(
      'create table Bookmark (BookmarkID text, VolumeID text, ContentID text, Text text)',
      'create table content (ContentID text, ContentType integer, Title text)',
      "insert into content values ('b', 6, 'Old')",
      "insert into Bookmark values ('1', 'b', 'b', 'Words.')",
    )
    const flips = fc.array(fc.tuple(fc.nat(), fc.integer({ min: 0, max: 255 })), {
      minLength: 1,
      maxLength: 6,
    })
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(zip, database), flips, async (file, changes) => {
        const changed = file.slice()
        for (const [at, to] of changes) changed[at % changed.length] = to
        try {
          checkAccount(await readImport(changed))
        } catch (error) {
          if (!(error instanceof Failure)) throw error
        }
      }),
      { numRuns: 300 },
    )
  })
})
