import { invalidRequest } from './errors.ts'
import { claimsModern } from './headers.ts'
import type { Message } from './messages.ts'
import { allowsBatch, isLegacy, type LegacyRevision } from './revisions.ts'

const MAX_BATCH = 100

const notHere = (): Error => invalidRequest('batches exist in 2025-03-26 only')

/** The revision that a batch is served in; throws `-32600` where there are none, and on one that is empty or huge. */
export function checkBatch(revision: string, size: number): LegacyRevision {
  if (!isLegacy(revision) || !allowsBatch(revision)) throw notHere()
  if (size === 0 || size > MAX_BATCH) throw invalidRequest(`a batch holds 1 to ${MAX_BATCH} messages`)
  return revision
}

/** Throws `-32600` on a message that must not stand in a batch. */
export function checkBatched(message: Message): void {
  if (message.kind !== 'request') return
  if (message.method === 'initialize') throw invalidRequest('initialize cannot be part of a batch')
  if (claimsModern(message.params)) throw notHere()
}
