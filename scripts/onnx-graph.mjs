// Writes ONNX models: the few protobuf messages of the format (onnx.proto, IR version 8) that a feed-forward graph needs.

/** Element types of onnx.proto, `TensorProto.DataType`. */
export const TYPE = { float: 1, int32: 6, int64: 7, float16: 10 }

function varint(value) {
  let rest = BigInt.asUintN(64, BigInt(value))
  const out = []
  do {
    const low = Number(rest & 0x7fn)
    rest >>= 7n
    out.push(rest ? low | 0x80 : low)
  } while (rest)
  return Buffer.from(out)
}
const int = (field, value) => Buffer.concat([varint(field << 3), varint(value)])
const bytes = (field, body) => Buffer.concat([varint((field << 3) | 2), varint(body.length), body])
const text = (field, value) => bytes(field, Buffer.from(value, 'utf8'))
const message = (field, parts) => bytes(field, Buffer.concat(parts))
const float = (field, value) => {
  const body = Buffer.alloc(4)
  body.writeFloatLE(value)
  return Buffer.concat([varint((field << 3) | 5), body])
}

/** A float attribute: a whole number alone would be taken for an integer. */
export const asFloat = (value) => ({ value })

function attribute(name, value) {
  if (Array.isArray(value)) return message(5, [text(1, name), ...value.map((v) => int(8, v)), int(20, 7)])
  if (Number.isInteger(value)) return message(5, [text(1, name), int(3, value), int(20, 2)])
  return message(5, [text(1, name), float(2, value.value), int(20, 1)])
}

/** Collects the nodes and constants of one graph. Every operator returns the name of its output. */
export class OnnxGraph {
  #nodes = []
  #initializers = []
  #known = new Set()

  /** A tensor stored in the file; the same name twice is stored once. */
  constant(name, type, dims, data) {
    if (this.#known.has(name)) return name
    this.#known.add(name)
    const raw = Buffer.from(data.buffer, data.byteOffset, data.byteLength)
    const shape = dims.map((size) => int(1, size))
    this.#initializers.push(message(5, [...shape, int(2, TYPE[type]), text(8, name), bytes(9, raw)]))
    return name
  }

  ints(...values) {
    return this.constant(
      `ints_${values.join('_')}`,
      'int64',
      [values.length],
      BigInt64Array.from(values, BigInt),
    )
  }

  scalar(value) {
    return this.constant(`scalar_${value}`, 'float', [], Float32Array.of(value))
  }

  op(type, inputs, attributes = {}, name = `${type}_${this.#nodes.length}`) {
    this.#nodes.push(
      message(1, [
        ...inputs.map((input) => text(1, input)),
        text(2, name),
        text(3, name),
        text(4, type),
        ...Object.entries(attributes).map(([key, value]) => attribute(key, value)),
      ]),
    )
    return name
  }

  /** The model file. Inputs and outputs are `[name, type, dims]`, a dimension being a size or a name. */
  model({ name, producer, inputs, outputs, metadata }) {
    const dimension = (size) => message(1, [typeof size === 'string' ? text(2, size) : int(1, size)])
    const info =
      (field) =>
      ([label, type, dims]) =>
        message(field, [
          text(1, label),
          message(2, [message(1, [int(1, TYPE[type]), message(2, dims.map(dimension))])]),
        ])
    const graph = [...this.#nodes, text(2, name), ...this.#initializers]
    return Buffer.concat([
      int(1, 8),
      text(2, producer),
      message(7, [...graph, ...inputs.map(info(11)), ...outputs.map(info(12))]),
      message(8, [text(1, ''), int(2, 17)]), // LayerNormalization came with operator set 17
      ...Object.entries(metadata).map(([key, value]) => message(14, [text(1, key), text(2, value)])),
    ])
  }
}
