import type { Generated, Kysely, Transaction } from 'kysely'

/**
 * What a server knows beside its libraries: readers, how they sign in, and what they allowed to whom. Instants are ISO 8601 in
 * UTC with milliseconds, so that they compare as text; scopes are separated by spaces. Whatever was handed out (session,
 * code, token, link) stands here only as its SHA-256, base64url. Deleting a reader deletes everything that hangs on them.
 */
export interface ServerSchema {
  server_secret: ServerSecretTable
  reader: ReaderTable
  credential: CredentialTable
  session: SessionTable
  sign_in_link: SignInLinkTable
  oauth_client: OAuthClientTable
  client_document: ClientDocumentTable
  authorization_request: AuthorizationRequestTable
  oauth_grant: OAuthGrantTable
  authorization_code: AuthorizationCodeTable
  access_token: AccessTokenTable
  refresh_token: RefreshTokenTable
  personal_token: PersonalTokenTable
  rate_counter: RateCounterTable
  server_setting: ServerSettingTable
  allowance: AllowanceTable
  storage_use: StorageUseTable
  credit_month: CreditMonthTable
  credit_entry: CreditEntryTable
  feedback: FeedbackTable
}

export type ServerDb = Kysely<ServerSchema> | Transaction<ServerSchema>

/** What all replicas of a server must agree on and nobody else may know. */
interface ServerSecretTable {
  name: string
  value: string
}

export interface ReaderTable {
  id: string
  /** Lower case; null where the reader signs in by link only. */
  email: string | null
  name: string | null
  /** Which library is theirs: `local` is the one that the command line opens, any other is a library of its own. */
  library: string
  created_at: string
  /** While this is set nothing of the reader's is answered: no session, no connection, no token. */
  suspended_at: Generated<string | null>
}

interface CredentialTable {
  reader_id: string
  kind: 'password'
  /** A password's scrypt hash with its parameters. */
  hash: string
  created_at: string
}

interface SessionTable {
  hash: string
  reader_id: string
  created_at: string
  expires_at: string
}

interface SignInLinkTable {
  hash: string
  reader_id: string
  expires_at: string
}

/** A client that registered itself (RFC 7591). Never pruned: assistants keep their id for ever and cannot get over its loss. */
interface OAuthClientTable {
  id: string
  /** JSON: the metadata as we understood it. */
  metadata: string
  secret_hash: string | null
  created_at: string
}

/** The last good copy of a client's metadata document. */
interface ClientDocumentTable {
  url: string
  metadata: string
  fetched_at: string
}

/** A consent page that waits for its reader. */
interface AuthorizationRequestTable {
  id: string
  /** Of the cookie that binds the request to the browser it came from. */
  browser_hash: string
  client_id: string
  client_name: string
  client_kind: 'registered' | 'document'
  redirect_uri: string
  state: string | null
  challenge: string
  /** What may be granted. */
  scopes: string
  /** What starts ticked. */
  ticked: string
  expires_at: string
}

export interface OAuthGrantTable {
  id: string
  reader_id: string
  client_id: string
  client_name: string
  client_kind: 'registered' | 'document'
  redirect_uri: string
  scopes: string
  /** The audience of its tokens. */
  resource: string
  created_at: string
  last_used_at: string | null
  calls: Generated<number>
}

interface AuthorizationCodeTable {
  hash: string
  grant_id: string
  redirect_uri: string
  challenge: string
  used_at: string | null
  expires_at: string
}

interface AccessTokenTable {
  hash: string
  grant_id: string
  expires_at: string
}

interface RefreshTokenTable {
  hash: string
  grant_id: string
  used_at: string | null
  created_at: string
  expires_at: string
}

export interface PersonalTokenTable {
  id: string
  hash: string
  reader_id: string
  name: string
  scopes: string
  created_at: string
  expires_at: string | null
  last_used_at: string | null
  calls: Generated<number>
}

/** Attempts within a window that began with the first of them. */
interface RateCounterTable {
  key: string
  count: number
  until: string
}

/** What the operator set for everybody, before the environment: `quota_bytes`, `academy`, `credits`. */
interface ServerSettingTable {
  name: string
  value: string
}

/** What the operator set for one reader; null where it is as for everybody. */
interface AllowanceTable {
  reader_id: string
  /** 0: no limit. */
  quota_bytes: number | null
  /** 1 on, 0 off. */
  academy: number | null
  /** AI credits a month. */
  credits: number | null
}

/** Bytes of a reader's media as they were last counted, and what was stored and removed since. */
interface StorageUseTable {
  reader_id: string
  media_bytes: number
  counted_at: string
}

interface CreditMonthTable {
  reader_id: string
  /** `YYYY-MM`. */
  month: string
  spent: number
  /** On top of the reader's allowance. */
  granted: number
}

/** Every spending and every grant, so that one that is asked for twice counts once. */
interface CreditEntryTable {
  id: string
  reader_id: string
  month: string
  /** What was spent; negative where it was granted or given back. */
  amount: number
  what: string
  key: string
  at: string
}

/** What a reader told the operator. */
export interface FeedbackTable {
  id: string
  reader_id: string
  body: string
  created_at: string
  done_at: string | null
}
