import { roughTextOf, plainTextOf } from '../texts/plain-text.ts'
import { countWords } from './count-words.ts'
import { decodeText } from './decode-text.ts'
import { readPlainFile } from './plain-file.ts'
import type { PlainFile, PlainFileFacts } from './plain-file.ts'

/** A Markdown or text file as it came. */
export interface GivenPlainFile extends PlainFileFacts {
  bytes: Uint8Array
  contentType?: string | undefined
}

export interface PlainFileText extends PlainFile {
  /** Rendered plain text of the Markdown. */
  plain: string
  words: number
  /** Sentences for the reader. */
  warnings: string[]
}

/**
 * Reads a Markdown or text file: seconds and hundreds of megabytes for a large one, `roughly` a tenth of both. Fails with
 * `too_large`.
 */
export function readPlainFileText(
  { bytes, contentType, ...facts }: GivenPlainFile,
  { roughly = false } = {},
): PlainFileText {
  const file = readPlainFile(decodeText(bytes, contentType).text, { ...facts, roughly })
  const plain = roughly ? roughTextOf(file.markdown) : plainTextOf(file.markdown)
  return {
    ...file,
    plain,
    words: countWords(plain),
    warnings: roughly
      ? ['The file is too much to be read by the rules of Markdown; its words are all there.']
      : [],
  }
}
