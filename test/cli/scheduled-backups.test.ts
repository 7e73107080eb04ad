import { existsSync, mkdirSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeEach, describe, expect, it } from 'vitest'
import { openLocal } from '../../src/app/open-local.ts'
import { readLocalConfig } from '../../src/config/local.ts'
import { backupRecord, changeBackupSettings } from '../../src/features/backups/backup-settings.ts'
import { backUpJob, queueBackup } from '../../src/features/backups/jobs/back-up.ts'
import { startWorker } from '../../src/jobs/worker.ts'
import { openWorkspace, type Workspace } from '../support/run-cli.ts'

let at: Workspace
const opened: Workspace[] = []
let folder: string

beforeEach(async () => {
  at = openWorkspace()
  opened.push(at)
  folder = join(at.folder, 'disk')
  writeFileSync(join(at.folder, 'one.md'), '# One\n\nA first text about rivers.\n')
  await at.run(['add', 'one.md', '--wait'])
  await at.settled()
})
afterAll(() => {
  for (const each of opened) each.remove()
})

const backupsIn = (path: string): string[] =>
  readdirSync(path)
    .filter((name) => name.startsWith('commonplace-auto-'))
    .toSorted()

/** What a process that stays open does on a day. */
async function onDay(day: number): Promise<void> {
  const now = () => new Date(Date.UTC(2030, 0, day, 12))
  const local = await openLocal(readLocalConfig({ ...at.env, COMMONPLACE_EMBEDDER: 'off' }), { now })
  try {
    await queueBackup(local.library)
    const worker = startWorker(local.library, [backUpJob], { pollMs: 20 })
    const waiting = () =>
      local.library.db
        .selectFrom('job')
        .select('id')
        .where('kind', '=', 'back-up')
        .where('state', 'in', ['pending', 'running'])
        .execute()
    while ((await waiting()).length > 0) await new Promise((resume) => setTimeout(resume, 20))
    await worker.stop()
  } finally {
    await local.close()
  }
}

describe('backups that are made by themselves', () => {
  it('begin when they are switched on, and bring the library back', async () => {
    const set = await at.run(['config', 'backup.folder', 'disk'])
    expect(set.code).toBe(0)
    const on = await at.run(['config', 'backup.every', 'day'])
    expect(on.stdout).toContain(`A backup every day into ${folder}; the last 7 are kept.`)
    await at.settled()
    const [made] = backupsIn(folder)
    expect(made).toMatch(/^commonplace-auto-\d{8}-\d{6}\.tar\.gz$/)
    const doctor = await at.run(['doctor'])
    expect(doctor.stdout).toMatch(/backups +1 file, the last just now; one every day/)
    const shown = JSON.parse((await at.run(['config', '--json'])).stdout)
    expect(shown.backups).toEqual({ every: 'day', folder, keep: 7 })
    expect(JSON.parse((await at.run(['restore', join(folder, made!), '--json'])).stdout)).toMatchObject({
      items: 1,
    })
  })

  it('come once a day or week, and only so many are kept of what was written here', async () => {
    mkdirSync(folder)
    await at.run(['config', 'backup.folder', folder])
    await at.run(['config', 'backup.keep', '2'])
    await at.run(['config', 'backup.every', 'day'])
    await at.settled()
    const others = ['commonplace-auto-20200101-000000.tar.gz', 'mine.tar.gz']
    for (const name of others) writeFileSync(join(folder, name), 'not ours')
    for (const day of [1, 1, 2, 3]) await onDay(day)
    expect(backupsIn(folder)).toEqual([
      others[0],
      'commonplace-auto-20300102-120000.tar.gz',
      'commonplace-auto-20300103-120000.tar.gz',
    ])
    // One that became another file meanwhile is not ours any more.
    writeFileSync(join(folder, 'commonplace-auto-20300102-120000.tar.gz'), 'overwritten')
    await at.run(['config', 'backup.every', 'week'])
    for (const day of [4, 9, 10, 16, 17]) await onDay(day)
    expect(backupsIn(folder)).toEqual([
      others[0],
      'commonplace-auto-20300102-120000.tar.gz',
      'commonplace-auto-20300110-120000.tar.gz',
      'commonplace-auto-20300117-120000.tar.gz',
    ])
    expect(existsSync(join(folder, 'mine.tar.gz'))).toBe(true)
    await at.run(['config', 'backup.every', 'off'])
    await onDay(30)
    expect(backupsIn(folder)).toHaveLength(4)
  })

  it('say where they fail, make no folder that was named, and go on when it is back', async () => {
    mkdirSync(folder)
    await at.run(['config', 'backup.folder', folder])
    renameSync(folder, `${folder}-unplugged`)
    await at.run(['config', 'backup.every', 'day'])
    await at.settled()
    expect(existsSync(folder)).toBe(false)
    const doctor = await at.run(['doctor'])
    expect(doctor.code).toBe(1)
    expect(doctor.stdout).toContain(`The folder for backups is not there: ${folder}`)
    renameSync(`${folder}-unplugged`, folder)
    await onDay(2)
    expect(backupsIn(folder)).toHaveLength(1)
    expect(JSON.stringify(await at.run(['doctor', '--json']))).not.toContain('is not there')
  })

  it('are set in words that can be understood', async () => {
    for (const args of [
      ['backup.every', 'hour'],
      ['backup.keep', '0'],
      ['backup.keep', 'all'],
      ['backups', 'on'],
      ['backup.folder', join(at.folder, 'one.md')],
    ]) {
      const ended = await at.run(['config', ...args])
      expect([args, ended.code]).toEqual([args, 2])
    }
    expect((await at.run(['config', 'backup.every'])).stdout).toContain('not made by themselves')
    rmSync(join(at.library, 'library.db'))
    expect((await at.run(['config', 'backup.every', 'day'])).code).toBe(5)
  })

  it('are never tried twice at once', async () => {
    const local = await openLocal(readLocalConfig({ ...at.env, COMMONPLACE_EMBEDDER: 'off' }))
    try {
      await local.library.change(({ db }) => changeBackupSettings(db, { every: 'day' }))
      await Promise.all([queueBackup(local.library), queueBackup(local.library)])
      await queueBackup(local.library)
      const jobs = await local.library.db
        .selectFrom('job')
        .select('id')
        .where('kind', '=', 'back-up')
        .execute()
      expect(jobs).toHaveLength(1)
      expect((await backupRecord(local.library.db)).triedAt).not.toBeNull()
    } finally {
      await local.close()
    }
  })
})
