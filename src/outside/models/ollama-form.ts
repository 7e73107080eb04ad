import { at, inWords, under, type WireForm } from './wire-form.ts'

/** A window grows by so many tokens, up to what machines at home can hold. */
const WINDOW_STEP = 4_096
const WIDEST_WINDOW = 65_536
/** Fewest bytes of UTF-8 to a token. */
const BYTES_A_TOKEN = 3

/**
 * Chat of Ollama.
 * https://docs.ollama.com/api/chat
 */
export const OLLAMA_FORM: WireForm = {
  endpoint: (base) => under(base, '/api/chat'),
  headers: (key): Record<string, string> => (key === undefined ? {} : { authorization: `Bearer ${key}` }),
  body: (question, model, { schemaInWords }) => {
    const task = schemaInWords ? inWords(question) : question.task
    const bytes = Buffer.byteLength(task) + Buffer.byteLength(question.material)
    const tokens = Math.ceil(bytes / BYTES_A_TOKEN) + question.maxTokens
    return {
      model,
      messages: [
        { role: 'system', content: task },
        { role: 'user', content: question.material },
      ],
      stream: false,
      format: schemaInWords ? 'json' : question.schema,
      options: {
        temperature: 0,
        num_predict: question.maxTokens,
        // What does not fit into the window is cut off without a word.
        num_ctx: Math.min(WIDEST_WINDOW, Math.ceil(tokens / WINDOW_STEP) * WINDOW_STEP),
      },
    }
  },
  read: (answer) => {
    if (at(answer, 'done_reason') === 'length') return { stopped: 'too_long' }
    const text = at(answer, 'message', 'content')
    return typeof text === 'string' ? { text } : { stopped: 'not_understood' }
  },
}
