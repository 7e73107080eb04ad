import { describe, expect, test } from 'vitest'
import { checkAccount, highlightsOf, readImport } from '../../../../test/support/imports.ts'

/** A file as a Kindle writes it: with its mark, Windows line ends, and a separator after each clipping. */
const clippings = (...entries: [title: string, meta: string, body?: string][]): string =>
  `\uFEFF${entries.map(([title, meta, body = '']) => `${title}\r\n${meta}\r\n\r\n${body}\r\n==========\r\n`).join('')}`

const BOOK = 'The Slow Index (Roe, Sam)'

describe('the second line, in every language', () => {
  test.each([
    [
      '- Your Highlight on page 12 | location 170-172 | Added on Sunday, January 1, 2023 12:34:56 PM',
      'highlight',
      '12',
      '170-172',
      '2023-01-01T12:34:56',
    ],
    [
      '- Your Highlight on page 12 | location 170-172 | Added on Sunday, 1 January 2023 00:34:56',
      'highlight',
      '12',
      '170-172',
      '2023-01-01T00:34:56',
    ],
    [
      '- Highlight Loc. 145-46  | Added on Monday, August 5, 2013, 09:11 AM',
      'highlight',
      undefined,
      '145-146',
      '2013-08-05T09:11:00',
    ],
    [
      '- Your Highlight on page xii-xiii | location 12-14 | Added on Friday, July 3, 2026 8:00:00\u202fAM',
      'highlight',
      'xii-xiii',
      '12-14',
      '2026-07-03T08:00:00',
    ],
    [
      '- Your Highlight on page xvi-xvi | Added on Monday, April 18, 2016 7:28:27 AM',
      'highlight',
      'xvi-xvi',
      undefined,
      '2016-04-18T07:28:27',
    ],
    [
      '- Your Highlight on page 14-14 | Added on Saturday, 23 December 2017 09:46:53',
      'highlight',
      '14',
      undefined,
      '2017-12-23T09:46:53',
    ],
    [
      '- Your Note at location 1971 | Added on Wednesday, 6 January 2021 14:22:58',
      'note',
      undefined,
      '1971',
      '2021-01-06T14:22:58',
    ],
    [
      '- Highlight on Page 10 | Added on Monday, 3 December 12 19:51:33 Greenwich Mean Time',
      'highlight',
      '10',
      undefined,
      '2012-12-03T19:51:33.000Z',
    ],
    [
      '- Ihre Markierung auf Seite 42 | Position 1234-1236 | Hinzugefügt am Montag, 30. Dezember 2024 14:46:33',
      'highlight',
      '42',
      '1234-1236',
      '2024-12-30T14:46:33',
    ],
    [
      '- Ihre Markierung auf Seite 9 | bei Position 130-131 | Hinzugefügt am Samstag, 13. April 2019 10:25:27',
      'highlight',
      '9',
      '130-131',
      '2019-04-13T10:25:27',
    ],
    [
      '- Ihre Markierung bei Position 1234-1236 | Hinzugefügt am Dienstag, 5. März 2024 um 21:12:45',
      'highlight',
      undefined,
      '1234-1236',
      '2024-03-05T21:12:45',
    ],
    [
      '- Ihre Notiz bei Position 1236 | Hinzugefügt am Dienstag, 5. März 2024 21:12:45',
      'note',
      undefined,
      '1236',
      '2024-03-05T21:12:45',
    ],
    [
      '- La subrayado en la página 4 | posición 60-60 | Añadido el miércoles, 6 de julio de 2022 06:54:57',
      'highlight',
      '4',
      '60',
      '2022-07-06T06:54:57',
    ],
    [
      '- Tu subrayado en la posición 6279-6281 | Añadido el domingo, 22 de marzo de 2020 23:59:18',
      'highlight',
      undefined,
      '6279-6281',
      '2020-03-22T23:59:18',
    ],
    [
      '- La subrayado en la posición 1181-1181 | Añadido el sábado, 17 de diciembre de 2022 2:30:30 p.\u00a0m.',
      'highlight',
      undefined,
      '1181',
      '2022-12-17T14:30:30',
    ],
    [
      '- Votre surlignement sur la page 5 | emplacement 1234-1236 | Ajouté le lundi 30 septembre 2019 18:00:39',
      'highlight',
      '5',
      '1234-1236',
      '2019-09-30T18:00:39',
    ],
    [
      '- Votre surlignement Emplacement 307-307 | Ajouté le lundi 17 décembre 2012 à 08:27:45',
      'highlight',
      undefined,
      '307',
      '2012-12-17T08:27:45',
    ],
    [
      '- Votre surlignement à lʼemplacement 144-146 | Ajouté le samedi 26 décembre 2015 11:21:23',
      'highlight',
      undefined,
      '144-146',
      '2015-12-26T11:21:23',
    ],
    [
      '- 位置No. 38-39のハイライト |作成日: 2017年8月28日月曜日 17:51:55',
      'highlight',
      undefined,
      '38-39',
      '2017-08-28T17:51:55',
    ],
    [
      '- 7ページ｜位置No. 114-116のメモ | 作成日: 2024年12月30日月曜日 14:46:33',
      'note',
      '7',
      '114-116',
      '2024-12-30T14:46:33',
    ],
    [
      '- 您在第 41 页（位置 #628-630）的标注 | 添加于 2024年9月12日星期四 上午9:39:29',
      'highlight',
      '41',
      '628-630',
      '2024-09-12T09:39:29',
    ],
    [
      '- 您在位置 #359-363的标注 | 添加于 2020年11月12日星期四 下午5:54:04',
      'highlight',
      undefined,
      '359-363',
      '2020-11-12T17:54:04',
    ],
    [
      '- 您在位置 #205 的笔记 | 添加于 2019年8月31日星期六 上午12:55:51',
      'note',
      undefined,
      '205',
      '2019-08-31T00:55:51',
    ],
    [
      '- 您在第 12 頁的標註 | 位置 170-172 | 已新增至 2024年9月12日 星期四 下午9:39:29',
      'highlight',
      '12',
      '170-172',
      '2024-09-12T21:39:29',
    ],
    [
      '- Seu destaque ou posição 2829-2829 | Adicionado: sexta-feira, 29 de novembro de 2019 18:00:13',
      'highlight',
      undefined,
      '2829',
      '2019-11-29T18:00:13',
    ],
    [
      '- Seu destaque na página 33 | posição 410-412 | Adicionado: terça-feira, 5 de março de 2024 09:12:45',
      'highlight',
      '33',
      '410-412',
      '2024-03-05T09:12:45',
    ],
    [
      '-  La tua evidenziazione a pagina 477 | posizione 7312-7314 | Aggiunto in data lunedì 20 novembre 2023 23:50:21',
      'highlight',
      '477',
      '7312-7314',
      '2023-11-20T23:50:21',
    ],
    [
      '- La tua nota alla posizione 512 | Aggiunto il lunedì 6 luglio 2026 21:13:22',
      'note',
      undefined,
      '512',
      '2026-07-06T21:13:22',
    ],
    [
      '- Je markering op pagina 6 | locatie 36-40 | Toegevoegd op maandag 30 september 2019 18:00:39',
      'highlight',
      '6',
      '36-40',
      '2019-09-30T18:00:39',
    ],
    [
      '- Ваш выделенный отрывок на странице 5 | Местоположение 1234-1236 | Добавлено: понедельник, 30 декабря 2024 г. в 14:46:33',
      'highlight',
      '5',
      '1234-1236',
      '2024-12-30T14:46:33',
    ],
    [
      '- 페이지 7 | 위치 114-116의 하이라이트 | 추가됨: 2024년 1월 1일 월요일 오후 10:30:45',
      'highlight',
      '7',
      '114-116',
      '2024-01-01T22:30:45',
    ],
    [
      '- Twoje zaznaczenie na stronie 12 | pozycja 170-172 | Dodano: czwartek, 14 listopada 2024 10:00:00',
      'highlight',
      '12',
      '170-172',
      '2024-11-14T10:00:00',
    ],
    [
      '- 12. sayfadaki vurgunuz | 170-172 konumu | Eklenme: 30 Aralık 2024 Pazartesi 14:46:33',
      'highlight',
      '12',
      '170-172',
      '2024-12-30T14:46:33',
    ],
  ])('%s', async (meta, kind, page, location, created) => {
    const read = await readImport(clippings([BOOK, meta, 'Words worth keeping.']))
    const [item] = read.items
    const [found] = kind === 'note' ? item!.notes : item!.highlights
    expect(found).toMatchObject({
      locator: { ...(page !== undefined && { page }), ...(location !== undefined && { location }) },
      created,
    })
    expect(Object.keys(found!.locator!).includes('label')).toBe(false)
    expect(read.report.rows).toBe(1)
    expect(read.outcomes.filter((outcome) => !outcome.endsWith('note_alone'))).toEqual([])
  })

  test('an unknown language is read by its structure, and says so', async () => {
    const read = await readImport(
      clippings([BOOK, '- Wxyzu mqrs qq 12 | kkkk 170-172 | Zzzz zz Qqqqq, 2024-03-05 14:46:33', 'Words.']),
    )
    expect(highlightsOf(read)).toMatchObject([
      { quote: 'Words.', locator: { page: '12', location: '170-172' }, created: '2024-03-05T14:46:33' },
    ])
    expect(read.outcomes).toEqual(['1 remark kind_guessed'])
  })

  test('a date that cannot be read is kept as it stands, and the clipping is undated', async () => {
    const read = await readImport(
      clippings([
        BOOK,
        '- Your Highlight on page 12 | Location 170-172 | Added on the day of Saint Crispin 2024',
        'W',
      ]),
    )
    expect(highlightsOf(read)).toMatchObject([
      {
        created: null,
        unreadDate: 'Added on the day of Saint Crispin 2024',
        locator: { page: '12', location: '170-172' },
      },
    ])
    expect(read.outcomes).toEqual(['1 remark date_unread'])
  })

  test('numbers that are no date are not taken for a place', async () => {
    const read = await readImport(
      clippings([
        BOOK,
        '- Your Highlight on page 15 | Location 190-192 | Added on Someday, 35 Foo 2024',
        'W',
      ]),
    )
    expect(highlightsOf(read)).toMatchObject([
      {
        created: null,
        unreadDate: 'Added on Someday, 35 Foo 2024',
        locator: { page: '15', location: '190-192' },
      },
    ])
    expect(read.outcomes).toEqual(['1 remark date_unread'])
  })

  test('a clipping without a date has none', async () => {
    const read = await readImport(
      clippings(
        [BOOK, '- 您在第 78 页（位置 #1558-1560）的标注 |', 'W'],
        [BOOK, '- Your Highlight on page 3 | Location 20-21', 'X'],
      ),
    )
    expect(highlightsOf(read)).toMatchObject([
      { locator: { page: '3', location: '20-21' }, created: null, unreadDate: null },
      { locator: { page: '78', location: '1558-1560' }, created: null, unreadDate: null },
    ])
    expect(read.outcomes).toEqual([])
  })
})

