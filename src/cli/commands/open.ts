import { spawn } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { Failure } from '../../core/failure.ts'
import type { Library } from '../../core/library.ts'
import { lastGiven } from '../../features/capture/capture-store.ts'
import { findItem, type Source } from '../../features/sources/source-store.ts'
import { defineCommand } from '../command.ts'
import { EXIT } from '../exit-code.ts'
import { itemJson } from '../item.ts'
import { withLibrary } from '../open-library.ts'

export const open = defineCommand({
  name: 'open',
  usage: ['ID [--print]'],
  about:
    'Opens the original of an item: its page in the browser ($BROWSER, or what the desktop uses), or the file that was added, in the program for its kind. Where nothing can be opened it prints where the original is.',
  flags: [{ name: 'print', help: 'Only print where the original is' }],
  examples: ['commonplace open 1099511627777'],
  words: { least: 1, most: 1 },
  run: (context) =>
    withLibrary(context, async ({ library }) => {
      const { args, out, json, env } = context
      const item = await findItem(library.db, args.positionals[0]!)
      const target = item.url ?? (await originalFile(library, item))
      const opened = !args.on('print') && !json && (await openWith(target, env))
      if (json) out.json({ ...itemJson(item), target })
      else if (!opened) out.line(target)
      return EXIT.ok
    }),
})

/** Writes the file that was added to a folder for passing things and answers with its path. Throws `file_not_found`. */
async function originalFile(library: Library, item: Source): Promise<string> {
  const capture = await lastGiven(library.db, item.id)
  const bytes = capture?.given ? await library.outside.media.get(capture.given) : undefined
  if (!bytes) {
    throw new Failure('file_not_found', `“${item.title}” has neither an address nor a file.`, {
      hint: `\`commonplace read ${item.id}\` shows its text.`,
    })
  }
  const folder = join(tmpdir(), `commonplace-${item.id}`)
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const path = join(
    folder,
    basename(capture?.given_name ?? '').replaceAll(/[^\p{L}\p{N}. _-]/gu, '_') || 'original',
  )
  writeFileSync(path, bytes, { mode: 0o600 })
  return path
}

async function openWith(target: string, env: NodeJS.ProcessEnv): Promise<boolean> {
  for (const [program, ...args] of openers(target, env)) {
    if (program !== undefined && (await starts(program, [...args, target]))) return true
  }
  return false
}

function openers(target: string, env: NodeJS.ProcessEnv): string[][] {
  const browser = /^https?:/i.test(target) && env['BROWSER'] ? [[env['BROWSER']]] : []
  if (process.platform === 'darwin') return [...browser, ['open']]
  if (process.platform === 'win32') return [...browser, ['rundll32', 'url.dll,FileProtocolHandler']]
  // Without a display there is nothing that the desktop could open it in.
  const desktop = env['DISPLAY'] || env['WAYLAND_DISPLAY'] ? [['xdg-open'], ['gio', 'open']] : []
  return [...browser, ...desktop]
}

function starts(program: string, args: string[]): Promise<boolean> {
  return new Promise((resolve) => {
    const child = spawn(program, args, { detached: true, stdio: 'ignore' })
    child.on('error', () => resolve(false))
    child.on('exit', (code) => resolve(code === 0))
    // A browser that stays open has opened it.
    setTimeout(() => resolve(true), 3_000).unref()
    child.unref()
  })
}
