import type { z } from 'zod'
import { Failure } from '../core/failure.ts'

/** Faults, or names in one of them, that are told of. */
const SHOWN = 5

/** Whatever takes arguments. */
export interface Taking {
  name: string
  input: z.ZodObject
}

/** The failure for arguments that were refused: names each field and what it takes, so that the call can be mended. */
export function invalidInput({ name, input }: Taking, error: z.ZodError): Failure {
  const issues = error.issues
    .slice(0, SHOWN)
    .map((issue) => ({ field: fieldOf(issue), problem: problemOf(issue) }))
  const unknown = error.issues.some((issue) => issue.code === 'unrecognized_keys')
  const what = issues.map(({ field, problem }) => (field ? `${field} ${problem}` : problem)).join('; ')
  return new Failure('invalid_input', `${name}: ${what}.`, {
    hint: unknown
      ? `Leave the unknown argument out. ${name} takes: ${Object.keys(input.shape).join(', ') || 'no arguments'}.`
      : `Mend ${[...new Set(issues.map(({ field }) => field || 'the arguments'))].join(', ')} and call again.`,
    details: { issues },
  })
}

const fieldOf = (issue: z.core.$ZodIssue): string => issue.path.map(String).join('.')

function problemOf(issue: z.core.$ZodIssue): string {
  switch (issue.code) {
    case 'unrecognized_keys':
      return `unknown argument ${shown(issue.keys)}`
    case 'invalid_type':
      return issue.input === undefined ? 'is required' : `must be ${article(issue.expected)}`
    case 'invalid_value':
      return `must be ${issue.values.map((value) => JSON.stringify(value)).join(' or ')}`
    case 'too_big':
      return issue.origin === 'string' || issue.origin === 'array'
        ? `must have at most ${issue.maximum} ${issue.origin === 'array' ? 'entries' : 'characters'}`
        : `must be at most ${issue.maximum}`
    case 'too_small':
      return issue.origin === 'string' || issue.origin === 'array'
        ? `must have at least ${issue.minimum} ${issue.origin === 'array' ? 'entries' : 'characters'}`
        : `must be at least ${issue.minimum}`
    default:
      return issue.message
  }
}

function shown(names: readonly string[]): string {
  const some = names.slice(0, SHOWN).map((name) => JSON.stringify(name.slice(0, 64)))
  return some.join(', ') + (names.length > SHOWN ? ` and ${names.length - SHOWN} more` : '')
}

const article = (type: string): string =>
  type === 'int' ? 'a whole number' : `${/^[aeiou]/.test(type) ? 'an' : 'a'} ${type}`
