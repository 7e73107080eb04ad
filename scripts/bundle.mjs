// Node 20 reads no TypeScript: scripts and benches get at the sources through this.
import { mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { build } from 'esbuild'

const root = fileURLToPath(new URL('..', import.meta.url))
const external = ['@photostructure/sqlite', 'sharp', 'pdfjs-dist', 'onnxruntime-node']

/**
 * Imports a module of the sources by its path from the root of the project. It is bundled into a folder beside `dist/`
 * that is removed again, so that packages resolve; workers still run from `dist/`.
 */
export async function bundle(entry) {
  const folder = mkdtempSync(join(root, 'node_modules', '.bundle-'))
  const outfile = join(folder, 'module.mjs')
  try {
    await build({
      absWorkingDir: root,
      entryPoints: [entry],
      outfile,
      bundle: true,
      format: 'esm',
      platform: 'node',
      target: 'node20',
      external,
      define: { 'import.meta.url': JSON.stringify(pathToFileURL(join(root, 'dist', 'bundle.js')).href) },
      banner: {
        js: `import { createRequire as __createRequire } from 'node:module'; const require = __createRequire(${JSON.stringify(pathToFileURL(outfile).href)});`,
      },
      logLevel: 'warning',
    })
    return await import(pathToFileURL(outfile).href)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
