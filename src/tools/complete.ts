import type { AnyPrompt } from '../core/define-prompt.ts'
import type { AnyResource } from '../core/define-resource.ts'
import type { Call } from '../core/define-tool.ts'
import type { Library } from '../core/library.ts'

/** What values are suggested for. */
export type Completed = { resource: AnyResource } | { prompt: AnyPrompt }

/** One more than the protocol lets out, so that it can say whether there are more. */
const MOST = 101

/** Values for an argument that fit what was typed, best first; none where the caller may not read what they come from. */
export async function complete(
  completed: Completed,
  argument: { name: string; value: string },
  library: Library,
  call: Call,
): Promise<string[]> {
  const { name, value: typed } = argument
  if ('prompt' in completed) {
    const { suggest = {} } = completed.prompt
    return Object.hasOwn(suggest, name) ? ((await suggest[name]?.(library, typed, call)) ?? []) : []
  }
  const { idsBeginning, scopes } = completed.resource
  const mayRead = scopes.every((scope) => call.scopes.has(scope))
  if (!idsBeginning || !mayRead || name !== 'id' || !/^\d{0,16}$/.test(typed)) return []
  return (await idsBeginning(library, typed, MOST, call)).map(String)
}
