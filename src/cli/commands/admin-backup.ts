import { existsSync, statSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { backUpServer, dumpServer, SERVER_BACKUP_FACTS } from '../../app/back-up-server.ts'
import type { Context } from '../command.ts'
import { EXIT } from '../exit-code.ts'
import { usage } from '../flags.ts'
import { STYLE } from '../print.ts'
import { startProgress } from '../progress.ts'
import { count, size } from '../when.ts'
import { serverConfigOf } from './admin-server.ts'

/** Saves a whole server; on SQLite a folder, on PostgreSQL a dump. Needs nothing opened. */
export async function adminBackup(context: Context, [given]: readonly string[]): Promise<number> {
  const { env, args, out, err, json, signal } = context
  const config = serverConfigOf(env, args.one('library'))
  if (given !== undefined && existsSync(join(given, SERVER_BACKUP_FACTS)))
    throw usage(`${given} is a backup already.`, 'Name the folder that it lies in, or a new one.')
  const now = new Date()
  const stamp = now.toISOString().slice(0, 19).replaceAll(/[-:]/g, '').replace('T', '-')
  const name = config.database ? `commonplace-${stamp}.dump` : `commonplace-${stamp}`
  const target =
    given === undefined
      ? join(config.dataFolder, 'server-backups', name)
      : existsSync(given) && statSync(given).isDirectory()
        ? resolve(given, name)
        : resolve(given)
  const progress = startProgress(err, 'Copying the accounts…')
  try {
    if (config.database) {
      const made = await dumpServer(config.database, target, { signal })
      progress.stop()
      if (json) out.json({ ...made, mediaElsewhere: true })
      else out.line(`${made.path} (${size(made.bytes)}).`)
      tellOfMedia(context, config.s3?.url ?? join(config.dataFolder, 'media'))
      return EXIT.ok
    }
    const made = await backUpServer(config, target, {
      now,
      signal,
      onLibrary: (done, total) => progress.say(`Copying ${done + 1} of ${total} libraries…`),
    })
    progress.stop()
    if (json) out.json(made)
    else {
      out.line(
        `${made.path} (${size(made.bytes)}): ${count(made.readers, 'reader')}, ${count(made.libraries, 'library', 'libraries')}, ${count(made.media, 'file')}.`,
      )
    }
    if (config.s3) tellOfMedia(context, config.s3.url)
    return EXIT.ok
  } finally {
    progress.stop()
  }
}

const tellOfMedia = ({ err }: Context, where: string): void =>
  err.line({
    text: `Pages and files are not among it: they lie in ${where}. Save that too.`,
    style: STYLE.warning,
  })
