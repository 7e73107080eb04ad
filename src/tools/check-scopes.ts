import type { Scope } from '../core/define-tool.ts'
import { Failure } from '../core/failure.ts'

/** Throws `insufficient_scope` where a scope is missing that what is called `name` needs. */
export function checkScopes(name: string, needed: readonly Scope[], granted: ReadonlySet<Scope>): void {
  const missing = needed.filter((scope) => !granted.has(scope))
  if (missing.length === 0) return
  throw new Failure('insufficient_scope', `${name} needs the scope ${missing.join(' and ')}.`, {
    hint: 'Ask the reader to connect again and allow it.',
    details: { missing },
  })
}
