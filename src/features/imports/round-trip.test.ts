import { strToU8, zipSync } from 'fflate'
import fc from 'fast-check'
import { test, expect } from 'vitest'
import { makeDatabase } from '../../../test/support/make-database.ts'
import { checkAccount, highlightsOf, readImport } from '../../../test/support/imports.ts'

// What is written in the form of an export comes back the same, whatever it is.

const LETTERS = 'a b c é ß 資 料 ب ğ 😀 " \' , ; : < > & [ ] ( ) # * _ ` = + - @ | / \\ . ? ! 7 { }'.split(
  ' ',
)
const words = (max: number) =>
  fc
    .string({ unit: fc.constantFrom(...LETTERS, ' ', 'x', 'y'), minLength: 1, maxLength: max })
    .map((text) => text.replaceAll(/\s+/g, ' ').trim())
    .filter((text) => /[a-zé資料]/.test(text))
const lines = fc.array(words(40), { minLength: 1, maxLength: 4 }).map((all) => all.join('\n'))
const tag = fc
  .string({ unit: fc.constantFrom('a', 'b', 'é', '資', '-', ' '), minLength: 1, maxLength: 8 })
  .map((text) => text.replaceAll(/\s+/g, ' ').trim())
  .filter((text) => text !== '')
const tags = fc.uniqueArray(tag, { maxLength: 3 })
const seconds = fc.integer({ min: 1_000_000_000, max: 1_900_000_000 })
const address = fc.nat(1_000_000).map((n) => `https://example.org/p/${n}?a=1&b=${n % 7}`)

const csv = (header: string[], rows: string[][], mark = ','): string =>
  [header, ...rows].map((row) => row.map((cell) => `"${cell.replaceAll('"', '""')}"`).join(mark)).join('\r\n')
const html = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;')
const instant = (at: number): string => new Date(at * 1000).toISOString()

const link = fc.record({ url: address, title: words(30), tags, at: seconds, archived: fc.boolean() })
const links = fc.uniqueArray(link, { selector: ({ url }) => url, minLength: 1, maxLength: 6 })

async function readsLinks(
  file: string | Uint8Array,
  expected: readonly { url: string; title: string; tags: string[]; at: number }[],
) {
  const read = await readImport(file)
  expect(
    read.items.map(({ source, tags: found, reading }) => ({
      url: source.url,
      title: source.title,
      tags: found,
      at: reading.saved,
    })),
  ).toEqual(
    expected.map(({ url, title, tags: wanted, at }) => ({ url, title, tags: wanted, at: instant(at) })),
  )
  expect(read.outcomes).toEqual([])
  checkAccount(read)
  return read
}

const rounds = { numRuns: 60 }

test('Pocket, CSV in every separator', () =>
  fc.assert(
    fc.asyncProperty(links, fc.constantFrom(',', ';', '\t'), async (all, mark) => {
      const rows = all.map(({ url, title, tags: own, at, archived }) => [
        title,
        url,
        String(at),
        own.join('|'),
        archived ? 'archive' : 'unread',
      ])
      const read = await readsLinks(csv(['title', 'url', 'time_added', 'tags', 'status'], rows, mark), all)
      expect(read.items.map(({ reading }) => reading.archived)).toEqual(all.map(({ archived }) => archived))
    }),
    rounds,
  ))

test('Pocket, HTML', () =>
  fc.assert(
    fc.asyncProperty(links, async (all) => {
      const list = (archived: boolean): string =>
        all
          .filter((one) => one.archived === archived)
          .map(
            ({ url, title, tags: own, at }) =>
              `<li><a href="${html(url)}" time_added="${at}" tags="${html(own.join(','))}">${html(title)}</a></li>`,
          )
          .join('\n')
      const sorted = [...all.filter(({ archived }) => !archived), ...all.filter(({ archived }) => archived)]
      await readsLinks(
        `<title>Pocket Export</title><h1>Unread</h1><ul>${list(false)}</ul><h1>Read Archive</h1><ul>${list(true)}</ul>`,
        sorted,
      )
    }),
    rounds,
  ))

test('bookmarks', () =>
  fc.assert(
    fc.asyncProperty(links, fc.array(words(10), { maxLength: 3 }), async (all, folders) => {
      const inner = all
        .map(
          ({ url, title, tags: own, at }) =>
            `<DT><A HREF="${html(url)}" ADD_DATE="${at}" TAGS="${html(own.join(','))}">${html(title)}</A>\n`,
        )
        .join('')
      const nested = folders.reduceRight(
        (body, name) => `<DT><H3>${html(name)}</H3>\n<DL><p>\n${body}</DL><p>\n`,
        inner,
      )
      const read = await readsLinks(`<!DOCTYPE NETSCAPE-Bookmark-file-1>\n<DL><p>\n${nested}</DL>`, all)
      for (const { folder } of read.items) expect(folder).toEqual(folders)
    }),
    rounds,
  ))

