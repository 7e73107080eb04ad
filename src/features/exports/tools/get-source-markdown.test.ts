import fc from 'fast-check'
import { load } from 'js-yaml'
import { fromMarkdown } from 'mdast-util-from-markdown'
import { gfmFromMarkdown } from 'mdast-util-gfm'
import { gfm } from 'micromark-extension-gfm'
import { beforeAll, describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { call, failureOfCall } from '../../../../test/support/call.ts'
import { fillHostile, HOSTILE } from '../../../../test/support/hostile-library.ts'
import { testLibrary } from '../../../../test/support/library.ts'
import { addSource } from '../../../../test/support/sources.ts'
import type { Library } from '../../../core/library.ts'
import { authorsOf, findSource } from '../../sources/source-store.ts'
import { composeMarkdown, mergeMarkdown, sourceIdIn } from '../markdown-file.ts'
import { linesOf, plainAsMarkdown } from '../plain-as-markdown.ts'
import { sourceMarkdown, type SourceMarkdown } from '../source-markdown.ts'
import { getSourceMarkdown } from './get-source-markdown.ts'

const frontOf = (file: string): string => /^---\n(.*?)\n---\n/s.exec(file)?.[1] ?? ''

/** The words that a Markdown text shows, as every reader of CommonMark and GFM has them. */
function shown(markdown: string): string {
  const words = (node: { type: string; value?: string; children?: object[] }): string => {
    if (node.type === 'break') return '\n'
    if (node.value !== undefined) return node.type === 'text' ? node.value : `‹${node.type}›`
    return (node.children ?? [])
      .map((child) => words(child as typeof node))
      .join(node.type === 'root' ? '\n\n' : '')
  }
  return words(fromMarkdown(markdown, { extensions: [gfm()], mdastExtensions: [gfmFromMarkdown()] }))
}

describe('get_source_markdown', () => {
  let library: Library
  let sources: number[]
  beforeAll(async () => {
    library = await testLibrary()
    ;({ sources } = await fillHostile(library))
  })

  it('gives facts that two parsers of YAML read as they are', async () => {
    for (const [n, words] of HOSTILE.entries()) {
      if (n === 2) continue
      const { markdown, source_id, highlight_count } = await call(getSourceMarkdown, library, {
        id: sources[n]!,
      })
      expect(source_id).toBe(sources[n])
      expect(highlight_count).toBe(n === 3 ? 2 : 3)
      const source = (await findSource(library.db, sources[n]!))!
      for (const read of [parse, load]) {
        const facts = read(frontOf(String(markdown))) as Record<string, unknown>
        expect(facts).toMatchObject({
          title: words,
          authors: authorsOf(source),
          site: words,
          url: source.url,
          saved: source.created_at,
          commonplace_id: String(source.id),
        })
        if (source.published !== null) expect(facts['published']).toBe(source.published)
      }
    }
  })

  it('shows highlights in reading order with place, link, tags and notes, and the notes on the source', async () => {
    const other = await testLibrary()
    const id = await addSource(other, { title: 'Über *x*', authors: ['Ada'], url: 'https://a.example/b(c)' })
    await other.change(async (change) => {
      const times = { created_at: '2024-03-05T10:00:00.000Z', updated_at: change.at }
      const marked = (quote: string, start: number | null, locator: object | null) =>
        change.insert('highlight', {
          source_id: id,
          quote,
          start_offset: start,
          end_offset: start,
          state: start === null ? 'unanchored' : 'anchored',
          origin: 'reader',
          locator: locator && JSON.stringify(locator),
          ...times,
        })
      await marked('page ten', null, { page: '10' })
      await marked('page two', null, { page: 2 })
      const last = await marked('at the end', 50, null)
      await marked('at the beginning\nin two lines', 3, { seconds: 62 })
      await marked('page xiv', null, { page: 'xiv' })
      await change.insert('note', {
        source_id: id,
        highlight_id: last,
        kind: 'comment',
        body: 'On it',
        ...times,
      })
      await change.insert('note', { source_id: id, kind: 'comment', body: 'On **all**', ...times })
      await change.insert('note', { source_id: id, kind: 'book', body: 'Private', ...times })
      const tagId = await change.insert('tag', { name: 'two words', name_key: 'two words' })
      const second = await change.insert('tag', { name: 'birds', name_key: 'birds' })
      await change.insert('tagging', { tag_id: tagId, target_id: last })
      await change.insert('tagging', { tag_id: second, target_id: last })
    })
    const file = String((await call(getSourceMarkdown, other, { id }))['markdown'])
    const bare = file.replaceAll(/^(<!-- \/?commonplace) \d+(?: [0-9a-f]{16})? -->$/gm, '$1 N -->')
    expect(bare.slice(bare.indexOf('# Über'))).toBe(`# Über \\*x\\*

Ada · [Source](https://a.example/b%28c%29)
<!-- /commonplace N -->

## Notes

<!-- commonplace N -->
On **all**
<!-- /commonplace N -->

<!-- commonplace N -->
Private
<!-- /commonplace N -->

## Highlights

<!-- commonplace N -->
> at the beginning
> in two lines
>
> — [1:02](https://a.example/b%28c%29#t=62) · 2024-03-05
<!-- /commonplace N -->

<!-- commonplace N -->
> at the end
>
> — [in the text](https://a.example/b%28c%29#:~:text=at%20the%20end) · 2024-03-05

On it

Tags: #birds, two words
<!-- /commonplace N -->

<!-- commonplace N -->
> page xiv
>
> — [page xiv](https://a.example/b%28c%29#:~:text=page%20xiv) · 2024-03-05
<!-- /commonplace N -->

<!-- commonplace N -->
> page two
>
> — [page 2](https://a.example/b%28c%29#:~:text=page%20two) · 2024-03-05
<!-- /commonplace N -->

<!-- commonplace N -->
> page ten
>
> — [page 10](https://a.example/b%28c%29#:~:text=page%20ten) · 2024-03-05
<!-- /commonplace N -->
`)
    const without = await call(getSourceMarkdown, other, { id }, { scopes: ['highlights:read'] })
    expect(without['markdown']).not.toMatch(/On it|On \*\*all|Private/)
    const some = await call(getSourceMarkdown, other, { id }, { scopes: ['highlights:read', 'notes:read'] })
    expect(some['markdown']).toContain('On it')
    expect(some['markdown']).not.toContain('Private')
  })

  it('is refused for a source that is not there or lies in the trash', async () => {
    for (const id of [sources[2]!, 7]) {
      expect(await failureOfCall(getSourceMarkdown, library, { id })).toMatchObject({
        code: 'source-not-found',
        error: { number: -32003 },
      })
    }
  })
})

describe('plain words as Markdown', () => {
  it('are shown as they are', () => {
    const sign = fc.constantFrom(...'ab1 _*`~#>-+.)([]!<&;=|$%\\/"\'{}^:')
    const line = fc.string({ unit: sign, minLength: 1, maxLength: 14 }).map((text) => text.trim())
    fc.assert(
      fc.property(
        line.filter((text) => text !== ''),
        (text) => {
          expect(shown(plainAsMarkdown(text))).toBe(text)
        },
      ),
      { numRuns: 3_000 },
    )
    for (const words of HOSTILE)
      for (const one of linesOf(words).map((text) => text.trim()))
        if (one !== '' && one !== '\ufeff') expect(shown(plainAsMarkdown(one))).toBe(one)
  })
})

const source = (over: Partial<SourceMarkdown> = {}): SourceMarkdown => ({
  id: 100,
  title: 'T',
  facts: [
    ['title', 'T'],
    ['tags', ['a']],
  ],
  head: { id: 100, body: '# T' },
  notes: [],
  highlights: [1, 2, 3].map((id) => ({ id, body: `> words ${id}` })),
  ...over,
})

describe('a Markdown file that is written again', () => {
  it('stays as it is where nothing has changed, whoever has written into it', () => {
    const file = composeMarkdown(source())
    expect(sourceIdIn(file)).toBe(100)
    expect(mergeMarkdown(file, source()).text).toBe(file)
    const edited = `\ufeff${file
      .replace('title: "T"', 'title: My own title\naliases:\n  - x')
      .replace('## Highlights', '## Highlights\n\nMy words')
      .replace('> words 2', '> words 2, and mine')
      .replaceAll('\n', '\r\n')}\r\n## Mine\r\n`
    expect(sourceIdIn(edited)).toBe(100)
    expect(mergeMarkdown(edited, source())).toEqual({ text: edited, movedOut: 0, keptGone: 0 })
  })

  it('keeps every byte outside of our blocks, whatever comes and goes', () => {
    const mine = fc.stringMatching(/^[a-z#>\-* ]{1,12}$/).map((text) => `mine ${text}`)
    const ids = fc.uniqueArray(fc.integer({ min: 1, max: 8 }), { maxLength: 6 })
    const version = fc.record({ highlights: ids, notes: ids, changed: fc.integer({ min: 0, max: 9 }) })
    const made = ({
      highlights,
      notes,
      changed,
    }: {
      highlights: number[]
      notes: number[]
      changed: number
    }) =>
      source({
        facts: [['title', `T${changed}`]],
        highlights: highlights
          .toSorted((a, b) => a - b)
          .map((id) => ({ id, body: `> words ${id}${id === changed ? ' changed' : ''}` })),
        notes: notes.toSorted((a, b) => a - b).map((id) => ({ id: 50 + id, body: `note ${id}` })),
      })
    fc.assert(
      fc.property(
        version,
        version,
        fc.array(fc.tuple(fc.nat(40), mine), { maxLength: 6 }),
        fc.boolean(),
        (a, b, texts, dos) => {
          const lines = composeMarkdown(made(a)).split('\n')
          for (const [n, text] of texts) {
            const open = lines.flatMap((line, at) =>
              /^<!-- \/commonplace|^## /.test(line) || at === lines.length - 1 ? [at + 1] : [],
            )
            lines.splice(open[n % open.length]!, 0, '', text)
          }
          const before = lines.join(dos ? '\r\n' : '\n')
          const { text: after, movedOut, keptGone } = mergeMarkdown(before, made(b))
          expect([movedOut, keptGone]).toEqual([0, 0])
          const all = after.split(/\r?\n/)
          // What was written by hand is there, in its order.
          expect(all.filter((line) => line.startsWith('mine'))).toEqual(
            lines.filter((line) => line.startsWith('mine')),
          )
          if (dos) expect(after.replaceAll('\r\n', '')).not.toContain('\n')
          // Blocks are those of a new file, in its order, with nothing else between their marks.
          const blocks = (text: string): string[] =>
            [
              ...text.replaceAll('\r', '').matchAll(/^<!-- commonplace .*?^<!-- \/commonplace \d+ -->$/gms),
            ].map(([block]) => block)
          const fresh = composeMarkdown(made(b))
          expect(blocks(after).toSorted()).toEqual(blocks(fresh).toSorted())
          const standing = blocks(after).map((block) => Number(/\d+/.exec(block)![0]))
          for (const [from, to] of [
            [1, 49],
            [50, 99],
          ] as const) {
            const those = standing.filter((id) => id >= from && id <= to)
            expect(those).toEqual(those.toSorted((x, y) => x - y))
          }
          // And it is the same once more.
          expect(mergeMarkdown(after, made(b)).text).toBe(after)
        },
      ),
      { numRuns: 400 },
    )
  })

  it('moves what somebody has changed out of a block that changes', () => {
    const file = composeMarkdown(source()).replace('> words 2', '> words 2\n\nMy thought')
    const next = source({ highlights: [1, 2, 3].map((id) => ({ id, body: `> new ${id}` })) })
    const merged = mergeMarkdown(file, next)
    expect(merged.movedOut).toBe(1)
    expect(merged.text).toMatch(
      /> new 2\n<!-- \/commonplace 2 -->\n\n> words 2\n\nMy thought\n\n<!-- commonplace 3/,
    )
    expect(mergeMarkdown(merged.text, next)).toEqual({ text: merged.text, movedOut: 0, keptGone: 0 })
  })

  it('takes the block of a deleted highlight away only where nobody has changed it', () => {
    const file = composeMarkdown(source()).replace('> words 2', '> words 2\n\nMy thought')
    const merged = mergeMarkdown(file, source({ highlights: [] }))
    expect(merged.keptGone).toBe(1)
    expect(merged.text).toContain('My thought')
    expect(merged.text).not.toContain('words 1')
    expect(merged.text).not.toContain('words 3')
  })

  it('changes facts in their place, and keeps those of others', () => {
    const file = composeMarkdown(source()).replace('title: "T"', 'aliases:\n  - mine\ntitle: T\nrating: 5')
    const { text } = mergeMarkdown(
      file,
      source({
        facts: [
          ['title', 'New'],
          ['site', 'here'],
        ],
      }),
    )
    expect(parse(frontOf(text))).toMatchObject({ aliases: ['mine'], title: 'New', rating: 5, site: 'here' })
    expect(parse(frontOf(text))).not.toHaveProperty('tags')
    expect(text.indexOf('aliases')).toBeLessThan(text.indexOf('title'))
  })

  it('is known as ours by its top or by its first block', () => {
    expect(sourceIdIn('# Mine\n\ncommonplace_id: 5\n')).toBeUndefined()
    expect(sourceIdIn("---\ntitle: x\ncommonplace_id: '5'\n---\n")).toBe(5)
    const file = composeMarkdown(source())
    expect(sourceIdIn(file.slice(file.indexOf('<!--')))).toBe(100)
  })

  it('is never led astray by what notes and words hold', async () => {
    const library = await testLibrary()
    const { sources } = await fillHostile(library)
    for (const id of sources) {
      const found = await sourceMarkdown(library.db, id, { notes: true, private: true })
      if (!found) continue
      const file = composeMarkdown(found)
      expect(mergeMarkdown(file, found)).toEqual({ text: file, movedOut: 0, keptGone: 0 })
      expect(file.match(/^<!-- commonplace/gm)).toHaveLength(1 + found.notes.length + found.highlights.length)
    }
  })
})
