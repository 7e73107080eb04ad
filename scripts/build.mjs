#!/usr/bin/env node
// Bundles the program into dist/: the command line, and each worker as a file of its own.
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs'
import { build } from 'esbuild'
import { basename, join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { START, joinStart } from './join-start.mjs'
import { prepareEmbedding } from './prepare-embedding.mjs'

const root = fileURLToPath(new URL('..', import.meta.url))
const dist = join(root, 'dist')

/** Workers run from the build even in tests, since Node 20 reads no TypeScript. */
const workers = {
  'article-worker': 'src/features/capture/article-worker.ts',
  'pdf-worker': 'src/features/capture/pdf-worker.ts',
  'epub-worker': 'src/features/capture/epub-worker.ts',
  'feed-worker': 'src/features/capture/feed-worker.ts',
  'embedding-worker': 'src/outside/embedding-worker.ts',
}

/** Packages that stay packages: native code, or files of their own beside the code. */
const external = ['sharp', 'pdfjs-dist', 'onnxruntime-node']

/** Bundled CommonJS packages call `require` for what node brings. */
const requireInModules = {
  js: "import { createRequire as __createRequire } from 'node:module'; const require = __createRequire(import.meta.url);",
}

const present = (entries) =>
  Object.fromEntries(Object.entries(entries).filter(([, file]) => existsSync(join(root, file))))

const common = {
  absWorkingDir: root,
  bundle: true,
  format: 'esm',
  platform: 'node',
  target: 'node20',
  external,
  logLevel: 'warning',
}

/** The definitions of tools, resources and prompts as data, so that a server starts without their code (src/mcp/definitions.ts). */
async function definitions() {
  const folder = mkdtempSync(join(root, 'node_modules', '.commonplace-definitions-'))
  try {
    const outfile = join(folder, 'definitions.mjs')
    await build({
      ...common,
      entryPoints: ['src/mcp/definitions.ts'],
      outfile,
      banner: requireInModules,
      plugins: [directAddon],
    })
    const made = Object.entries(await import(pathToFileURL(outfile).href))
    return made.map(([name, value]) => `export const ${name} = ${JSON.stringify(value)}`).join('\n')
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

const preparedDefinitions = {
  name: 'prepared-definitions',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^commonplace:definitions$/ }, ({ path }) => ({ path, namespace: 'prepared' }))
    onLoad({ filter: /.*/, namespace: 'prepared' }, async () => ({
      contents: await definitions(),
      loader: 'js',
    }))
  },
}

/** SQLite's native file is loaded directly (docs/decisions/0006-what-starts-a-server.md). */
const directAddon = {
  name: 'direct-addon',
  setup({ onResolve }) {
    onResolve({ filter: /^node-gyp-build$/ }, () => ({ path: join(root, 'src/db/sqlite/native-addon.ts') }))
  },
}

mkdirSync(dist, { recursive: true })
const inWorkers = await build({
  ...common,
  entryPoints: present(workers),
  outdir: dist,
  metafile: true,
  banner: requireInModules,
  plugins: [directAddon],
})
await prepareEmbedding(dist)
const { metafile } = await build({
  ...common,
  entryPoints: { main: 'src/main.ts' },
  outdir: dist,
  splitting: true,
  metafile: true,
  plugins: [preparedDefinitions, directAddon],
  chunkNames: 'chunk-[hash]',
  minifySyntax: true,
  minifyWhitespace: true,
  legalComments: 'none',
  banner: requireInModules,
})
await joinStart(dist, metafile.outputs, 'src/cli/commands/mcp.ts', {
  ...common,
  minifySyntax: true,
  minifyWhitespace: true,
  legalComments: 'none',
})
const outputs = [START, ...Object.keys(metafile.outputs), ...Object.keys(inWorkers.metafile.outputs)]
const made = new Set(outputs.map((file) => basename(file)))
// A program that was started from the build before may still load its parts: they go when nobody can be using them.
const keepMs = process.env['npm_lifecycle_event'] === 'pack' ? 0 : 20 * 60_000
for (const file of readdirSync(dist)) {
  if (!file.endsWith('.js') || made.has(file)) continue
  const age = Date.now() - (statSync(join(dist, file), { throwIfNoEntry: false })?.mtimeMs ?? 0)
  if (age >= keepMs) rmSync(join(dist, file), { force: true })
}
