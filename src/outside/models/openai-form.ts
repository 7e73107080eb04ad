import { at, inWords, THINKING_TOKENS, under, type WireForm } from './wire-form.ts'

/**
 * Chat Completions of OpenAI, which most other servers speak as well.
 * https://platform.openai.com/docs/api-reference/chat/create
 */
export const OPENAI_FORM: WireForm = {
  endpoint: (base) => under(base, '/chat/completions', '/v1'),
  headers: (key): Record<string, string> => (key === undefined ? {} : { authorization: `Bearer ${key}` }),
  body: (question, model, { base, schemaInWords }) => ({
    model,
    messages: [
      { role: 'system', content: schemaInWords ? inWords(question) : question.task },
      { role: 'user', content: question.material },
    ],
    ...(!schemaInWords && {
      response_format: {
        type: 'json_schema',
        json_schema: { name: 'answer', strict: true, schema: question.schema },
      },
    }),
    // OpenAI's own newer models refuse the old name, and many other servers do not know the new one.
    ...(base.hostname === 'api.openai.com'
      ? { max_completion_tokens: question.maxTokens + THINKING_TOKENS }
      : { max_tokens: question.maxTokens }),
  }),
  read: (answer) => {
    const choice = at(answer, 'choices', 0)
    const refusal = at(choice, 'message', 'refusal')
    const reason = at(choice, 'finish_reason')
    if (reason === 'content_filter' || (typeof refusal === 'string' && refusal !== '')) {
      return { stopped: 'refused' }
    }
    if (reason === 'length') return { stopped: 'too_long' }
    const text = at(choice, 'message', 'content')
    return typeof text === 'string' ? { text } : { stopped: 'not_understood' }
  },
}
