import type { FetchedPage } from '../../core/outside.ts'
import type { Accounts } from './accounts.ts'
import { isMetadataFault, readClientMetadata, type ClientMetadata } from './client-metadata.ts'
import {
  documentClient,
  findClient,
  findDocument,
  isDocumentId,
  keepDocument,
  type Client,
} from './client-store.ts'
import { after, LIFETIME } from './lifetimes.ts'

/** Why a client is not taken, in a sentence for whoever builds it. */
export interface RefusedClient {
  refused: string
}

const MAX_BYTES = 20_000
const DEADLINE_MS = 5_000

/**
 * The client that asks for a connection. One that is named by the address of its metadata document
 * (draft-ietf-oauth-client-id-metadata-document) is read there, through the same guards as any page; while its host is
 * down, the last good copy stands in for it.
 */
export async function askClient(accounts: Accounts, id: string): Promise<Client | RefusedClient> {
  if (!isDocumentId(id)) {
    return (await findClient(accounts.db, id)) ?? { refused: 'this client is not registered here' }
  }
  const fault = faultOfDocumentId(id)
  if (fault !== undefined) return { refused: fault }
  const kept = await findDocument(accounts.db, id)
  if (kept && kept.fetchedAt > after(accounts.now(), -LIFETIME.document))
    return documentClient(id, kept.metadata)
  let page
  try {
    page = await accounts.pages.fetch(id, {
      maxBytes: MAX_BYTES,
      deadlineMs: DEADLINE_MS,
      accept: 'application/json',
    })
  } catch {
    return kept ? documentClient(id, kept.metadata) : { refused: 'its metadata document cannot be read' }
  }
  const read = readDocument(id, page)
  if ('refused' in read) return read
  await keepDocument(accounts, id, read)
  return documentClient(id, read)
}

/** The address must be written in the one way there is to write it, and name a document, not a site. */
function faultOfDocumentId(id: string): string | undefined {
  let url
  try {
    url = new URL(id)
  } catch {
    return 'the client id is no address'
  }
  if (url.href !== id || url.hash || id.includes('#')) return 'the client id must be a plain address'
  if (url.username || url.password) return 'the client id must not carry credentials'
  return url.pathname === '/' ? 'the client id must name a document' : undefined
}

function readDocument(id: string, page: FetchedPage): ClientMetadata | RefusedClient {
  // A redirect would let whoever answers for one address speak for another.
  if (page.url !== id) return { refused: 'its metadata document is somewhere else' }
  let document: unknown
  try {
    document = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(page.bytes))
  } catch {
    return { refused: 'its metadata document is no JSON' }
  }
  if (typeof document !== 'object' || document === null)
    return { refused: 'its metadata document is no object' }
  if (!('client_id' in document) || document.client_id !== id)
    return { refused: 'its metadata document speaks of another client' }
  if ('client_secret' in document) return { refused: 'its metadata document holds a secret' }
  const name = 'client_name' in document ? document.client_name : undefined
  const metadata = readClientMetadata({
    ...document,
    client_name: typeof name === 'string' && name.trim() !== '' ? name : new URL(id).host,
    // Whoever can read the document knows all that is in it: these clients prove themselves by PKCE.
    token_endpoint_auth_method: 'none',
  })
  return isMetadataFault(metadata) ? { refused: metadata.description } : metadata
}
