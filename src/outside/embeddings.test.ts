import { spawnSync } from 'node:child_process'
import { once } from 'node:events'
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import type { Worker } from 'node:worker_threads'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { build } from 'esbuild'
import { afterAll, describe, expect, it } from 'vitest'
import { Failure } from '../core/failure.ts'
import { workerFile } from '../core/worker-file.ts'
import { createBuiltInEmbedder } from './embeddings.ts'

const dist = dirname(workerFile('embedding-worker'))

/**
 * Texts with their vectors (512 float32, base64) as @energetic-ai/embeddings 0.2.0 gives them with its own TensorFlow.js
 * runtime and tokenizer.
 */
const reference: { text: string; vector: string }[] = JSON.parse(
  readFileSync(new URL('embeddings/reference-vectors.json', import.meta.url), 'utf8'),
)
const vectorOf = (base64: string): Float32Array =>
  new Float32Array(Uint8Array.from(Buffer.from(base64, 'base64')).buffer)
const dot = (a: Float32Array, b: Float32Array): number => a.reduce((sum, value, i) => sum + value * b[i]!, 0)
const largestDifference = (a: Float32Array, b: Float32Array): number =>
  a.reduce((most, value, i) => Math.max(most, Math.abs(value - b[i]!)), 0)

const native = await import('onnxruntime-node' as string).then(
  () => true,
  () => false,
)

describe.each((['native', 'web'] as const).filter((runtime) => native || runtime === 'web'))(
  'built-in embedder, %s runtime',
  (runtime) => {
    const embedder = createBuiltInEmbedder({ runtime, threads: 1 })
    afterAll(() => embedder.close())

    it('gives the vectors of the original model', async () => {
      expect(await embedder.runtime()).toBe(runtime)
      const vectors = await embedder.embed(reference.map(({ text }) => text))
      for (const [i, { vector }] of reference.entries()) {
        expect(vectors[i]).toHaveLength(embedder.dimensions)
        expect(dot(vectors[i]!, vectorOf(vector))).toBeGreaterThan(0.9999)
      }
    })

    it('gives a text the same vector in any company', async () => {
      const long = 'a long report about ships, harbours and the weather at sea '.repeat(9)
      const company = Array.from({ length: 20 }, (_, i) => long.slice(0, 20 + 25 * i))
      const [alone] = await embedder.embed(['ships at sea'])
      const together = await embedder.embed([...company, 'ships at sea', ...company])
      expect(largestDifference(alone!, together[company.length]!)).toBeLessThan(1e-6)
    })
  },
)

