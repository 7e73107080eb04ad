import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { build } from 'esbuild'

/** Bundles TypeScript programs, which Node 20 does not read, into a directory of their own. */
export async function bundle(...entryPoints) {
  const directory = mkdtempSync(join(tmpdir(), 'commonplace-protocol-'))
  await build({
    entryPoints,
    outdir: directory,
    bundle: true,
    platform: 'node',
    format: 'esm',
    target: 'node20',
    outExtension: { '.js': '.mjs' },
    entryNames: '[name]',
    logLevel: 'warning',
  })
  return {
    /** The bundle of one of the programs. */
    file: (entryPoint) => join(directory, basename(entryPoint).replace(/\.ts$/, '.mjs')),
    remove: () => rmSync(directory, { recursive: true, force: true }),
  }
}
