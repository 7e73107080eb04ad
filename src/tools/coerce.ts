import { z } from 'zod'
import { idSchemas } from '../core/ids.ts'

const NUMERAL = /^-?(0|[1-9]\d{0,15})(\.\d{1,15})?$/

/**
 * Reads numerals that were sent as strings where the schema wants a number, and ids that were sent as numbers where it wants
 * text. Strings are never touched otherwise: `"00713"` stays what it is.
 */
export function coerce(schema: z.core.$ZodType, value: unknown): unknown {
  const inner = unwrap(schema)
  if (idSchemas.has(inner) && idSchemas.get(inner)?.as === 'text') {
    return typeof value === 'number' && Number.isSafeInteger(value) ? String(value) : value
  }
  if (inner instanceof z.ZodNumber) {
    return typeof value === 'string' && NUMERAL.test(value) ? Number(value) : value
  }
  if (inner instanceof z.ZodArray && Array.isArray(value))
    return value.map((item) => coerce(inner.element, item))
  if (inner instanceof z.ZodObject && isRecord(value)) {
    const shape: Record<string, z.core.$ZodType> = inner.shape
    return Object.fromEntries(
      Object.entries(value).map(([key, item]) => {
        const field = Object.hasOwn(shape, key) ? shape[key] : undefined
        return [key, field ? coerce(field, item) : item]
      }),
    )
  }
  return value
}

function unwrap(schema: z.core.$ZodType): z.core.$ZodType {
  let inner = schema
  while (inner instanceof z.ZodOptional || inner instanceof z.ZodNullable || inner instanceof z.ZodDefault) {
    inner = inner.unwrap()
  }
  return inner
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
