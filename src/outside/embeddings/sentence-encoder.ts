import { planBatches } from './batches.ts'
import type { LoadedModel } from './runtime.ts'
import { cleanWhiteSpace, type Tokenizer } from './tokenizer.ts'

export const DIMENSIONS = 512
/** The network was made for this many pieces (about 85 words of English); it sees nothing of what follows. */
const MAX_TOKENS = 128
/** Room for the longest 128 pieces and more; spares the work on a text of megabytes. */
const MAX_CHARACTERS = 16_384

/** Texts on their way to vectors: each call of `step` works off one batch. */
export interface Encoding {
  /** Vectors of all texts one after the other, complete when `done`. */
  vectors: Float32Array<ArrayBuffer>
  done: boolean
  step(): Promise<void>
}

/**
 * Turns texts into unit vectors with the ONNX form of Universal Sentence Encoder lite (`scripts/convert-model.mjs`). The
 * vector of a text does not depend on the others, beyond the rounding of floats (5e-8).
 */
export class SentenceEncoder {
  #model: LoadedModel
  #tokenizer: Tokenizer

  constructor(model: LoadedModel, tokenizer: Tokenizer) {
    this.#model = model
    this.#tokenizer = tokenizer
  }

  start(texts: string[]): Encoding {
    const encoded = texts.map((text) =>
      this.#tokenizer.encode(cleanWhiteSpace(text.slice(0, MAX_CHARACTERS)), MAX_TOKENS),
    )
    const batches = planBatches(encoded.map((ids) => ids.length)).toReversed()
    const vectors = new Float32Array(texts.length * DIMENSIONS)
    const encoding: Encoding = {
      vectors,
      done: batches.length === 0,
      step: async () => {
        const batch = batches.pop()
        if (batch) {
          const found = await this.#run(batch.map((i) => encoded[i]!))
          for (const [row, i] of batch.entries()) {
            vectors.set(found.subarray(row * DIMENSIONS, (row + 1) * DIMENSIONS), i * DIMENSIONS)
          }
        }
        encoding.done = batches.length === 0
      },
    }
    return encoding
  }

  async #run(rows: number[][]): Promise<Float32Array> {
    const width = Math.max(1, ...rows.map((ids) => ids.length)) // the empty text still needs a column of padding
    const ids = new Int32Array(rows.length * width).fill(-1)
    for (const [row, tokens] of rows.entries()) ids.set(tokens, row * width)
    const output = await this.#model.session.run({ ids: this.#model.tensor(ids, [rows.length, width]) })
    const data = output['embedding']?.data
    if (!(data instanceof Float32Array) || data.length !== rows.length * DIMENSIONS) {
      throw new TypeError('the model gave no vectors')
    }
    return data
  }

  async close(): Promise<void> {
    await this.#model.session.release()
  }
}
