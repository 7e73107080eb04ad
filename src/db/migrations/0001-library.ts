import { sql, type Transaction } from 'kysely'
import type { Schema } from '../schema.ts'

const SYNCED = `id integer primary key, clock text not null, clocks text not null default '{}'`
const TIMES = `created_at text not null, updated_at text not null, trashed_at text`

const STATEMENTS = [
  `create table local (key text primary key, value text not null) without rowid`,
  `create table replica (
     number integer primary key, counter integer not null default 0,
     current integer not null default 0, file_mark text not null)`,
  `create table setting (${SYNCED}, key text not null unique, value text not null)`,
  `create table source (${SYNCED},
     kind text not null, title text not null, match_key text not null, authors text not null default '[]',
     language text, site text, published text, description text, publisher text,
     url text, isbn13 text, isbns text not null default '[]',
     cover text, text_id integer, words integer, ${TIMES})`,
  `create index source_by_isbn on source (isbn13) where isbn13 is not null`,
  `create index source_by_match on source (match_key)`,
  `create index source_by_cover on source (cover) where cover is not null`,
  `create index source_by_creation on source (created_at desc, id desc)`,
  // What lists show: they count it at each call.
  `create index source_listed on source (created_at desc, id desc, kind)
     where trashed_at is null and text_id is not null`,
  `create table source_url (${SYNCED},
     source_id integer not null references source (id) on delete cascade, url text not null,
     url_key text not null unique)`,
  `create index source_url_by_source on source_url (source_id)`,
  `create table text (${SYNCED},
     source_id integer not null references source (id) on delete cascade,
     markdown text not null, plain text not null, html text, renderer text, method text not null, hash text not null,
     words integer not null, places text, raw text, captured_at text not null, state text not null)`,
  `create index text_by_source on text (source_id)`,
  `create index text_by_raw on text (raw) where raw is not null`,
  `create table capture (
     id integer primary key, source_id integer not null references source (id) on delete cascade,
     url text, given text, given_name text, state text not null, failure text, outcome text, text_id integer,
     warnings text, requested_at text not null, finished_at text)`,
  `create index capture_by_source on capture (source_id, id)`,
  `create index capture_by_given on capture (given) where given is not null`,
  `create table import (
     id integer primary key, kind text not null, status text not null, source_id integer, capture_id integer, url text,
     format text, name text, file_hash text, version text, counts text not null default '{}', failure text, remarks text,
     text_id integer, read_to integer, waits integer not null default 0, resumes integer, created_at text not null,
     finished_at text, undone_at text, report text)`,
  `create index import_by_source on import (source_id, id) where source_id is not null`,
  `create index import_by_file on import (file_hash, id) where file_hash is not null`,
  `create index import_waiting on import (id) where waits = 1`,
  `create table import_batch (
     id integer primary key, import_id integer not null references import (id) on delete cascade, rows text not null)`,
  `create index import_batch_by_import on import_batch (import_id, id)`,
  // Of no source: it outlives what it tells of.
  `create table imported (
     id integer primary key, source_id integer not null, kind text not null, key text not null, place text,
     row_id integer not null)`,
  `create index imported_by_source on imported (source_id)`,
  `create index imported_source on imported (key) where kind = 'source'`,
  `create index imported_row on imported (row_id)`,
  `create table highlight (${SYNCED},
     source_id integer not null references source (id) on delete cascade, text_id integer,
     quote text not null, prefix text, suffix text, start_offset integer, end_offset integer,
     state text not null, matched text, locator text, color text, origin text not null,
     written text, ${TIMES})`,
  `create index highlight_by_source on highlight (source_id, start_offset)`,
  // What lists show, the latest first, and count.
  `create index highlight_listed on highlight (created_at desc, id desc, source_id) where trashed_at is null`,
  `create table note (${SYNCED},
     source_id integer not null references source (id) on delete cascade,
     highlight_id integer references highlight (id) on delete cascade,
     kind text not null, body text not null, written text, ${TIMES})`,
  `create index note_by_source on note (source_id)`,
  `create index note_by_highlight on note (highlight_id) where highlight_id is not null`,
  `create index note_listed on note (created_at desc, id desc) where trashed_at is null`,
  `create table read (${SYNCED},
     source_id integer not null references source (id) on delete cascade,
     status text not null, started_on text, finished_on text, format text, until text,
     rating integer check (rating between 1 and 20), review text, ${TIMES})`,
  `create index read_by_source on read (source_id, id)`,
  `create table review (${SYNCED},
     source_id integer not null references source (id) on delete cascade,
     highlight_id integer not null references highlight (id) on delete cascade,
     rating integer not null check (rating between 1 and 4), reviewed_at text not null, due_at text not null,
     stability real not null, difficulty real not null, state text not null, learning_steps integer not null,
     scheduled_days integer not null, reps integer not null, lapses integer not null)`,
  `create index review_by_source on review (source_id)`,
  `create index review_by_highlight on review (highlight_id, reviewed_at, id, due_at)`,
  `create index review_by_time on review (reviewed_at, highlight_id)`,
  `create table version (${SYNCED},
     source_id integer not null references source (id) on delete cascade,
     table_name text not null, row_id integer not null, field text not null, value text not null,
     created_at text not null)`,
  `create index version_by_source on version (source_id)`,
  `create index version_by_row on version (row_id, id)`,
  `create table tag (${SYNCED}, name text not null, name_key text not null unique)`,
  `create table tagging (${SYNCED},
     tag_id integer not null references tag (id) on delete cascade, target_id integer not null)`,
  `create unique index tagging_once on tagging (target_id, tag_id)`,
  `create index tagging_by_tag on tagging (tag_id)`,
  `create table alias (${SYNCED}, target_id integer not null)`,
  `create table tombstone (id integer primary key, table_name text not null, clock text not null)`,
  `create table change_log (
     seq integer primary key autoincrement, table_name text not null, row_id integer not null,
     fields text, clock text not null, deleted integer not null default 0)`,
  `create table audit (
     id integer primary key, at text not null, connection text not null, tool text not null, intent text,
     request_id text, changes text not null, undone_at text)`,
  `create table request (
     tool text not null, request_id text not null, arguments_hash text not null, state text not null,
     lease_until text, output text, created_at text not null, primary key (tool, request_id)) without rowid`,
  `create table job (
     id integer primary key, kind text not null, input text not null, unique_key text, state text not null,
     attempts integer not null default 0, run_at text not null, lease_until text, lease_owner text,
     progress text, failure text, created_at text not null, finished_at text)`,
  `create index job_due on job (state, run_at)`,
  `create unique index job_waiting_once on job (kind, unique_key) where unique_key is not null and state = 'pending'`,
  `create table passage (
     id integer primary key autoincrement, source_id integer not null references source (id) on delete cascade,
     kind text not null, owner_id integer not null, start_offset integer not null default 0,
     body text not null, embedded integer)`,
  `create index passage_by_source on passage (source_id, kind, owner_id)`,
  `create index passage_marked on passage (id) where kind in ('highlight', 'note')`,
  `create index passage_waiting on passage (id) where embedded is null`,
  // Its words: cut and folded by the search itself, so that a question is spelled as they are.
  `create virtual table passage_words using fts5(
     text, head, highlight, note, content = '', contentless_delete = 1, tokenize = 'ascii')`,
  `create trigger passage_gone after delete on passage begin
     delete from passage_words where rowid = old.id;
   end`,
  `create table code (
     seq integer primary key autoincrement,
     passage_id integer not null unique references passage (id) on delete cascade,
     model text not null, code blob not null)`,
  `create table vector (
     passage_id integer primary key references passage (id) on delete cascade, quantised blob not null)`,
  `create table ranking (id text primary key, filter text not null, ids text not null, expires_at text not null)`,
  `create index ranking_by_expiry on ranking (expires_at)`,
]

/** The library as it was first released. */
export async function up(db: Transaction<Schema>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(db)
}
