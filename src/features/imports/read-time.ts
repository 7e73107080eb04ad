import { readSpokenTime } from './spoken-time.ts'
import { civilDay, joinTime, type ReadTime } from './written-time.ts'

const NOTHING: ReadTime = { time: null }
const UNREAD: ReadTime = { time: null, doubt: 'unread' }

const ISO =
  /^(\d{4})[-/](\d{1,2})[-/](\d{1,2})(?:(?:T|\s+|,\s*)(\d{1,2}):(\d{2})(?::(\d{2})(?:[.,](\d{1,9}))?)?\s*(Z|UTC|GMT|[+-]\d{2}(?::?\d{2})?)?)?$/i

/**
 * Reads a date of a file: ISO 8601 with the usual liberties, seconds (or milliseconds, microseconds) since 1970, or words in
 * any of many languages. In doubt it stays undated: the third of May is never made of `3/5/2024`.
 */
export function readTime(stated: string | number | null | undefined): ReadTime {
  if (stated === null || stated === undefined) return NOTHING
  const text = String(stated).trim()
  if (text === '' || text === '0' || /^(?:null|none|nan|undefined|n\/a)$/i.test(text)) return NOTHING
  if (text.length > 200) return UNREAD
  if (/^\d{9,17}(?:\.\d+)?$/.test(text)) return readEpoch(Number(text))
  if (/^\d{4}(?:-\d{2})?$/.test(text)) return readPartial(text)
  const iso = ISO.exec(text)
  if (!iso) return readSpokenTime(text)
  const [, year, month, day, hour, minute, second = '00', fraction = '', zone] = iso
  const date = civilDay(Number(year), Number(month), Number(day))
  if (date === null) return UNREAD
  if (hour === undefined || minute === undefined) return { time: date }
  return joinTime(date, Number(hour), Number(minute), Number(second), zone, fraction)
}

function readPartial(text: string): ReadTime {
  const year = Number(text.slice(0, 4))
  const month = text.length > 4 ? Number(text.slice(5)) : 1
  return year >= 1000 && year <= 2200 && month >= 1 && month <= 12 ? { time: text } : UNREAD
}

/** Seconds since 1970, or thousandths or millionths of them, told apart by their size. */
function readEpoch(count: number): ReadTime {
  const ms = count < 1e11 ? count * 1000 : count < 1e14 ? count : count / 1000
  const at = new Date(Math.round(ms))
  const year = at.getUTCFullYear()
  return year >= 1975 && year <= 2200 ? { time: at.toISOString() } : UNREAD
}
