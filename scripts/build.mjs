#!/usr/bin/env node
// Bundles the program into dist/: the command line, and each worker as a file of its own.
import { rmSync, mkdirSync, existsSync } from 'node:fs'
import { build } from 'esbuild'
import { fileURLToPath } from 'node:url'
import { join } from 'node:path'
import { prepareEmbedding } from './prepare-embedding.mjs'

const root = fileURLToPath(new URL('..', import.meta.url))
const dist = join(root, 'dist')

/** Workers run from the build even in tests, since Node 20 reads no TypeScript. */
const workers = {
  'article-worker': 'src/features/capture/article-worker.ts',
  'pdf-worker': 'src/features/capture/pdf-worker.ts',
  'embedding-worker': 'src/outside/embedding-worker.ts',
}

/** Packages that stay packages: native code, or files of their own beside the code. */
const external = ['@photostructure/sqlite', 'sharp', 'pdfjs-dist', 'onnxruntime-node']

const present = (entries) =>
  Object.fromEntries(Object.entries(entries).filter(([, file]) => existsSync(join(root, file))))

mkdirSync(dist, { recursive: true })
for (const name of ['main.js']) rmSync(join(dist, name), { force: true })
await build({
  absWorkingDir: root,
  entryPoints: present({ main: 'src/main.ts', ...workers }),
  outdir: dist,
  bundle: true,
  splitting: true,
  format: 'esm',
  platform: 'node',
  target: 'node20',
  external,
  chunkNames: 'chunk-[hash]',
  minifySyntax: true,
  minifyWhitespace: true,
  legalComments: 'none',
  banner: {
    js: "import { createRequire as __createRequire } from 'node:module'; const require = __createRequire(import.meta.url);",
  },
  logLevel: 'warning',
})
await prepareEmbedding(dist)