test('Reader, CSV', () =>
  fc.assert(
    fc.asyncProperty(links, async (all) => {
      const python = (own: string[]): string => `[${own.map((name) => `'${name}'`).join(', ')}]`
      const rows = all.map(({ url, title, tags: own, at, archived }) => [
        title,
        url,
        'id',
        python(own),
        instant(at).replace('T', ' ').replace('.000Z', '+00:00'),
        '0',
        archived ? 'archive' : 'new',
        'True',
      ])
      await readsLinks(
        csv(
          ['Title', 'URL', 'ID', 'Document tags', 'Saved date', 'Reading progress', 'Location', 'Seen'],
          rows,
        ),
        all,
      )
    }),
    rounds,
  ))

test('Omnivore', () =>
  fc.assert(
    fc.asyncProperty(links, async (all) => {
      const metadata = all.map(({ url, title, tags: labels, at, archived }, i) => ({
        slug: `s${i}`,
        url,
        title,
        labels,
        savedAt: instant(at),
        state: archived ? 'ARCHIVED' : 'SUCCEEDED',
      }))
      await readsLinks(
        zipSync({ [`metadata_0_to_${all.length}.json`]: strToU8(JSON.stringify(metadata)) }),
        all,
      )
    }),
    rounds,
  ))

const highlight = fc.record({
  quote: lines,
  note: fc.option(lines, { nil: '' }),
  place: fc.nat(5000),
  at: seconds,
  tags,
})
const highlights = fc.uniqueArray(highlight, { selector: ({ quote }) => quote, minLength: 1, maxLength: 6 })

test('Readwise, CSV', () =>
  fc.assert(
    fc.asyncProperty(words(30), highlights, async (title, all) => {
      const rows = all.map(({ quote, note, place, at, tags: own }) => [
        quote,
        title,
        'Sam Roe',
        '',
        note,
        'yellow',
        own.join(','),
        'page',
        String(place + 1),
        instant(at),
        '',
      ])
      const read = await readImport(
        csv(
          [
            'Highlight',
            'Book Title',
            'Book Author',
            'Amazon Book ID',
            'Note',
            'Color',
            'Tags',
            'Location Type',
            'Location',
            'Highlighted at',
            'Document tags',
          ],
          rows,
        ),
      )
      const found = highlightsOf(read).toSorted((a, b) => a.row - b.row)
      expect(read.items.map(({ source }) => source.title)).toEqual([title])
      expect(
        found.map((one) => [one.quote, one.notes[0]?.body ?? '', one.locator, one.created, one.tags]),
      ).toEqual(
        all.map(({ quote, note, place, at, tags: own }) => [
          quote,
          note,
          { page: String(place + 1) },
          instant(at),
          own,
        ]),
      )
      checkAccount(read)
    }),
    rounds,
  ))

const TEMPLATES = [
  {
    language: 'en-US',
    line: (place: string, date: string) => `- Your Highlight on Location ${place} | Added on ${date}`,
  },
  {
    language: 'en-GB',
    line: (place: string, date: string) => `- Your Highlight at location ${place} | Added on ${date}`,
  },
  {
    language: 'de',
    line: (place: string, date: string) => `- Ihre Markierung bei Position ${place} | Hinzugefügt am ${date}`,
  },
  {
    language: 'fr',
    line: (place: string, date: string) =>
      `- Votre surlignement à l’emplacement ${place} | Ajouté le ${date}`,
  },
  {
    language: 'es',
    line: (place: string, date: string) => `- Tu subrayado en la posición ${place} | Añadido el ${date}`,
  },
  {
    language: 'pt',
    line: (place: string, date: string) => `- Seu destaque ou posição ${place} | Adicionado: ${date}`,
  },
  {
    language: 'it',
    line: (place: string, date: string) =>
      `- La tua evidenziazione alla posizione ${place} | Aggiunto in data ${date}`,
  },
  {
    language: 'nl',
    line: (place: string, date: string) => `- Je markering op locatie ${place} | Toegevoegd op ${date}`,
  },
  {
    language: 'ja',
    line: (place: string, date: string) => `- 位置No. ${place}のハイライト |作成日: ${date}`,
  },
  { language: 'zh', line: (place: string, date: string) => `- 您在位置 #${place}的标注 | 添加于 ${date}` },
]

