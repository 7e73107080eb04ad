import { at, inWords, isRecord, under, type WireForm } from './wire-form.ts'

const TOOL = 'answer'

/**
 * Messages of Anthropic. The answer is the input of a tool that the model has to call.
 * https://docs.anthropic.com/en/api/messages
 */
export const ANTHROPIC_FORM: WireForm = {
  endpoint: (base) => under(base, '/messages', '/v1'),
  headers: (key) => ({ 'anthropic-version': '2023-06-01', ...(key !== undefined && { 'x-api-key': key }) }),
  body: (question, model, { schemaInWords }) => ({
    model,
    max_tokens: question.maxTokens,
    system: schemaInWords ? inWords(question) : question.task,
    messages: [{ role: 'user', content: question.material }],
    ...(!schemaInWords && {
      tools: [{ name: TOOL, description: 'Takes your answer.', input_schema: question.schema }],
      tool_choice: { type: 'tool', name: TOOL },
    }),
  }),
  read: (answer) => {
    const reason = at(answer, 'stop_reason')
    if (reason === 'refusal') return { stopped: 'refused' }
    if (reason === 'max_tokens' || reason === 'model_context_window_exceeded') return { stopped: 'too_long' }
    const content = at(answer, 'content')
    if (!Array.isArray(content)) return { stopped: 'not_understood' }
    const blocks = content.filter(isRecord)
    const call = blocks.find((block) => block['type'] === 'tool_use' && block['name'] === TOOL)
    if (call) return { json: call['input'] }
    const text = blocks
      .filter((block) => block['type'] === 'text')
      .map((block) => String(block['text'] ?? ''))
      .join('')
    return { text }
  },
}
