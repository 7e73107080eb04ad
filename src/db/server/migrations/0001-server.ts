import { sql, type Transaction } from 'kysely'
import type { ServerSchema } from '../schema.ts'

const OF_READER = `reader_id text not null references reader (id) on delete cascade`
const OF_GRANT = `grant_id text not null references oauth_grant (id) on delete cascade`

/** The same text on both databases. */
export const STATEMENTS: readonly string[] = [
  `create table server_secret (name text primary key, value text not null)`,
  `create table reader (
     id text primary key, email text unique, email_verified_at text, name text, library text not null unique,
     created_at text not null, suspended_at text)`,
  `create table credential (
     ${OF_READER}, kind text not null, hash text not null, created_at text not null, primary key (reader_id, kind))`,
  `create table session (
     hash text primary key, ${OF_READER}, created_at text not null, expires_at text not null, last_used_at text,
     agent text, network text)`,
  `create index session_by_reader on session (reader_id)`,
  `create table one_time_link (
     hash text primary key, ${OF_READER}, purpose text not null, email text, expires_at text not null)`,
  `create index one_time_link_by_reader on one_time_link (reader_id)`,
  `create table invitation (
     id text primary key, hash text not null unique, email text, mailed integer not null default 0,
     invited_by text references reader (id) on delete set null, created_at text not null, expires_at text not null,
     used_at text, used_by text references reader (id) on delete set null)`,
  `create index invitation_by_inviter on invitation (invited_by)`,
  `create index invitation_by_user on invitation (used_by)`,
  `create table sign_up (
     hash text primary key, email text not null, invitation_hash text, expires_at text not null)`,
  `create table external_identity (
     issuer text not null, subject text not null, ${OF_READER}, email text, created_at text not null,
     last_used_at text not null, primary key (issuer, subject))`,
  `create index external_identity_by_reader on external_identity (reader_id)`,
  `create table provider_request (
     hash text primary key, browser_hash text not null, provider text not null, place text not null,
     invitation_hash text, session_hash text, reader_id text references reader (id) on delete cascade,
     expires_at text not null)`,
  `create index provider_request_by_reader on provider_request (reader_id)`,
  `create table passkey (
     id text primary key, ${OF_READER}, public_key text not null, counter bigint not null, transports text not null,
     name text not null, created_at text not null, last_used_at text)`,
  `create index passkey_by_reader on passkey (reader_id)`,
  `create table passkey_challenge (
     hash text primary key, browser_hash text not null, reader_id text references reader (id) on delete cascade,
     expires_at text not null)`,
  `create index passkey_challenge_by_reader on passkey_challenge (reader_id)`,
  `create table oauth_client (
     id text primary key, metadata text not null, secret_hash text, created_at text not null)`,
  `create table client_document (url text primary key, metadata text not null, fetched_at text not null)`,
  `create table authorization_request (
     id text primary key, browser_hash text not null, client_id text not null, client_name text not null,
     client_kind text not null, redirect_uri text not null, state text, challenge text not null,
     scopes text not null, ticked text not null, expires_at text not null)`,
  `create table oauth_grant (
     id text primary key, ${OF_READER}, client_id text not null, client_name text not null, client_kind text not null,
     redirect_uri text not null, scopes text not null, resource text not null, created_at text not null,
     last_used_at text, calls integer not null default 0)`,
  // A registered client is one installation. A metadata document is shared by all of a client's installations.
  `create unique index oauth_grant_once on oauth_grant (reader_id, client_id) where client_kind = 'registered'`,
  `create index oauth_grant_by_reader on oauth_grant (reader_id)`,
  `create index oauth_grant_by_client on oauth_grant (client_id)`,
  `create table authorization_code (
     hash text primary key, ${OF_GRANT}, redirect_uri text not null, challenge text not null, used_at text,
     expires_at text not null)`,
  `create index authorization_code_by_grant on authorization_code (grant_id)`,
  `create table access_token (hash text primary key, ${OF_GRANT}, expires_at text not null)`,
  `create index access_token_by_grant on access_token (grant_id)`,
  `create table refresh_token (
     hash text primary key, ${OF_GRANT}, used_at text, created_at text not null, expires_at text not null)`,
  `create index refresh_token_by_grant on refresh_token (grant_id)`,
  `create table personal_token (
     id text primary key, hash text not null unique, ${OF_READER}, name text not null, scopes text not null,
     created_at text not null, expires_at text, last_used_at text, calls integer not null default 0)`,
  `create index personal_token_by_reader on personal_token (reader_id)`,
  `create table rate_counter (key text primary key, count integer not null, until text not null)`,
  `create table library_removal (reader_id text primary key, library text not null, asked_at text not null)`,
  `create table server_setting (name text primary key, value text not null)`,
  `create table allowance (
     reader_id text primary key references reader (id) on delete cascade, quota_bytes bigint, academy integer,
     credits integer)`,
  `create table storage_use (
     reader_id text primary key references reader (id) on delete cascade, media_bytes bigint not null,
     counted_at text not null)`,
  `create table credit_month (
     ${OF_READER}, month text not null, spent integer not null default 0, granted integer not null default 0,
     primary key (reader_id, month))`,
  `create table credit_entry (
     id text primary key, ${OF_READER}, month text not null, amount integer not null, what text not null,
     key text not null, at text not null, unique (reader_id, key))`,
  `create table feedback (
     id text primary key, ${OF_READER}, body text not null, created_at text not null, done_at text)`,
  `create index feedback_by_reader on feedback (reader_id)`,
  `create index feedback_open on feedback (created_at) where done_at is null`,
]

/** The server's own database as it was first released. */
export async function up(db: Transaction<ServerSchema>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(db)
}
