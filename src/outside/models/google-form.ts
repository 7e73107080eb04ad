import { at, inWords, isRecord, THINKING_TOKENS, under, type WireForm } from './wire-form.ts'

/** Why Gemini stops where it does not want to go on. */
const REFUSALS = new Set([
  'SAFETY',
  'RECITATION',
  'BLOCKLIST',
  'PROHIBITED_CONTENT',
  'SPII',
  'LANGUAGE',
  'OTHER',
])

/**
 * `generateContent` of Google's Gemini.
 * https://ai.google.dev/api/generate-content
 */
export const GOOGLE_FORM: WireForm = {
  endpoint: (base, model) => under(base, `/models/${encodeURIComponent(model)}:generateContent`, '/v1beta'),
  headers: (key): Record<string, string> => (key === undefined ? {} : { 'x-goog-api-key': key }),
  body: (question, _model, { schemaInWords }) => ({
    systemInstruction: { parts: [{ text: schemaInWords ? inWords(question) : question.task }] },
    contents: [{ role: 'user', parts: [{ text: question.material }] }],
    generationConfig: {
      maxOutputTokens: question.maxTokens + THINKING_TOKENS,
      responseMimeType: 'application/json',
      ...(!schemaInWords && { responseSchema: openApiSchema(question.schema) }),
    },
  }),
  read: (answer) => {
    if (at(answer, 'promptFeedback', 'blockReason') !== undefined) return { stopped: 'refused' }
    const candidate = at(answer, 'candidates', 0)
    const reason = at(candidate, 'finishReason')
    if (typeof reason === 'string' && REFUSALS.has(reason)) return { stopped: 'refused' }
    if (reason === 'MAX_TOKENS') return { stopped: 'too_long' }
    const parts = at(candidate, 'content', 'parts')
    if (!Array.isArray(parts)) return { stopped: 'not_understood' }
    const text = parts
      .filter(isRecord)
      .filter((part) => part['thought'] !== true)
      .map((part) => String(part['text'] ?? ''))
      .join('')
    return { text }
  },
}

/** `responseSchema` is of OpenAPI 3.0, which knows nothing of closed objects. */
function openApiSchema(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(openApiSchema)
  if (!isRecord(schema)) return schema
  return Object.fromEntries(
    Object.entries(schema)
      .filter(([name]) => name !== 'additionalProperties' && name !== '$schema')
      .map(([name, value]) => [name, openApiSchema(value)]),
  )
}