describe('built-in embedder', () => {
  const embedder = createBuiltInEmbedder({ threads: 1 })
  afterAll(() => embedder.close())

  it('takes whatever is there by default', async () => {
    expect(await embedder.runtime()).toBe(native ? 'native' : 'web')
  })

  it('does not mind white space, and has a unit vector for any text', async () => {
    const [clean, spaced] = await embedder.embed(['ships at sea', ' ships\n\n at\tsea\u00a0'])
    expect(largestDifference(clean!, spaced!)).toBeLessThan(1e-6)
    const odd = ['', '\n', '\ud83d lone', '漢字', '\u0000', 'x'.repeat(100_000)]
    for (const vector of await embedder.embed(odd)) expect(dot(vector, vector)).toBeCloseTo(1, 5)
    expect(await embedder.embed([])).toEqual([])
  })

  it('answers a query before what is embedded in bulk', async () => {
    const bulk = Array.from(
      { length: 400 },
      (_, i) => `report ${i} about the harbours of the north and their ships`,
    )
    const order: string[] = []
    await Promise.all([
      embedder.embed(bulk).then(() => order.push('bulk')),
      embedder.embed(['which ships?'], { priority: 'query' }).then(() => order.push('query')),
    ])
    expect(order).toEqual(['query', 'bulk'])
  })

  it('stops by a signal, and goes on with the others', async () => {
    const stop = new AbortController()
    const stopped = embedder.embed(Array(300).fill('a text of some words'), { signal: stop.signal })
    const other = embedder.embed(['a text of some words'])
    stop.abort()
    await expect(stopped).rejects.toMatchObject({ code: 'cancelled' })
    expect(await other).toHaveLength(1)
    await expect(embedder.embed(['late'], { signal: stop.signal })).rejects.toMatchObject({
      code: 'cancelled',
    })
  })

  it('ends when nothing is asked, and starts again', async () => {
    const workers: Worker[] = []
    const note = (worker: Worker): void => void workers.push(worker)
    process.on('worker', note)
    const brief = createBuiltInEmbedder({ idleMs: 1, threads: 1 })
    const [first] = await brief.embed(['ships'])
    await once(workers[0]!, 'exit')
    const [second] = await brief.embed(['ships'])
    process.off('worker', note)
    expect(second).toEqual(first)
    expect(workers).toHaveLength(2)
    await brief.close()
  })

  it('refuses everything after it was closed', async () => {
    const closed = createBuiltInEmbedder({ threads: 1 })
    const waiting = closed.embed(['ships'])
    const refused = expect(waiting).rejects.toMatchObject({ code: 'unavailable' })
    await closed.close()
    await refused
    await expect(closed.embed(['ships'])).rejects.toBeInstanceOf(Failure)
  })

  it('lets the process end in the middle of its work', async () => {
    const program = await bundled(new URL('../../dist/', import.meta.url))
    const { status, stderr } = run(`${program}
      const embedder = createBuiltInEmbedder()
      await embedder.runtime()
      const texts = Array.from({ length: 500 }, (_, i) => 'text ' + i + ' about the long history of the sea')
      embedder.embed(texts).catch(() => {})
      setTimeout(() => process.exit(7), 40)`)
    expect({ status, stderr }).toEqual({ status: 7, stderr: '' })
  })

  it('does without the native runtime where it does not load, and notes it', async () => {
    const folder = makeFolder()
    copyScripts(folder)
    for (const name of ['model', 'ort']) symlinkSync(join(dist, name), join(folder, name))
    const broken = join(folder, 'node_modules', 'onnxruntime-node')
    mkdirSync(broken, { recursive: true })
    writeFileSync(join(broken, 'index.js'), 'throw new Error("no binary for this machine")')
    const program = await bundled(pathToFileURL(`${folder}/`))
    const { stdout } = run(`${program}
      const embedder = createBuiltInEmbedder({ log: (text) => console.log(text.split(':')[0]) })
      console.log((await embedder.embed(['ships'])).length, await embedder.runtime())
      await embedder.close()`)
    rmSync(folder, { recursive: true })
    expect(stdout).toBe('The native runtime is not there, the slower one is used\n1 web\n')
  })

  it('fails clearly when its worker crashes or has no model, and starts another', async () => {
    const folder = makeFolder()
    copyScripts(join(folder, 'built'))
    const program = await bundled(pathToFileURL(`${folder}/`))
    const { stdout } = run(`${program}
      import { writeFileSync } from 'node:fs'
      const worker = ${JSON.stringify(join(folder, 'embedding-worker.js'))}
      const embedder = createBuiltInEmbedder()
      const ask = () => embedder.embed(['ships']).then((v) => v.length, (e) => e.code + ' ' + e.message)
      writeFileSync(worker, 'throw new Error("no luck")')
      console.log(await ask())
      writeFileSync(worker, 'process.exit(3)')
      console.log(await ask())
      writeFileSync(worker, 'import "./built/embedding-worker.js"')
      console.log(await ask())
      writeFileSync(worker, \`import { parentPort } from 'node:worker_threads'
        parentPort.on('message', ({ id }) =>
          parentPort.postMessage({ type: 'vectors', id, vectors: new Float32Array(512) }))\`)
      console.log(await ask())`)
    rmSync(folder, { recursive: true })
    expect(stdout.trim().split('\n')).toEqual([
      'unavailable The embedding model crashed.',
      'unavailable The embedding model ended unexpectedly.',
      'unavailable The embedding model could not be loaded.',
      '1',
    ])
  })
})

/** A package of its own. */
function makeFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'embedder-'))
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }')
  return folder
}

function copyScripts(to: string): void {
  for (const name of readdirSync(dist).filter((name) => name.endsWith('.js'))) {
    cpSync(join(dist, name), join(to, name))
  }
}

/** The embedder as a module text that looks for its worker in the folder. */
async function bundled(folder: URL): Promise<string> {
  const { outputFiles } = await build({
    entryPoints: [fileURLToPath(new URL('embeddings.ts', import.meta.url))],
    bundle: true,
    platform: 'node',
    format: 'esm',
    write: false,
    define: { 'import.meta.url': JSON.stringify(new URL('program.mjs', folder).href) },
  })
  return outputFiles[0]!.text
}

function run(program: string): { status: number | null; stdout: string; stderr: string } {
  return spawnSync(process.execPath, ['--input-type=module', '-'], { input: program, encoding: 'utf8' })
}
