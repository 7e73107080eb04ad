import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { Failure } from '../../core/failure.ts'
import { readCaptions } from './captions.ts'

const said = (file: string) => readCaptions(file).map(({ start, lines }) => [start, lines.join(' / ')])

describe('WebVTT', () => {
  it('is read without identifiers, settings, notes, styles and tags', () => {
    expect(
      said(
        '\uFEFFWEBVTT - a talk\r\nKind: captions\r\nLanguage: en\r\n\r\nSTYLE\r\n::cue { color: red }\r\n\r\nNOTE not said\r\nnor this\r\n\r\n' +
          'intro\r\n00:01.500 --> 00:03.000 align:start position:0%\r\n<v.loud Ada Roe>Salt &amp; <i>ice</i>, a &lt; b,</v>\r\nI <3 it\r\n\r\n' +
          '01:00:00.000 --> 01:00:01.000\r\n<c.yellow>now</c> <00:00:01.000>then\r\n',
      ),
    ).toEqual([
      [1.5, 'Salt & ice, a < b, / I <3 it'],
      [3600, 'now then'],
    ])
  })

  it('knows who speaks, also where two share a cue', () => {
    const cues = readCaptions('WEBVTT\n\n00:00.000 --> 00:02.000\n<v Ada>Yes.</v>\n<v Bob>No.</v>')
    expect(cues.map(({ speaker, lines }) => [speaker, lines])).toEqual([
      ['Ada', ['Yes.']],
      ['Bob', ['No.']],
    ])
  })

  it('loses nothing where empty lines are missing or too many', () => {
    expect(
      said(
        'WEBVTT\n00:00.000 --> 00:01.000\none\n00:01.000 --> 00:02.000\ntwo\n\nstill two\n\n00:02.000 --> 00:03.000\n\n\nthree',
      ),
    ).toEqual([
      [0, 'one'],
      [1, 'two / still two'],
      [2, 'three'],
    ])
  })
})

describe('SRT', () => {
  it('is read with its tags, emoji and entities, in any line end', () => {
    expect(
      said(
        '1\r00:00:01,000 --> 00:00:02,000 X1:40 Y1:20\r{\\an8}<font color="#fff">Salt</font> 😀 &#128512; &#55357;&#56832;\r\r2\r00:00:02,5 --> 00:00:03,000\r<b>and</b> &quot;ice&quot; &nope;\r',
      ),
    ).toEqual([
      [1, 'Salt 😀 😀 😀'],
      [2.5, 'and "ice" &nope;'],
    ])
  })

  it('keeps what is said at times that overlap, are missing, unsorted, negative or absurd', () => {
    expect(
      said(
        '1\n00:00:09,000 --> 00:00:08,000\nlast\n\n2\n00:00:01,000 --> 00:00:05,000\nfirst\n\n3\n00:00:02,000 --> 00:00:06,000\nsecond\n\n' +
          '4\n-00:00:01,000 --> 00:00:00,500\nbefore\n\n5\n99999999:00:00,000 --> 99999999:00:01,000\nwhen?\n\n6\n::: --> :::\nthen\n\n7\n00:00:03,000 --> 00:00:04,000\n\n',
      ),
    ).toEqual([
      [0, 'before'],
      [0, 'when?'],
      [0, 'then'],
      [1, 'first'],
      [2, 'second'],
      [9, 'last'],
    ])
  })

  it('takes a spoken number for no number of a cue', () => {
    expect(said('1\n00:00:01,000 --> 00:00:02,000\n42\n\n2\n00:00:02,000 --> 00:00:03,000\n43\n')).toEqual([
      [1, '42'],
      [2, '43'],
    ])
  })
})

