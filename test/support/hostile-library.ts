import { gzipSync } from 'node:zlib'
import type { Library } from '../../src/core/library.ts'
import { matchKey } from '../../src/features/sources/match.ts'
import { addSourceUrl } from '../../src/features/sources/source-store.ts'
import { indexSource } from '../../src/features/search/index-source.ts'
import { addTags } from '../../src/features/tags/tag-store.ts'

/** Words that some program on the way takes for something else. */
export const HOSTILE = [
  '=1+1',
  '-5 stars',
  '+49 30',
  '@me',
  '\tfirst a tab',
  '\rfirst a return',
  "'=already marked",
  "''@twice",
  "'tis no formula",
  'a "b", c',
  'one\r\ntwo\nthree\rfour',
  '"',
  ' blanks around ',
  'Cafe\u0301 and Café 👩‍👩‍👧 資料庫 Straße',
  '---',
  'a\n---\nb',
  'yes: no\n- ~ # null',
  '{{x}} %TAG !!str & *a | > %',
  '\u2028\u2029\ufeff\u0085',
  '<!-- commonplace 1 -->\n<script>x</script>',
  '../../CON.md',
  '2024-03-05',
  'a/b\\c:d*e?f"g<h>i|j',
  '[x](y) **b** _i_ `c` ==m== %%c%% #tag [[w]]',
] as const

