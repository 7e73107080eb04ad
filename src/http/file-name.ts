import type { IncomingMessage } from 'node:http'
/** Longest name that is kept, in characters; file systems take 255 bytes. */
const LONGEST = 200

// eslint-disable-next-line no-control-regex -- control characters are what is taken out
const UNSEEN = /[\u0000-\u001f\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/gu

/**
 * A name for people, whatever was sent for one: the last part of a path, without characters that are not seen or that turn
 * others round, not too long and with its ending. Null where nothing is left.
 */
export function safeName(given: string): string | null {
  const name = given
    .toWellFormed()
    .replace(UNSEEN, '')
    .replace(/^.*[\\/]/s, '')
    .normalize('NFC')
    .trim()
  if (/^\.*$/.test(name)) return null
  const signs = [...name]
  if (signs.length <= LONGEST) return name
  const ending = /\.[a-z0-9]{1,8}$/i.exec(name)?.[0] ?? ''
  return signs.slice(0, LONGEST - ending.length).join('') + ending
}

/** The file name in a `Content-Disposition`, as it was sent (RFC 6266; `filename*` goes before `filename`). */
export function fileNameIn(disposition: string): string | undefined {
  const extended = /;\s*filename\*\s*=\s*utf-8'[^']*'([^;\s]+)/i.exec(disposition)?.[1]
  if (extended !== undefined) {
    try {
      return decodeURIComponent(extended)
    } catch {
      // Not what it says it is: the plain one may be.
    }
  }
  return parameterIn(disposition, 'filename')
}

/** A parameter of a header, quoted or not. */
export function parameterIn(header: string, name: string): string | undefined {
  const found = new RegExp(`;\\s*${name}\\s*=\\s*(?:"((?:[^"\\\\]|\\\\.)*)"|([^;\\s"]+))`, 'is').exec(header)
  if (!found) return undefined
  const [, quoted, plain] = found
  // A Windows path has backslashes that escape nothing; only quotes and backslashes are ever escaped.
  return quoted === undefined ? plain : quoted.replace(/\\(["\\])/g, '$1')
}

/** How an answer names the file that it is: the name in letters that every client reads, and as it is. */
export function dispositionOf(kind: 'inline' | 'attachment', name: string | null): string {
  const safe = name === null ? null : safeName(name)
  if (safe === null) return kind
  const plain = safe.replace(/[^\x20-\x7e]|["\\%]/g, '_')
  const encoded = encodeURIComponent(safe).replace(/['()*]/g, (sign) => `%${sign.charCodeAt(0).toString(16)}`)
  return `${kind}; filename="${plain}"${plain === safe ? '' : `; filename*=UTF-8''${encoded}`}`
}

/** What the sender calls the file; names come in UTF-8 where HTTP had Latin-1. */
export const nameOf = (req: IncomingMessage): string | undefined =>
  fileNameIn(Buffer.from(req.headers['content-disposition'] ?? '', 'latin1').toString('utf8'))