describe('the forms of YouTube', () => {
  it('json3: words of a line are one cue, events that only end a line are none', () => {
    const events = [
      { tStartMs: 0, dDurationMs: 9000, id: 1, wpWinPosId: 1 },
      {
        tStartMs: 160,
        dDurationMs: 3000,
        wWinId: 1,
        segs: [{ utf8: 'never' }, { utf8: ' again', tOffsetMs: 400 }],
      },
      { tStartMs: 2000, wWinId: 1, aAppend: 1, segs: [{ utf8: '\n' }] },
      { tStartMs: '2100', dDurationMs: 2000, segs: [{ utf8: 'two\nlines' }, {}, null] },
      { segs: 'x' },
      null,
    ]
    expect(said(JSON.stringify({ wireMagic: 'pb3', events }))).toEqual([
      [0.16, 'never again'],
      [2.1, 'two / lines'],
    ])
  })

  it('srv3 and srv1', () => {
    expect(
      said(
        '<?xml version="1.0" encoding="utf-8" ?><timedtext format="3"><head><pen id="1"/></head><body><w id="1"/>' +
          '<p t="160" d="3000" w="1"><s ac="248">never</s><s t="400"> again &amp; so</s></p><p t="2000" d="10" w="1" a="1">\n</p>' +
          '<p t="2100" d="2000">two<br/>lines</p></body></timedtext>',
      ),
    ).toEqual([
      [0.16, 'never again & so'],
      [2.1, 'two / lines'],
    ])
    expect(
      said(
        '<transcript><text start="1.5" dur="2">it&amp;#39;s\nice</text><text start="4">more</text></transcript>',
      ),
    ).toEqual([
      [1.5, "it's / ice"],
      [4, 'more'],
    ])
  })

  it('the JSON of podcasts, with its speakers', () => {
    const segments = [
      { speaker: 'Ada', startTime: 0.5, endTime: 0.75, body: 'And' },
      { startTime: '2', body: 'so' },
    ]
    expect(readCaptions(JSON.stringify({ version: '1.0.0', segments }))).toEqual([
      { speaker: 'Ada', start: 0.5, end: 0.75, lines: ['And'] },
      { start: 2, end: undefined, lines: ['so'] },
    ])
  })
})

const clock = (ms: number, mark: '.' | ',' = '.') =>
  `${new Date(ms).toISOString().slice(11, 19)}${mark}${String(ms % 1000).padStart(3, '0')}`

/** Lines as automatic captions show them: each again above the next, with a cue between that holds both for 10 ms. */
function rolling(lines: readonly string[], mark: '.' | ','): string {
  const blocks = lines.flatMap((line, index) => {
    const [begin, over] = [index * 3000, index * 3000 + 2990]
    const before = lines[index - 1] ?? ' '
    const timed =
      mark === '.'
        ? line.replace(' ', `<${clock(begin + 500)}><c> `) + (line.includes(' ') ? '</c>' : '')
        : line
    return [
      `${clock(begin, mark)} --> ${clock(over, mark)}${mark === '.' ? ' align:start position:0%' : ''}\n${before}\n${timed}`,
      `${clock(over, mark)} --> ${clock(over + 10, mark)}\n${line}\n `,
    ]
  })
  return mark === '.'
    ? `WEBVTT\nKind: captions\nLanguage: en\n\n${blocks.join('\n\n')}\n`
    : blocks.map((block, index) => `${index + 1}\n${block}\n`).join('\n')
}

describe('what is shown twice', () => {
  it('is said once in rolling captions, whatever is said', () => {
    const lines = fc.array(fc.stringMatching(/^[a-d]{1,3}( [a-d]{1,3}){0,3}$/), {
      minLength: 2,
      maxLength: 30,
    })
    fc.assert(
      fc.property(lines, fc.constantFrom('.' as const, ',' as const), (list, mark) => {
        // Two lines running that are the same are not told apart from one that rolls.
        fc.pre(list.every((line, index) => line !== list[index - 1]) && new Set(list).size > 1)
        expect(readCaptions(rolling(list, mark)).flatMap((cue) => cue.lines)).toEqual(list)
      }),
    )
  })

  it('is said once where captions grow', () => {
    const words = 'so we went down to the frozen harbour'.split(' ')
    const file = words.map(
      (_, n) =>
        `${n + 1}\n${clock(n * 400, ',')} --> ${clock(n * 400 + 400, ',')}\n${words.slice(0, n + 1).join(' ')}\n`,
    )
    expect(readCaptions(file.join('\n')).flatMap(({ lines }) => lines)).toEqual(words)
  })

  it('stays where people say things twice', () => {
    const song = ['la la\nla la', 'la la\nla la', 'oh no\nno no', 'no no', 'no no']
    const file = song.map(
      (text, n) => `${n + 1}\n${clock(n * 2000, ',')} --> ${clock(n * 2000 + 2000, ',')}\n${text}\n`,
    )
    expect(readCaptions(file.join('\n')).map(({ lines }) => lines.join('\n'))).toEqual(song)
  })

  it('goes where the same stands twice at the same moment', () => {
    const one = '1\n00:00:01,000 --> 00:00:02,000\nHello.\n'
    expect(said(`${one}\n${one}`)).toEqual([[1, 'Hello.']])
  })
})

