import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import type { RuntimeName } from './messages.ts'

/** As much of the ONNX Runtime API (the same in both packages) as running one model takes. */
export interface Session {
  run(feeds: Record<string, unknown>): Promise<Record<string, { data: unknown }>>
  release(): Promise<void>
}

interface OnnxRuntime {
  env: { logLevel?: string; wasm: { numThreads?: number; wasmPaths?: unknown; wasmBinary?: unknown } }
  InferenceSession: { create(model: Uint8Array, options: Record<string, unknown>): Promise<Session> }
  Tensor: new (type: 'int32', data: Int32Array, dims: number[]) => unknown
}

/** The variable that, set to 1 in the environment of the process, keeps the native runtime from reporting anything. */
export const NO_TELEMETRY = 'ORT_DISABLE_TELEMETRY'

/** A model ready to run. */
export interface LoadedModel {
  runtime: RuntimeName
  session: Session
  tensor(data: Int32Array, dims: number[]): unknown
}

/**
 * Loads a model with `onnxruntime-node`, an optional dependency with native code. Rejects with whatever went wrong where it
 * is not installed or has no binary for this machine, and where it would send reports (`NO_TELEMETRY`).
 */
export async function loadNative(model: Uint8Array, threads: number): Promise<LoadedModel> {
  if (process.env[NO_TELEMETRY] !== '1')
    throw new Error('the native runtime is not kept from sending reports')
  const name: string = 'onnxruntime-node' // a variable: types and bundles must do without it
  const imported: { default: OnnxRuntime } = await import(name)
  return load('native', imported.default, model, {
    intraOpNumThreads: threads,
    interOpNumThreads: 1,
    // Threads that spin while they wait take the processor from everyone else: half the speed on a busy machine.
    extra: { session: { intra_op: { allow_spinning: '0' } } },
  })
}

/** Loads a model with the WebAssembly build of the runtime that lies in the folder (a URL that ends in a slash). */
export async function loadWeb(model: Uint8Array, folder: URL): Promise<LoadedModel> {
  const imported: { default: OnnxRuntime } = await import(new URL('ort.mjs', folder).href)
  const runtime = imported.default
  runtime.env.wasm.numThreads = 1
  runtime.env.wasm.wasmPaths = folder.href
  runtime.env.wasm.wasmBinary = await readFile(fileURLToPath(new URL('ort-wasm-simd-threaded.wasm', folder)))
  return load('web', runtime, model, { executionProviders: ['wasm'] })
}

async function load(
  name: RuntimeName,
  runtime: OnnxRuntime,
  model: Uint8Array,
  options: Record<string, unknown>,
): Promise<LoadedModel> {
  runtime.env.logLevel = 'error'
  const session = await runtime.InferenceSession.create(model, {
    graphOptimizationLevel: 'all',
    logSeverityLevel: 3,
    ...options,
  })
  return { runtime: name, session, tensor: (data, dims) => new runtime.Tensor('int32', data, dims) }
}