describe('title and authors', () => {
  test.each([
    ['The Slow Index (ed.) (Roe, Sam)', 'The Slow Index (ed.)', ['Roe, Sam']],
    ['The Slow Index (Sam Roe;Ann Poe)', 'The Slow Index', ['Sam Roe', 'Ann Poe']],
    ['Pragmatic (Library) (Dave Thom, Andy Hunting)', 'Pragmatic (Library)', ['Dave Thom', 'Andy Hunting']],
    ['The Hand (Le Guin, Ursula K.)', 'The Hand', ['Le Guin, Ursula K.']],
    ['飘（上下） (外国文学名著名译丛书) ((美)米切尔)', '飘（上下） (外国文学名著名译丛书)', ['(美)米切尔']],
    ['無職転生　１（理不尽な孫の手）', '無職転生 １', ['理不尽な孫の手']],
    ['如何使用 Knotes', '如何使用 Knotes', []],
    ['Your Articles (2021-04-02) (P2K)', 'Your Articles (2021-04-02)', ['P2K']],
    ['Your Articles (2021-04-02)', 'Your Articles (2021-04-02)', []],
    ['--authors (Inconnu(e))', '--authors', []],
    ['paper-on-clocks.pdf  ', 'paper-on-clocks.pdf', []],
    ['\u200B\uFEFFLa libertad (Roe)', 'La libertad', ['Roe']],
    ['A title\r\nof two lines (Roe)', 'A title of two lines', ['Roe']],
  ])('%s', async (line, title, authors) => {
    const read = await readImport(
      clippings([line, '- Your Highlight at location 1-2 | Added on Sunday, 1 January 2023 00:34:56', 'W']),
    )
    expect(read.items).toMatchObject([{ source: { kind: 'book', title, authors } }])
  })
})

