import { accessSync, constants, existsSync, mkdirSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { LIBRARY_FILE } from '../../app/open-file.ts'
import { openLocal } from '../../app/open-local.ts'
import { modelInWords } from '../../config/model.ts'
import { Failure } from '../../core/failure.ts'
import {
  backupSettings,
  changeBackupSettings,
  readBackupSetting,
  type BackupSettings,
} from '../../features/backups/backup-settings.ts'
import { queueBackup } from '../../features/backups/jobs/back-up.ts'
import { defineCommand, type Context } from '../command.ts'
import { EXIT } from '../exit-code.ts'
import { usage } from '../flags.ts'
import { withLibrary } from '../open-library.ts'
import { STYLE } from '../print.ts'

export const config = defineCommand({
  name: 'config',
  usage: ['', 'backup.every day|week|off', 'backup.folder FOLDER|default', 'backup.keep NUMBER'],
  about:
    'Shows the settings in effect and where each comes from. Most are set by environment variables; docs/configuration.md lists them. With a name and a value it sets how backups are made by themselves (docs/backups.md).',
  flags: [],
  examples: ['commonplace config', 'commonplace config backup.every day'],
  words: { most: 2 },
  async run(context) {
    if (context.args.positionals.length > 0) return await setBackups(context)
    const { library, allowHosts, embedder, model, debug } = context.config()
    const { args, env, out, json } = context
    const from = (variable: string, flag?: string) =>
      flag !== undefined && args.given(flag) ? `--${flag}` : env[variable] ? variable : 'default'
    const there = existsSync(join(library, LIBRARY_FILE))
    const backups = there ? await shownBackups(context) : undefined
    const shown =
      embedder.kind === 'openai' || embedder.kind === 'ollama'
        ? { ...embedder, apiKey: embedder.apiKey === undefined ? undefined : 'set' }
        : embedder
    if (json) {
      out.json({
        ...(backups && { backups }),
        library: { folder: library, exists: there, from: from('COMMONPLACE_LIBRARY', 'library') },
        embedder: shown,
        model:
          model.kind === 'off' ? model : { ...model, apiKey: model.apiKey === undefined ? undefined : 'set' },
        allowHosts,
        debug,
      })
      return EXIT.ok
    }
    const embedding =
      'url' in embedder ? `${embedder.kind} ${embedder.model} at ${embedder.url}` : embedder.kind
    out.table(
      [{ title: 'SETTING' }, { title: 'VALUE', flexible: true, least: 24 }, { title: 'FROM', spare: true }],
      [
        ['library', there ? library : `${library} (not made yet)`, from('COMMONPLACE_LIBRARY', 'library')],
        ['embedder', embedding, from('COMMONPLACE_EMBEDDER')],
        ['language model', modelInWords(model), from('COMMONPLACE_MODEL')],
        [
          'allowed hosts',
          allowHosts.join(', ') || 'none beside public ones',
          from('COMMONPLACE_ALLOW_HOSTS'),
        ],
        ...(backups
          ? [
              ['backup.every', backups.every, 'library'],
              [
                'backup.folder',
                backups.folder ?? join(library, 'backups'),
                backups.folder ? 'library' : 'default',
              ],
              ['backup.keep', String(backups.keep), 'library'],
            ]
          : []),
        ['debug', debug ? 'on' : 'off', from('COMMONPLACE_DEBUG')],
      ].map(([name = '', value = '', source = '']) => [name, value, { text: source, style: STYLE.dim }]),
    )
    return EXIT.ok
  },
})

/** Undefined for a library that cannot be opened as it is: `doctor` says why. */
async function shownBackups({ config }: Context): Promise<BackupSettings | undefined> {
  try {
    const local = await openLocal(config(), { readOnly: true })
    try {
      return await backupSettings(local.library.db)
    } finally {
      await local.close()
    }
  } catch {
    return undefined
  }
}

const NAMES = ['backup.every', 'backup.folder', 'backup.keep']

function setBackups(context: Context): Promise<number> {
  const { args, out, json } = context
  const [name = '', value] = args.positionals
  if (!NAMES.includes(name))
    throw usage(`${JSON.stringify(name)} cannot be set here.`, `What can be set: ${NAMES.join(', ')}.`)
  return withLibrary(
    context,
    async ({ library }) => {
      if (value !== undefined) {
        const wanted = readBackupSetting(name, value)
        if (typeof wanted.folder === 'string') wanted.folder = writableFolder(wanted.folder)
        await library.change(({ db }) => changeBackupSettings(db, wanted))
        await queueBackup(library)
      }
      const settings = await backupSettings(library.db)
      if (json) out.json({ backups: settings })
      else out.line(sentenceOf(settings))
      return EXIT.ok
    },
    { changes: value !== undefined },
  )
}

function writableFolder(given: string): string {
  const folder = resolve(given)
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    accessSync(folder, constants.W_OK)
  } catch (cause) {
    throw new Failure('invalid_input', `Nothing can be written to ${folder}.`, {
      hint: 'Name a folder that you may write to. Nothing was changed.',
      cause,
    })
  }
  return folder
}

function sentenceOf({ every, folder, keep }: BackupSettings): string {
  if (every === 'off') return 'Backups are not made by themselves.'
  const where = folder ?? 'the library’s folder of backups'
  return `A backup every ${every} into ${where}; ${keep === 1 ? 'the last one is' : `the last ${keep} are`} kept.`
}