/** Everything that a library can hold, with words that are taken for something else, in every table. */
export async function fillHostile(library: Library): Promise<{ sources: number[]; highlights: number[] }> {
  const page = await library.outside.media.put(gzipSync('<html><body><p>The heron waits.</p></body></html>'))
  const given = await library.outside.media.put(Buffer.from('%PDF-1.7 a file that was handed in'))
  const cover = await library.outside.media.put(Buffer.from('\x89PNG a cover', 'latin1'))
  const report = await library.outside.media.put(Buffer.from('row,fate\r\n'))
  return library.on({ connection: '=cmd', tool: 'fill', intent: 'a "b", c' }).change(async (to) => {
    const { at } = to
    const times = { created_at: at, updated_at: at }
    const sources: number[] = []
    const highlights: number[] = []
    for (const [n, words] of HOSTILE.entries()) {
      const authors = [words, 'Roe, Sam', 'B; C\\']
      const sourceId = await to.insert('source', {
        kind: (['book', 'article', 'pdf', 'video', 'podcast'] as const)[n % 5]!,
        title: words,
        match_key: matchKey(words, authors),
        authors: JSON.stringify(authors),
        language: n % 2 === 0 ? 'de' : null,
        site: words,
        published: ['1983', '2019-07', '2024-03-05', null][n % 4] ?? null,
        description: words,
        publisher: n % 3 === 0 ? words : null,
        url: `https://birds.example/heron?n=${n}&a=1*2#top`,
        isbn13: n === 0 ? '9780999999011' : null,
        isbns: n === 0 ? '["9780999999028"]' : '[]',
        cover: n === 1 ? cover : null,
        trashed_at: n === 2 ? at : null,
        ...times,
      })
      sources.push(sourceId)
      await addSourceUrl(to, sourceId, `https://birds.example/heron?n=${n}&a=1*2#top`)
      if (n % 3 !== 1) {
        const textId = await to.insert('text', {
          source_id: sourceId,
          markdown: `# ${words}\n\nThe heron waits.`,
          plain: `${words}\n\nThe heron waits.`,
          html: n % 2 === 0 ? `<p>${n}</p>` : null,
          renderer: n % 2 === 0 ? '1' : null,
          method: 'given',
          hash: 'f'.repeat(64),
          words: 3,
          places: n % 2 === 0 ? JSON.stringify([{ page: 1, label: words, start: 0 }]) : null,
          raw: page,
          captured_at: at,
          state: 'good',
        })
        await to.update('source', sourceId, { text_id: textId, words: 3 })
      }
      await addTags(to, sourceId, [
        `s${words
          .replaceAll(/[\s\p{Cc}]+/gu, ' ')
          .trim()
          .slice(0, 40)}`,
      ])
      for (let m = 0; m < 3; m++) {
        const id = await to.insert('highlight', {
          source_id: sourceId,
          quote: m === 0 ? words : `${words} ${m}`,
          prefix: m === 1 ? words : null,
          suffix: m === 1 ? words : null,
          start_offset: m === 2 ? 4 : m === 1 ? 9 : null,
          end_offset: m === 2 ? 8 : m === 1 ? 12 : null,
          state: m === 0 ? 'unanchored' : m === 1 ? 'anchored' : 'orphaned',
          matched: m === 1 ? 'exact' : null,
          locator: JSON.stringify(
            [{ page: String(n + 1) }, { location: '170-172' }, { seconds: 3723.5 }][m] ?? {},
          ),
          color: m === 0 ? 'yellow' : null,
          origin: (['reader', 'import', 'reading-aid'] as const)[m]!,
          written: m === 1 ? ['2024-03-05', ''][n % 2]! : null,
          trashed_at: n === 3 && m === 0 ? at : null,
          ...times,
        })
        highlights.push(id)
        await addTags(to, id, [`t${n};${m}`, 'shared'])
        await to.insert('note', {
          source_id: sourceId,
          highlight_id: id,
          kind: 'comment',
          body: words,
          ...times,
        })
        if (m === 0)
          await to.insert('review', {
            source_id: sourceId,
            highlight_id: id,
            rating: 3,
            reviewed_at: at,
            due_at: at,
            stability: 2.3065,
            difficulty: 2.118103970459016,
            state: 'review',
            learning_steps: 0,
            scheduled_days: 2,
            reps: 1,
            lapses: 0,
          })
      }
      await to.insert('note', {
        source_id: sourceId,
        kind: n % 2 ? 'comment' : 'book',
        body: words,
        ...times,
      })
      await to.insert('version', {
        source_id: sourceId,
        table_name: 'highlight',
        row_id: highlights.at(-1)!,
        field: 'quote',
        value: words,
        created_at: at,
      })
      await to.insert('read', {
        source_id: sourceId,
        status: 'finished',
        started_on: '2019-07',
        finished_on: '2024-03-05',
        rating: [1, 15, 20, null][n % 4] ?? null,
        review: words,
        ...times,
      })
      await indexSource(to, sourceId)
    }
    await to.db
      .insertInto('capture')
      .values({
        id: await to.newId(),
        source_id: sources[1]!,
        url: null,
        given,
        given_name: '../../herons.PDF',
        state: 'failed',
        requested_at: at,
        failure: JSON.stringify({ code: 'no_text', message: 'a "b"', hint: '' }),
        outcome: null,
        text_id: null,
        warnings: JSON.stringify(['=1']),
        finished_at: at,
      })
      .execute()
    const importId = await to.newId()
    await to.db
      .insertInto('import')
      .values({
        id: importId,
        kind: 'file',
        status: 'completed',
        format: 'kindle',
        name: 'My Clippings.txt',
        file_hash: 'a'.repeat(64),
        version: '1.0.0',
        counts: JSON.stringify({ highlights: 2 }),
        source_id: null,
        capture_id: null,
        url: null,
        failure: null,
        remarks: JSON.stringify(['One.']),
        text_id: null,
        read_to: null,
        waits: 1,
        resumes: null,
        created_at: at,
        finished_at: at,
        undone_at: null,
        report,
      })
      .execute()
    await to.db
      .insertInto('import_batch')
      .values({ id: await to.newId(), import_id: importId, rows: JSON.stringify([['source', sources[0]]]) })
      .execute()
    await to.db
      .insertInto('imported')
      .values({
        id: await to.newId(),
        source_id: sources[0]!,
        kind: 'highlight',
        key: 'k',
        place: JSON.stringify({ page: '3' }),
        row_id: highlights[0]!,
      })
      .execute()
    const gone = await to.insert('highlight', {
      source_id: sources[0]!,
      quote: 'gone',
      state: 'unanchored',
      origin: 'reader',
      ...times,
    })
    await to.erase('highlight', gone)
    await to.insert('alias', { id: gone, target_id: highlights[0]! })
    await to.insert('setting', { key: 'timeZone', value: 'America/Los_Angeles' })
    return { sources, highlights }
  })
}
