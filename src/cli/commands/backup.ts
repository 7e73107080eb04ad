import { existsSync, statSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { backUp } from '../../app/back-up.ts'
import { defineCommand } from '../command.ts'
import { EXIT } from '../exit-code.ts'
import { usage } from '../flags.ts'
import { withLibrary } from '../open-library.ts'
import { startProgress } from '../progress.ts'
import { count, size } from '../when.ts'

export const backup = defineCommand({
  name: 'backup',
  usage: ['[FILE|DIR]'],
  about:
    'Writes the whole library, with its pages, files and covers, to one file (a .tar.gz). Without a name it goes into the `backups` folder of the library. `commonplace restore FILE` brings it back.',
  flags: [],
  examples: ['commonplace backup', 'commonplace backup /media/disk/reading.tar.gz'],
  words: { most: 1 },
  run: (context) =>
    withLibrary(context, async ({ file, library }) => {
      const { args, out, err, json, signal } = context
      const now = library.now()
      const [given] = args.positionals
      const name = `commonplace-${now.toISOString().slice(0, 19).replaceAll(/[-:]/g, '').replace('T', '-')}.tar.gz`
      const target =
        given === undefined
          ? join(file.folder, 'backups', name)
          : existsSync(given) && statSync(given).isDirectory()
            ? resolve(given, name)
            : resolve(given)
      if (existsSync(target))
        throw usage(`${target} is there already.`, 'Give another name; a backup is never written over.')
      const progress = startProgress(err, 'Copying the library…')
      try {
        const made = await backUp(file, target, {
          now,
          signal,
          onFile: (done, total) => progress.say(`Packing ${done} of ${total} files…`),
        })
        progress.stop()
        if (json) out.json(made)
        else out.line(`${made.path} (${size(made.bytes)}, ${count(made.media, 'file')} beside the library).`)
      } finally {
        progress.stop()
      }
      return EXIT.ok
    }),
})
