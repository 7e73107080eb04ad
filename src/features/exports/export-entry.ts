/** One file of an export, in pieces that follow one another. */
export interface ExportEntry {
  /** Path with forward slashes. */
  name: string
  content: AsyncIterable<string | Uint8Array> | Iterable<string | Uint8Array>
  isCompressed?: boolean
}

/** Most bytes of a title in a file's name: file systems take 255 of a whole name. */
const MOST_TITLE = 120

/**
 * A title as part of a file's name that every system takes: letters, digits and single dashes. It is told apart by the id that
 * follows it and never changes with other titles.
 */
export function fileTitle(title: string): string {
  const words = title
    .normalize('NFC')
    .replaceAll(/[^\p{L}\p{M}\p{N}]+/gu, '-')
    .replaceAll(/^-|-$/g, '')
  let kept = ''
  let bytes = 0
  for (const { segment } of new Intl.Segmenter().segment(words)) {
    bytes += Buffer.byteLength(segment)
    if (bytes > MOST_TITLE) break
    kept += segment
  }
  return kept.replace(/-$/, '') || 'untitled'
}

/** The ending of a file's name, if it is an ordinary one. */
export const endingOf = (name: string | null): string =>
  /\.[a-z0-9]{1,8}$/i.exec(name ?? '')?.[0].toLowerCase() ?? ''
