import { z } from 'zod'

/** Schemas of ids, whose values are taken as number and as decimal digits alike. */
export const idSchemas = z.registry<{ as: 'text' | 'integer' }>()

/** An id as the string-id tools take it: decimal digits. Answers with the string as given. */
export const idText = (description: string) => {
  const schema = z.string().min(1).max(256).describe(description)
  idSchemas.add(schema, { as: 'text' })
  return schema
}

/** An id as the integer-id tools take it; decimal digits are read too. */
export const idNumber = (description: string) => z.int().min(1).describe(description)

/** The number behind an id as a tool was given it, or undefined where it cannot be one. */
export function parseId(text: string): number | undefined {
  const trimmed = text.trim()
  if (!/^\d{1,16}$/.test(trimmed)) return undefined
  const id = Number(trimmed)
  return Number.isSafeInteger(id) ? id : undefined
}
