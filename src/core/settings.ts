import { z } from 'zod'
import type { Db } from '../db/schema.ts'
import { machineTimeZone } from './days.ts'
import type { Change } from './library.ts'

const settingsSchema = z.object({
  timeZone: z.string().default(machineTimeZone),
  /** ISO weekday, 1 is Monday. */
  weekStart: z.coerce.number().int().min(1).max(7).default(1),
  dayEndHour: z.coerce.number().int().min(0).max(23).default(0),
  language: z.string().default('en'),
  /** Highlights that are gone over in a day. */
  reviewsPerDay: z.coerce.number().int().min(1).max(50).default(10),
})

export type Settings = z.output<typeof settingsSchema>

/** The reader's settings; what was never set has its default. */
export async function readSettings(db: Db): Promise<Settings> {
  const rows = await db.selectFrom('setting').select(['key', 'value']).execute()
  return settingsSchema.parse(Object.fromEntries(rows.map(({ key, value }) => [key, value])))
}

function isTimeZone(name: string): boolean {
  try {
    return Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions().timeZone !== ''
  } catch {
    return false
  }
}

/** Whether a setting may have this value; one that is not known is nobody's trouble. */
export function canBeSetting(key: string, value: string): boolean {
  const parsed = settingsSchema.safeParse({ [key]: value })
  return parsed.success && (key !== 'timeZone' || isTimeZone(value))
}

/** Sets what the reader wants otherwise than by default. */
export async function writeSetting(change: Change, key: keyof Settings, value: string): Promise<void> {
  const known = await change.db.selectFrom('setting').select('id').where('key', '=', key).executeTakeFirst()
  if (known) await change.update('setting', known.id, { value })
  else await change.insert('setting', { key, value })
}
