/** What is handed to the embedding worker when it starts. */
export interface WorkerSettings {
  /** Threads of the native runtime; the other one has a single thread, since more made it slower. */
  threads: number
  runtime: 'auto' | RuntimeName
  /** Memory of the `ExitGate` that both threads share. */
  gate: SharedArrayBuffer
}

export type RuntimeName = 'native' | 'web'

export type Request =
  /** `rank` orders what waits: requests of a lower one go first, in the order of their arrival. */
  | { type: 'embed'; id: number; rank: number; texts: string[] }
  | { type: 'cancel'; id: number }
  | { type: 'close' }

export type Reply =
  | { type: 'ready'; runtime: RuntimeName }
  /** Something for whoever looks for the cause of slowness. */
  | { type: 'note'; text: string }
  /** Vectors one after the other. */
  | { type: 'vectors'; id: number; vectors: Float32Array<ArrayBuffer> }
  | { type: 'failed'; id: number; cause: string }
  /** The model could not be loaded, and the worker ends. */
  | { type: 'broken'; cause: string }
