import { z } from 'zod'
import { Failure } from '../../core/failure.ts'
import { getLocal, setLocal } from '../../db/changes.ts'
import type { Db } from '../../db/schema.ts'

/** How backups of this one file are made by themselves. They are facts of the file, as its place is, and travel nowhere. */
export interface BackupSettings {
  every: 'off' | 'day' | 'week'
  /** Null for the library's own folder of backups. */
  folder: string | null
  /** How many of those that were made by themselves are kept. */
  keep: number
}

/** What became of the backups that were made by themselves. Instants are ISO 8601. */
export interface BackupRecord {
  /** When one was last begun. */
  triedAt: string | null
  madeAt: string | null
  /** Why the last one failed; null after one that did not. */
  failure: { at: string; message: string; hint: string } | null
  /** Files that were written here and may be removed for newer ones, the oldest first. */
  written: { path: string; bytes: number }[]
}

const DAY_MS = 86_400_000
const EVERY_MS = { off: Infinity, day: DAY_MS, week: 7 * DAY_MS } as const

const SETTINGS = 'backup'
const RECORD = 'backup_record'

const settingsShape = z.object({
  every: z.enum(['off', 'day', 'week']).default('off'),
  folder: z.string().nullable().default(null),
  keep: z.int().min(1).max(1_000).default(7),
})

const recordShape = z.object({
  triedAt: z.string().nullable().default(null),
  madeAt: z.string().nullable().default(null),
  failure: z.object({ at: z.string(), message: z.string(), hint: z.string() }).nullable().default(null),
  written: z.array(z.object({ path: z.string(), bytes: z.number() })).default([]),
})

const stored = async (db: Db, key: string): Promise<unknown> => JSON.parse((await getLocal(db, key)) ?? '{}')

export const backupSettings = async (db: Db): Promise<BackupSettings> =>
  settingsShape.parse(await stored(db, SETTINGS))

export const backupRecord = async (db: Db): Promise<BackupRecord> =>
  recordShape.parse(await stored(db, RECORD))

export async function changeBackupSettings(db: Db, change: Partial<BackupSettings>): Promise<BackupSettings> {
  const next = { ...(await backupSettings(db)), ...change }
  await setLocal(db, SETTINGS, JSON.stringify(next))
  return next
}

export const noteBackup = async (db: Db, change: Partial<BackupRecord>): Promise<void> =>
  setLocal(db, RECORD, JSON.stringify({ ...(await backupRecord(db)), ...change }))

/** Whether one is to be begun now. What failed is tried again on the next day. */
export function isBackupDue(
  { every }: BackupSettings,
  { madeAt, triedAt }: BackupRecord,
  now: Date,
): boolean {
  const passed = (since: string | null): number =>
    since === null ? Infinity : now.getTime() - Date.parse(since)
  return every !== 'off' && passed(madeAt) >= EVERY_MS[every] && passed(triedAt) >= DAY_MS
}

/** Whether there should have been one long since: nothing had the library open, or they fail. */
export const isBackupLate = ({ every }: BackupSettings, { madeAt }: BackupRecord, now: Date): boolean =>
  every !== 'off' && madeAt !== null && now.getTime() - Date.parse(madeAt) > 2 * EVERY_MS[every] + DAY_MS

/** A setting as it was typed. Throws `invalid_input`. */
export function readBackupSetting(name: string, value: string): Partial<BackupSettings> {
  if (name === 'backup.every') {
    const every = (['off', 'day', 'week'] as const).find((one) => one === value)
    if (every) return { every }
    throw refused('backup.every is off, day or week.')
  }
  if (name === 'backup.keep') {
    const keep = /^\d{1,4}$/.test(value) ? Number(value) : 0
    if (keep >= 1 && keep <= 1_000) return { keep }
    throw refused('backup.keep is a number from 1 to 1000.')
  }
  return { folder: value === 'default' ? null : value }
}

const refused = (message: string): Failure =>
  new Failure('invalid_input', message, { hint: 'Nothing was changed.' })
