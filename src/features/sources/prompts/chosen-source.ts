import type { PromptPart } from '../../../core/define-prompt.ts'
import type { Call } from '../../../core/define-tool.ts'
import { cutText } from '../../../core/room.ts'

/** A source as the words of a prompt speak of it. */
export interface ChosenSource {
  /** As JSON, so that a title is seen to be one, whatever it says. */
  name: string
  /** As a tool takes it. */
  id: string
  /** What the reader marked in it. */
  marked: PromptPart[]
}

const NAME = 300

/** The source that a reader chose; where the caller may not look it up, only what was typed is known of it. */
export async function chosenSource(
  given: string,
  call: Pick<Call, 'scopes'>,
  find: () => Promise<{ id: number; title: string }>,
): Promise<ChosenSource> {
  if (!call.scopes.has('sources:read')) {
    const text =
      'What I marked could not be added: this connection may not read sources. Ask me to allow it, or to paste what I mean.'
    return {
      name: JSON.stringify(cutText(given, NAME)),
      id: '(which I have to tell you)',
      marked: [{ text }],
    }
  }
  const { id, title } = await find()
  return {
    name: JSON.stringify(cutText(title, NAME)),
    id: JSON.stringify(String(id)),
    marked: [{ resource: `becoming://sources/${id}`, otherwise: '' }],
  }
}
