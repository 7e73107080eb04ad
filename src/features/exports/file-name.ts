import { foldCase } from '../../core/text.ts'

/** Most bytes of a name without its ending and what tells it apart: file systems take 255 of the whole. */
const MOST_BYTES = 160

/** What Windows, other systems or programs for notes do not take in a name: links are written with some of it. */
const REFUSED = /[<>:"/\\|?*#^[\]]|\p{Cc}|\p{Cs}|\p{Bidi_Control}|\ufeff/gu
/** Names of devices, with whatever ending: https://learn.microsoft.com/windows/win32/fileio/naming-a-file */
const DEVICE = /^(?:con|prn|aux|nul|conin\$|conout\$|(?:com|lpt)[0-9\u00b9\u00b2\u00b3])(?:\s*\.|\s*$)/i

/** A title as the name of a file that every system takes, without an ending. */
export function fileName(title: string): string {
  const words = title
    .normalize('NFC')
    .replaceAll(REFUSED, ' ')
    .replaceAll(/\s+/g, ' ')
    .replaceAll(/^[\s.]+|[\s.]+$/g, '')
  let kept = ''
  let bytes = 0
  for (const { segment } of new Intl.Segmenter().segment(words)) {
    bytes += Buffer.byteLength(segment)
    if (bytes > MOST_BYTES) break
    kept += segment
  }
  kept = kept.replace(/[\s.]+$/, '')
  if (kept === '') return 'Untitled'
  return DEVICE.test(kept) ? `_${kept}` : kept
}

/** What makes two names one to some file system: case and how accents are written. */
export const fileNameKey = (name: string): string => foldCase(name.normalize('NFKC')).normalize('NFC')