const at = (place: string, time: string, what = 'Highlight'): string =>
  `- Your ${what} at location ${place} | Added on Sunday, 1 January 2023 10:${time}`

describe('what a Kindle writes each time', () => {
  test('a highlight that was changed is one: the last version, with the earlier ones as its history', async () => {
    const file = clippings(
      [BOOK, at('500-503', '00:00'), 'of the keeping of books there is'],
      [BOOK, at('500-507', '00:04'), 'of the keeping of books there is no end, and of their losing'],
      [BOOK, at('502-507', '00:08'), 'there is no end, and of their losing'],
    )
    const read = await readImport(file)
    expect(highlightsOf(read)).toMatchObject([
      {
        quote: 'there is no end, and of their losing',
        locator: { location: '502-507' },
        earlier: [
          'of the keeping of books there is',
          'of the keeping of books there is no end, and of their losing',
        ],
      },
    ])
    expect(read.outcomes).toEqual(['1 joined earlier_version', '2 joined earlier_version'])
    expect(read.report).toMatchObject({ rows: 3, taken: 1 })
    checkAccount(read)
  })

  test('neighbours that share a location and no words stay two', async () => {
    const read = await readImport(
      clippings(
        [BOOK, at('500-501', '00:00'), 'The first sentence.'],
        [BOOK, at('501-502', '00:04'), 'The second one.'],
      ),
    )
    expect(highlightsOf(read).map((highlight) => highlight.quote)).toEqual([
      'The first sentence.',
      'The second one.',
    ])
  })

  test('the same clipping twice is one, the same words elsewhere are two', async () => {
    const read = await readImport(
      clippings(
        [BOOK, at('10-11', '00:00'), 'So it goes.'],
        [BOOK, at('10-11', '00:00'), 'So it goes.'],
        [BOOK, at('900-901', '30:00'), 'So it goes.'],
      ),
    )
    expect(highlightsOf(read)).toHaveLength(2)
    expect(read.outcomes).toEqual(['1 joined repeated'])
  })

  test('one that swallowed two others takes both over', async () => {
    const read = await readImport(
      clippings(
        [BOOK, at('10-11', '00:00'), 'first part of it'],
        [BOOK, at('13-14', '01:00'), 'last part of it'],
        [BOOK, at('10-14', '02:00'), 'first part of it and the last part of it'],
      ),
    )
    expect(highlightsOf(read)).toMatchObject([
      { locator: { location: '10-14' }, earlier: ['first part of it', 'last part of it'] },
    ])
  })

  test('a note goes to the highlight whose place holds it, wherever in the file it stands', async () => {
    const read = await readImport(
      clippings(
        [BOOK, at('503', '00:00', 'Note'), 'before its highlight'],
        [BOOK, at('100-110', '01:00'), 'Another passage.'],
        [BOOK, at('500-507', '02:00'), 'The passage of the note.'],
        [BOOK, at('110', '03:00', 'Note'), 'at the end of its highlight'],
        ['Another Book (Roe)', at('503', '03:00', 'Note'), 'in another book'],
      ),
    )
    const [one, other] = read.items
    expect(one!.highlights.map((highlight) => highlight.notes.map((note) => note.body))).toEqual([
      ['at the end of its highlight'],
      ['before its highlight'],
    ])
    expect(other!.notes).toMatchObject([{ body: 'in another book', locator: { location: '503' } }])
    expect(read.outcomes).toEqual(['5 remark note_alone'])
    checkAccount(read)
  })

  test('a note stays with its highlight when that was shortened, and an edited note is one', async () => {
    const read = await readImport(
      clippings(
        [BOOK, at('500-507', '00:00'), 'a long passage that becomes short'],
        [BOOK, at('507', '00:10', 'Note'), 'why'],
        [BOOK, at('507', '00:20', 'Note'), 'why not'],
        [BOOK, at('500-503', '00:30'), 'a long passage'],
      ),
    )
    expect(highlightsOf(read)).toMatchObject([{ quote: 'a long passage', notes: [{ body: 'why not' }] }])
    expect(read.outcomes).toEqual(['1 joined earlier_version', '2 joined earlier_note'])
  })

  test('on a page alone a note goes to the only highlight, or to the one made in the same moment', async () => {
    const on = (what: string, page: string, time: string): string =>
      `- Your ${what} on page ${page} | Added on Sunday, 1 January 2023 10:${time}`
    const read = await readImport(
      clippings(
        ['paper.pdf', on('Highlight', '3-3', '00:00'), 'Words of page three.'],
        ['paper.pdf', on('Note', '3', '09:00'), 'on three'],
        ['paper.pdf', on('Highlight', '4-4', '10:00'), 'Words of page four.'],
        ['paper.pdf', on('Highlight', '4-4', '20:00'), 'Others of page four.'],
        ['paper.pdf', on('Note', '4', '20:30'), 'on the other'],
        ['paper.pdf', on('Note', '4', '50:00'), 'on either'],
      ),
    )
    expect(highlightsOf(read).map(({ notes }) => notes.map((note) => note.body))).toEqual([
      ['on three'],
      [],
      ['on the other'],
    ])
    expect(read.items[0]!.notes).toMatchObject([{ body: 'on either', locator: { page: '4' } }])
  })

  test('bookmarks are counted, and nothing is made of an empty highlight', async () => {
    const read = await readImport(
      clippings(
        [
          BOOK,
          '- Your Bookmark on page 269 | Location 5454 | Added on Wednesday, December 21, 2011, 08:25 AM',
        ],
        [BOOK, '- 您在第 78 页（位置 #1558）的书签 |'],
        [BOOK, '- Wxyz qq 77 | Zz Qq, 2024-03-05 14:46:33'],
        [BOOK, at('500-503', '00:00')],
      ),
    )
    expect(read.report.counts).toMatchObject({ bookmark: 3, refused: 1 })
    expect(highlightsOf(read)).toEqual([])
    expect(read.items).toEqual([])
  })

  test.each([
    '<You have reached the clipping limit for this item>',
    ' <You have reached the clipping limit set by the publisher, Some Publisher>',
    '<Vous avez atteint la limite de surlignements pour cet élément>',
    '<Has alcanzado el límite de recortes de este elemento>',
    '<このアイテムのクリップの上限に達しました>',
    '<您已达到本内容的剪贴上限>',
    '<이 항목의 클리핑 한도에 도달했습니다>',
  ])('where the publisher allows no more: %s', async (notice) => {
    const read = await readImport(
      clippings([BOOK, at('1-2', '00:00'), notice], [BOOK, at('5-6', '00:10'), `The first words ${notice}`]),
    )
    expect(highlightsOf(read)).toMatchObject([{ quote: 'The first words' }])
    expect(read.outcomes).toEqual(['1 refused clipping_limit', '2 remark cut_by_limit'])
  })

  test('words in angle brackets that are the reader’s stay', async () => {
    const read = await readImport(
      clippings(
        [BOOK, at('1-2', '00:00'), '<!DOCTYPE html>'],
        [BOOK, at('5-6', '00:10'), 'It ends with <p class="limit of the page">'],
      ),
    )
    expect(highlightsOf(read).map(({ quote }) => quote)).toEqual([
      '<!DOCTYPE html>',
      'It ends with <p class="limit of the page">',
    ])
  })

  test('text of several lines stays as it is', async () => {
    const read = await readImport(
      clippings([BOOK, at('1-2', '00:00'), 'First line.\r\n\r\n- Your dash | 12\r\nLast line.  \r\n']),
    )
    expect(highlightsOf(read)).toMatchObject([{ quote: 'First line.\n\n- Your dash | 12\nLast line.' }])
  })
})