const plainLine = fc.stringMatching(/^[\p{L}!?.,'’ -]{0,12}[\p{L}]{1,8}$/u)
const cue = fc.record({
  start: fc.nat(9_000_000),
  length: fc.nat(5000),
  text: fc.array(plainLine, { minLength: 1, maxLength: 3 }),
})

describe('any captions', () => {
  const squeeze = (text: string) => text.replaceAll(/\s+/gu, ' ').trim()
  it.each(['vtt', 'srt', 'json3', 'srv3'] as const)('as %s have every word, by time', (format) => {
    fc.assert(
      fc.property(
        fc.uniqueArray(cue, { maxLength: 30, selector: ({ start }) => start }),
        fc.boolean(),
        (list, crlf) => {
          const text = write(format, list)
          const cues =
            list.length === 0 && format !== 'json3' && format !== 'srv3'
              ? []
              : readCaptions(crlf ? text.replaceAll('\n', '\r\n') : text)
          const wanted = list.toSorted((a, b) => a.start - b.start).map((one) => squeeze(one.text.join(' ')))
          expect(cues.map(({ lines }) => lines.join(' '))).toEqual(wanted)
          expect(cues.map(({ start }) => start)).toEqual(
            cues.map(({ start }) => start).toSorted((a, b) => a - b),
          )
        },
      ),
    )
  })

  it('of garbage are cues or a failure of ours', () => {
    const piece = fc.oneof(
      fc.constantFrom(
        'WEBVTT\n',
        '\n\n',
        '00:00:01.000 --> 00:00:02.000',
        '-->',
        '<v ',
        '<c>',
        '</c>',
        '&#x;',
        '&#55357;',
        '{"events":[',
        '{"segs":[{"utf8":',
        '<timedtext>',
        '<p t="1"',
        '<text start="',
        '1\n',
        'NOTE ',
      ),
      fc.string({ unit: 'binary', maxLength: 20 }),
    )
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 30 }), (pieces) => {
        try {
          const cues = readCaptions(pieces.join(''))
          for (const { start, lines } of cues) {
            expect(start).toBeGreaterThanOrEqual(0)
            expect(lines.every((line) => line.isWellFormed() && line.trim() === line && line !== '')).toBe(
              true,
            )
          }
        } catch (error) {
          expect(error).toBeInstanceOf(Failure)
        }
      }),
      { numRuns: 500 },
    )
  })
})

type Written = { start: number; length: number; text: string[] }

function write(format: 'vtt' | 'srt' | 'json3' | 'srv3', list: readonly Written[]): string {
  const timed = (mark: '.' | ',') =>
    list.map(
      ({ start, length, text }) =>
        `${clock(start, mark)} --> ${clock(start + length, mark)}\n${text.join('\n')}`,
    )
  if (format === 'vtt') return `WEBVTT\n\n${timed('.').join('\n\n')}`
  if (format === 'srt')
    return timed(',')
      .map((block, n) => `${n + 1}\n${block}\n`)
      .join('\n')
  if (format === 'json3') {
    return JSON.stringify({
      events: list.map(({ start, length, text }) => ({
        tStartMs: start,
        dDurationMs: length,
        segs: [{ utf8: text.join('\n') }],
      })),
    })
  }
  const paragraphs = list.map(
    ({ start, length, text }) => `<p t="${start}" d="${length}">${text.join('\n')}</p>`,
  )
  return `<?xml version="1.0" encoding="utf-8" ?><timedtext format="3"><body>${paragraphs.join('\n')}</body></timedtext>`
}
