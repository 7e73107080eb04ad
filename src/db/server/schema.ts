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
  one_time_link: OneTimeLinkTable
  invitation: InvitationTable
  sign_up: SignUpTable
  external_identity: ExternalIdentityTable
  provider_request: ProviderRequestTable
  passkey: PasskeyTable
  passkey_challenge: PasskeyChallengeTable
  oauth_client: OAuthClientTable
  client_document: ClientDocumentTable
  authorization_request: AuthorizationRequestTable
  oauth_grant: OAuthGrantTable
  authorization_code: AuthorizationCodeTable
  access_token: AccessTokenTable
  refresh_token: RefreshTokenTable
  personal_token: PersonalTokenTable
  rate_counter: RateCounterTable
  library_removal: LibraryRemovalTable
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
  /** When the reader last proved that the address is theirs; null where nobody ever did. */
  email_verified_at: Generated<string | null>
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
  /** To the hour. */
  last_used_at: Generated<string | null>
  /** Browser and system, as the browser calls itself. */
  agent: Generated<string | null>
  /** Where the browser signed in from: IPv4 address or IPv6 /64. */
  network: Generated<string | null>
}

/** What whoever opens it may do once. */
interface OneTimeLinkTable {
  hash: string
  reader_id: string
  /** `sign-in`; `reset` the password; `email` makes `email` the reader's own. */
  purpose: 'sign-in' | 'reset' | 'email'
  /** Where it was sent: whoever uses it has that mailbox. Null where a person passed it on. */
  email: string | null
  expires_at: string
}

/** A word for somebody who may become a reader. */
export interface InvitationTable {
  id: string
  hash: string
  /** The only address that may use it; null for any. */
  email: string | null
  /** 1 where it went to that address by mail and was shown to nobody, so that using it proves the mailbox. */
  mailed: Generated<number>
  invited_by: string | null
  created_at: string
  expires_at: string
  used_at: Generated<string | null>
  used_by: Generated<string | null>
}

/** Somebody who asked to become a reader and has to open the link in their mail. */
interface SignUpTable {
  hash: string
  email: string
  invitation_hash: string | null
  expires_at: string
}

/** Who a reader is at a provider; known by issuer and subject, never by e-mail. */
interface ExternalIdentityTable {
  issuer: string
  subject: string
  reader_id: string
  /** As the provider last gave it, to be told apart by. */
  email: string | null
  created_at: string
  last_used_at: string
}

/** A browser that was sent to a provider. Nonce and PKCE verifier are made of the state and a key, and kept nowhere. */
interface ProviderRequestTable {
  /** Of the state. */
  hash: string
  /** Of the cookie that binds the answer to the browser. */
  browser_hash: string
  provider: string
  /** Where to go afterwards: a path of ours. */
  place: string
  invitation_hash: string | null
  /** The session that the browser had. */
  session_hash: string | null
  /** Set where this reader wants the provider beside their other ways in. */
  reader_id: string | null
  expires_at: string
}

export interface PasskeyTable {
  /** The credential's id, base64url. */
  id: string
  reader_id: string
  /** COSE, base64url. */
  public_key: string
  counter: number
  /** By commas. */
  transports: string
  name: string
  created_at: string
  last_used_at: Generated<string | null>
}

/** What a browser has to sign with a passkey, once. */
interface PasskeyChallengeTable {
  hash: string
  browser_hash: string
  /** Set where the reader adds a passkey; null where nobody signed in yet. */
  reader_id: string | null
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

/** A library whose reader is gone, until nothing of it can be left: written in the transaction that deletes the reader. */
interface LibraryRemovalTable {
  reader_id: string
  library: string
  asked_at: string
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
