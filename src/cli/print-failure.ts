import { inspect } from 'node:util'
import type { Failure } from '../core/failure.ts'
import { oneLine, STYLE, type Printer } from './print.ts'

/** A failure on standard error: what went wrong and what to do next, a line each; or the failure object as JSON. */
export function printFailure(
  err: Printer,
  failure: Failure,
  { json, debug }: { json: boolean; debug: boolean },
): void {
  if (json) err.json(failure)
  else {
    err.line({ text: oneLine(failure.message), style: STYLE.bad })
    err.line(oneLine(failure.hint))
  }
  if (debug && failure.cause !== undefined) err.line({ text: inspect(failure.cause), style: STYLE.dim })
}
