import type { AnyTool, Scope } from '../core/define-tool.ts'
import { Failure } from '../core/failure.ts'
import type { ApiCall, ApiParts } from './api.ts'
import { httpProblem, sendProblemEarly, type Problem } from './problem.ts'
import { receiveBody } from './receive-body.ts'
import { OpenCount, Turns } from './turns.ts'
import { askWho, needScopes, stillCalls } from './who-calls.ts'

export interface FileDoor {
  /** Files that may be on their way at once: of one reader, and of all. */
  atOnce: { each: number; all: number }
  /** Files that may be in memory at once. */
  inMemory: number
}

export interface Wanted {
  scopes: readonly Scope[]
  /** What it counts as. */
  counted: Pick<AnyTool, 'name' | 'effect'>
  mostBytes: number
  /** Says that it has more. */
  tooLarge: Problem
}

/**
 * A way in for files: who may, how many at once and how large, before anything is kept; and asked once more whether the caller
 * still may when all of it is there.
 */
export function createFileDoor({ server }: Pick<ApiParts, 'server'>, { atOnce, inMemory }: FileDoor) {
  const open = new OpenCount(atOnce)
  const turns = new Turns(inMemory)

  return async function takeFile(
    { req, res, caller }: ApiCall,
    { scopes, counted, mostBytes, tooLarge }: Wanted,
    work: (bytes: Buffer) => Promise<void>,
  ): Promise<void> {
    needScopes(caller, scopes)
    if ((req.headers['content-encoding'] ?? 'identity').toLowerCase() !== 'identity') {
      const packed = httpProblem(415, 'The body must not be compressed.', 'Send the file as it is.')
      return sendProblemEarly(req, res, packed)
    }
    const full = open.enter(caller.readerId)
    if (full) throw tooMany(full, atOnce)
    try {
      await server.limiter.admit(counted, caller.counted)
      const received = await receiveBody(req, mostBytes)
      if (!received) return sendProblemEarly(req, res, tooLarge)
      try {
        await turns.take(async () => {
          // A file may take a quarter of an hour to come.
          if (!(await stillCalls(server.accounts, req, caller))) return askWho(server.accounts, req, res)
          await work(await received.bytes())
        })
      } finally {
        await received.discard()
      }
    } finally {
      open.leave(caller.readerId)
    }
  }
}

const tooMany = (full: 'each' | 'all', { each }: FileDoor['atOnce']): Failure =>
  full === 'each'
    ? new Failure('rate_limited', `More than ${each} files are being sent at once.`, {
        hint: 'Wait until one of them is done.',
        retryAfterSeconds: 5,
      })
    : new Failure('unavailable', 'Too many files are being sent to this server.', {
        hint: 'Try again in a minute.',
        retryAfterSeconds: 60,
      })
