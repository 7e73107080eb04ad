import { describe, expect, it } from 'vitest'
import { plainTextOf } from '../texts/plain-text.ts'
import { extractPlainFile } from './extract-plain-file.ts'
import { readPlainFileText } from './plain-file-text.ts'

const bytes = (text: string) => new TextEncoder().encode(text)
const markdown = (text: string) => ({ bytes: bytes(text), kind: 'markdown' as const, name: 'notes.md' })
const text = (words: string) => ({ bytes: bytes(words), kind: 'text' as const, name: 'notes.txt' })

describe('extractPlainFile', () => {
  it('gives the same of a large file as of a small one', async () => {
    const paragraph = 'Some *words* with [a link](https://example.org/) and `code`.\n\n'
    const large = markdown(`# On notes\n\n${paragraph.repeat(200)}`)
    const read = await extractPlainFile(large)
    expect(read).toEqual(readPlainFileText(large))
    expect(read).toMatchObject({ title: 'On notes', words: 1402, warnings: [] })
    expect(large.bytes.length).toBeGreaterThan(10_000)
  })

  it('gives the words of a file that takes too long, and says so', async () => {
    const rules = { deadlineMs: 1, roughDeadlineMs: 20_000 }
    const read = await extractPlainFile(
      markdown(`# On notes\n\n${'- Some *words* with [a link](https://example.org/).\n'.repeat(5_000)}`),
      rules,
    )
    expect(read.title).toBe('On notes')
    expect(read.plain.split('\n').slice(0, 3)).toEqual(['On notes', '', 'Some words with a link.'])
    expect(read.words).toBe(25_002)
    expect(read.warnings).toHaveLength(1)
  })

  it('rough or not, a text says what it says', async () => {
    const words = `1. No *list*, [no](link) <b>nor</b> code: \`a\\b\` & more_of_it.\n\n# Not a heading\n\n    nor code`
    const rough = readPlainFileText(text(words), { roughly: true })
    expect(rough.plain).toBe(readPlainFileText(text(words)).plain)
    expect(plainTextOf(rough.markdown)).toBe(rough.plain)
  })

  it('can be cancelled', async () => {
    const reading = extractPlainFile(markdown('word '.repeat(1_000)), { signal: AbortSignal.abort() })
    await expect(reading).rejects.toMatchObject({ code: 'cancelled' })
  })

  it.each([
    ['headings by lines', markdown('a\n=\n'.repeat(60_000))],
    ['tables', markdown(`a|b\n-|-\n${'a|b\n'.repeat(60_000)}`)],
    ['brackets', text('a [('.repeat(100_000))],
    ['closing brackets of an address', text(`http://a/${')'.repeat(1_000_000)}`)],
    ['a heading of spaces', markdown(`# ${' '.repeat(1_000_000)}x`)],
    ['a great many lines', text('a\n'.repeat(500_000))],
  ])('comes to its words on %s', async (_name, file) => {
    expect(
      (await extractPlainFile(file, { deadlineMs: 1_000, roughDeadlineMs: 20_000 })).words,
    ).toBeGreaterThan(0)
  })
})
