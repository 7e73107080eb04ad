import type { Failure } from '../../core/failure.ts'

/** Why a language model did not do what it was asked, to follow a colon. */
export function whyFellBack({ code, message }: Failure): string {
  if (code === 'timed_out') return 'it did not answer in time'
  if (code === 'rate_limited') return 'it takes no more questions for now'
  if (code === 'model_refused') return 'it declined to answer'
  return `${message.charAt(0).toLowerCase()}${message.slice(1)}`.replace(/\.$/, '')
}
