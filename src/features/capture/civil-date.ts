/**
 * A date as PDF (`D:YYYYMMDDHHmmSSOHH'mm'`, ISO 32000-2, 7.9.4, everything after the year optional) or XMP (ISO 8601)
 * write it, cut to a civil date in the zone in which it was written.
 */
export function civilDate(stated: string | undefined): string | null {
  const text = (stated ?? '').replaceAll(/[\p{Cc}\p{Cf}\s]+/gu, ' ').trim()
  const match =
    /^(\d{4})-(\d{1,2})(?:-(\d{1,2}))?(?:[T ]|$)/u.exec(text) ??
    /^(?:D:)?(\d{4})(?:(\d{2})(\d{2})?)?(?:[\dZz+-]|$)/u.exec(text)
  if (!match?.[1]) return null
  const year = Number(match[1])
  if (year < 1000 || year > 2200) return null
  const month = Number(match[2] ?? 0)
  if (month < 1 || month > 12) return match[1]
  const day = Number(match[3] ?? 0)
  const monthText = `${match[1]}-${String(month).padStart(2, '0')}`
  const days = new Date(Date.UTC(year, month, 0)).getUTCDate()
  return day < 1 || day > days ? monthText : `${monthText}-${String(day).padStart(2, '0')}`
}
