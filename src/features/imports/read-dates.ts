import type { ImportReport, RowPlace } from './import-report.ts'
import { readTime } from './read-time.ts'
import type { WrittenTime } from './written-time.ts'

/** A date of a row; what is doubtful about it is remarked. */
export function datedRow(
  stated: string | number | null | undefined,
  place: RowPlace,
  report: ImportReport,
): { created: WrittenTime | null; unreadDate: string | null } {
  const { time, doubt } = readTime(stated)
  if (doubt === 'unread') report.remark('date_unread', place)
  if (doubt === 'day') report.remark('time_unread', place)
  if (doubt === 'weekday') report.remark('weekday_odd', place)
  return { created: time, unreadDate: doubt === 'unread' ? String(stated).slice(0, 200) : null }
}