test('Kindle clippings, in ten languages', () =>
  fc.assert(
    fc.asyncProperty(
      fc.constantFrom(...TEMPLATES),
      words(30),
      highlights,
      async ({ language, line }, title, given) => {
        // Places far apart, so that no two are versions of one.
        const all = given.map((one, i) => ({
          ...one,
          from: i * 1000 + (one.place % 500) + 1,
          to: i * 1000 + (one.place % 500) + 3,
        }))
        const date = new Intl.DateTimeFormat(language, {
          dateStyle: 'full',
          timeStyle: 'medium',
          timeZone: 'UTC',
        })
        const file = all
          .map(
            ({ quote, from, to, at }) =>
              `${title} (Sam Roe)\r\n${line(`${from}-${to}`, date.format(at * 1000))}\r\n\r\n${quote.replaceAll('\n', '\r\n')}\r\n==========\r\n`,
          )
          .join('')
        const read = await readImport(`\uFEFF${file}`)
        expect(read.items.map(({ source }) => [source.title, source.authors])).toEqual([[title, ['Sam Roe']]])
        expect(highlightsOf(read).map((one) => [one.quote, one.locator, one.created])).toEqual(
          all.map(({ quote, from, to, at }) => [
            quote,
            { location: `${from}-${to}` },
            instant(at).slice(0, 19),
          ]),
        )
        expect(read.outcomes).toEqual([])
      },
    ),
    { numRuns: 150 },
  ))

test('KOReader, Lua and JSON', () =>
  fc.assert(
    fc.asyncProperty(words(30), highlights, async (title, all) => {
      // As Lua's %q writes: quotation marks, backslashes and line ends behind a backslash.
      const lua = (text: string): string => `"${text.replaceAll(/["\\\n]/g, (mark) => `\\${mark}`)}"`
      const entries = all.map(
        ({ quote, note, place, at }, i) =>
          `[${i + 1}] = { ["drawer"] = "lighten", ["text"] = ${lua(quote)}, ["note"] = ${note === '' ? 'nil' : lua(note)}, ["pageno"] = ${place}, ["datetime"] = "${instant(at).slice(0, 19).replace('T', ' ')}" },`,
      )
      const file = `-- /x.sdr/metadata.epub.lua\nreturn {\n["annotations"] = {\n${entries.join('\n')}\n},\n["doc_props"] = { ["title"] = ${lua(title)} },\n}\n`
      const json = JSON.stringify({
        title,
        author: 'Sam Roe',
        entries: all.map(({ quote, note, place, at }) => ({
          text: quote,
          note: note || undefined,
          page: place,
          time: at,
          sort: 'highlight',
        })),
      })
      for (const [text, zone] of [
        [file, ''],
        [json, '.000Z'],
      ] as const) {
        const read = await readImport(text)
        expect(read.items[0]?.source.title).toBe(title)
        expect(
          highlightsOf(read).map((one) => [one.quote, one.notes[0]?.body ?? '', one.locator, one.created]),
        ).toEqual(
          all.map(({ quote, note, place, at }) => [
            quote,
            note,
            { page: String(place) },
            instant(at).slice(0, 19) + zone,
          ]),
        )
        checkAccount(read)
      }
    }),
    rounds,
  ))

test('Hypothes.is', () =>
  fc.assert(
    fc.asyncProperty(words(30), highlights, async (title, all) => {
      const rows = all.map(({ quote, note, at, tags: own }, i) => ({
        id: `h${i}`,
        user: 'acct:sam@hypothes.is',
        uri: 'https://example.org/essay',
        text: note,
        tags: own,
        created: instant(at),
        document: { title: [title] },
        target: [
          {
            selector: [
              { type: 'TextQuoteSelector', exact: quote },
              { type: 'TextPositionSelector', start: i, end: i + 1 },
            ],
          },
        ],
      }))
      const read = await readImport(JSON.stringify({ total: rows.length, rows }))
      expect(
        highlightsOf(read).map((one) => [one.quote, one.notes[0]?.body ?? '', one.tags, one.created]),
      ).toEqual(all.map(({ quote, note, at, tags: own }) => [quote, note, own, instant(at)]))
      checkAccount(read)
    }),
    rounds,
  ))

test('Kobo', () =>
  fc.assert(
    fc.asyncProperty(words(30), highlights, async (title, all) => {
      const text = (value: string): string => `'${value.replaceAll("'", "''")}'`
      const read = await readImport(
        makeDatabase(
          'create table content (ContentID text, ContentType integer, Title text, Attribution text)',
          'create table Bookmark (VolumeID text, ContentID text, Text text, Annotation text, DateCreated text, ChapterProgress real, Type text)',
          `insert into content values ('b', 6, ${text(title)}, 'Sam Roe')`,
          ...all.map(
            ({ quote, note, at }, i) =>
              `insert into Bookmark values ('b', 'b', ${text(quote)}, ${text(note)}, '${instant(at)}', ${i / 10}, 'highlight')`,
          ),
        ),
      )
      expect(read.items.map(({ source }) => source.title)).toEqual([title])
      expect(highlightsOf(read).map((one) => [one.quote, one.notes[0]?.body ?? '', one.created])).toEqual(
        all.map(({ quote, note, at }) => [quote, note, instant(at)]),
      )
      checkAccount(read)
    }),
    { numRuns: 25 },
  ))
