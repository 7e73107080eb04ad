import { SCOPES, type Scope } from '../../core/define-tool.ts'

export type ScopeGroup = 'read' | 'change' | 'private'

interface Words {
  group: ScopeGroup
  /** One plain sentence on what an assistant may then do. */
  sentence: string
}

/** What a reader is told about each scope before they allow it. */
export const SCOPE_WORDS: Record<Scope, Words> = {
  'highlights:read': { group: 'read', sentence: 'Read and search the passages you marked.' },
  'highlights:write': { group: 'change', sentence: 'Mark passages and change or remove your marks.' },
  'sources:read': { group: 'read', sentence: 'Read and search your books, articles and their texts.' },
  'sources:write': { group: 'change', sentence: 'Add, change and remove books, articles and pages.' },
  'notes:read': { group: 'read', sentence: 'Read your notes on books and passages.' },
  'notes:write': { group: 'change', sentence: 'Write and change notes on books and passages.' },
  'themes:read': { group: 'read', sentence: 'Read the themes drawn from your highlights.' },
  'themes:write': { group: 'change', sentence: 'Make, change and remove themes.' },
  'practices:read': { group: 'read', sentence: 'Read your daily practices.' },
  'practices:write': { group: 'change', sentence: 'Add, change and tick off daily practices.' },
  'reflections:read': { group: 'private', sentence: 'Read the reflections you wrote.' },
  'reflections:write': { group: 'change', sentence: 'Write reflections for you.' },
  mcp: {
    group: 'change',
    sentence: 'See and change your shelves: books, reading status, ratings, goals and collections.',
  },
  'library:private': {
    group: 'private',
    sentence: 'Read and write your journal, reviews, places and private book notes.',
  },
}

const KNOWN: ReadonlySet<string> = new Set(SCOPES)
const isScope = (word: string): word is Scope => KNOWN.has(word)

/** The scopes of ours in a `scope` parameter, each once, in our order. Names of other systems mean nothing here. */
export function scopesIn(text: string | undefined): Scope[] {
  const asked = new Set((text ?? '').split(/\s+/).filter(isScope))
  return SCOPES.filter((scope) => asked.has(scope))
}

export interface Offer {
  scopes: Scope[]
  /** What starts ticked: what was asked for, but never what is private. */
  ticked: Scope[]
}

/**
 * What the consent page offers for a `scope` parameter. A client that asks for nothing we know is offered everything, with
 * reading ticked: it could not name what it needs, and the reader still chooses.
 */
export function offerFor(text: string | undefined): Offer {
  const asked = scopesIn(text)
  if (asked.length > 0)
    return { scopes: asked, ticked: asked.filter((scope) => SCOPE_WORDS[scope].group !== 'private') }
  return { scopes: [...SCOPES], ticked: SCOPES.filter((scope) => SCOPE_WORDS[scope].group === 'read') }
}

/** What is granted: of what was offered, that which the reader ticked. */
export const grantedOf = (offered: readonly Scope[], ticked: readonly string[]): Scope[] =>
  offered.filter((scope) => ticked.includes(scope))
