import { isObject, type Json } from './messages.ts'
import { before, type Revision } from './revisions.ts'

/**
 * Content blocks that a revision does not know make its clients drop the whole result: they are said in text instead.
 * Takes the result of a tool (`content`) or of a prompt (`messages`).
 */
export function downgrade(result: object, revision: Revision): object {
  if (!before(revision, '2025-06-18')) return result
  if ('content' in result && Array.isArray(result.content)) {
    return { ...result, content: result.content.map((block: unknown) => older(block, revision)) }
  }
  if ('messages' in result && Array.isArray(result.messages)) {
    const messages = result.messages.map((message: unknown) =>
      isObject(message) ? { ...message, content: older(message['content'], revision) } : message,
    )
    return { ...result, messages }
  }
  return result
}

function older(block: unknown, revision: Revision): unknown {
  if (!isObject(block)) return block
  if (block['type'] === 'resource_link')
    return text([block['title'] ?? block['name'], block['uri']].join(': '))
  if (block['type'] === 'audio' && before(revision, '2025-03-26')) {
    return text(`[audio, ${String(block['mimeType'])}]`)
  }
  return block
}

const text = (value: string): Json => ({ type: 'text', text: value })