describe('files with faults', () => {
  test('what is no clipping is named with its line, and the rest goes in', async () => {
    const read = await readImport(
      `${clippings([BOOK, at('1-2', '00:00'), 'One.'])}Garbage that is no clipping\r\n==========\r\n\uFEFF${clippings([BOOK, at('5-6', '00:10'), 'Two.'])}`,
    )
    expect(highlightsOf(read).map(({ quote }) => quote)).toEqual(['One.', 'Two.'])
    expect(read.report.outcomes).toMatchObject([
      { row: 2, line: 6, fate: 'refused', reason: 'unrecognised', excerpt: 'Garbage that is no clipping' },
    ])
  })

  test('a file that is cut off keeps what it has', async () => {
    const whole = clippings(
      [BOOK, at('1-2', '00:00'), 'One.'],
      [BOOK, at('5-6', '00:10'), 'Two that is longer.'],
    )
    const read = await readImport(whole.slice(0, whole.indexOf('is longer')))
    expect(highlightsOf(read).map(({ quote }) => quote)).toEqual(['One.', 'Two that'])
    expect(read.outcomes).toEqual(['2 remark cut_file'])
  })

  test('a clipping without a title has no book to go to', async () => {
    const read = await readImport(
      clippings([BOOK, at('1-2', '00:00'), 'One.'], ['', at('5-6', '00:10'), 'Two.']),
    )
    expect(read.outcomes).toEqual(['2 refused no_title'])
  })

  test('older devices write UTF-16, other systems other line ends', async () => {
    const file = clippings([BOOK, at('1-2', '00:00'), 'Zeit für Bücher.'])
    const wide = Buffer.from(file, 'utf16le')
    for (const variant of [wide, file.replaceAll('\r\n', '\n'), file.replaceAll('\r\n', '\r'), file.slice(1)])
      expect(highlightsOf(await readImport(variant))).toMatchObject([{ quote: 'Zeit für Bücher.' }])
  })

  test('what KOReader writes in this form is read as well', async () => {
    const read = await readImport(
      'The Slow Index\n- Your highlight on page 12 | Added on Sunday, January 01, 2023 10:00:00 AM\n\nWords.\n==========\n' +
        'The Slow Index\n- Your note on page 12 | Added on Sunday, January 01, 2023 10:00:00 AM\n\nA thought.\n==========\n',
    )
    expect(highlightsOf(read)).toMatchObject([
      {
        quote: 'Words.',
        locator: { page: '12' },
        created: '2023-01-01T10:00:00',
        notes: [{ body: 'A thought.' }],
      },
    ])
  })
})
