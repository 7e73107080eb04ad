/** The library that a transaction is about; null where none was set, and then equal to no row's. */
const CURRENT_LIBRARY = `nullif(current_setting('commonplace.library', true), '')::integer`

/** First in every key and index: a library's rows are found together, and could be spread over machines by it. */
const LIBRARY = `library_id integer not null default current_setting('commonplace.library')::integer`
/** In the order of bytes, which is SQLite's. */
const TEXT = `text collate "C"`
const SYNCED = `${LIBRARY}, id bigint not null, clock ${TEXT} not null, clocks ${TEXT} not null default '{}',
  primary key (library_id, id)`
const TIMES = `created_at ${TEXT} not null, updated_at ${TEXT} not null, trashed_at ${TEXT}`
const OF_LIBRARY = `foreign key (library_id) references library (id) on delete cascade`
const partOf = (table: string, column: string): string =>
  `foreign key (library_id, ${column}) references ${table} (library_id, id) on delete cascade`
const OF_SOURCE = partOf('source', 'source_id')

const TABLES: readonly string[] = [
  // One row a library: its lock is what lets one change at a time, and with it goes the library.
  `create table library (
     id integer primary key generated always as identity, name ${TEXT} not null unique,
     last_passage bigint not null default 0, created_at timestamptz not null default now())`,
  `create table local (
     ${LIBRARY}, key ${TEXT} not null, value ${TEXT} not null, primary key (library_id, key), ${OF_LIBRARY})`,
  `create table replica (
     ${LIBRARY}, number integer not null, counter bigint not null default 0, current integer not null default 0,
     file_mark ${TEXT} not null, primary key (library_id, number), ${OF_LIBRARY})`,
  `create table setting (
     ${SYNCED}, key ${TEXT} not null, value ${TEXT} not null, unique (library_id, key), ${OF_LIBRARY})`,
  `create table source (
     ${SYNCED}, kind ${TEXT} not null, title ${TEXT} not null, match_key ${TEXT} not null,
     authors ${TEXT} not null default '[]', language ${TEXT}, site ${TEXT}, published ${TEXT}, description ${TEXT},
     publisher ${TEXT}, url ${TEXT}, isbn13 ${TEXT}, isbns ${TEXT} not null default '[]', cover ${TEXT},
     text_id bigint, words integer, ${TIMES}, ${OF_LIBRARY})`,
  `create index source_by_isbn on source (library_id, isbn13) where isbn13 is not null`,
  `create index source_by_match on source (library_id, match_key)`,
  `create index source_by_cover on source (library_id, cover) where cover is not null`,
  `create index source_by_creation on source (library_id, created_at desc, id desc)`,
  `create index source_listed on source (library_id, created_at desc, id desc, kind)
     where trashed_at is null and text_id is not null`,
  `create table source_url (
     ${SYNCED}, source_id bigint not null, url ${TEXT} not null, url_key ${TEXT} not null,
     unique (library_id, url_key), ${OF_SOURCE})`,
  `create index source_url_by_source on source_url (library_id, source_id)`,
  `create table text (
     ${SYNCED}, source_id bigint not null, markdown ${TEXT} not null, plain ${TEXT} not null, html ${TEXT},
     renderer ${TEXT}, method ${TEXT} not null, hash ${TEXT} not null, words integer not null, places ${TEXT},
     raw ${TEXT}, captured_at ${TEXT} not null, state ${TEXT} not null, ${OF_SOURCE})`,
  `create index text_by_source on text (library_id, source_id)`,
  `create index text_by_raw on text (library_id, raw) where raw is not null`,
  `create table capture (
     ${LIBRARY}, id bigint not null, source_id bigint not null, url ${TEXT}, given ${TEXT}, given_name ${TEXT},
     state ${TEXT} not null, failure ${TEXT}, outcome ${TEXT}, text_id bigint, warnings ${TEXT},
     requested_at ${TEXT} not null, finished_at ${TEXT}, primary key (library_id, id), ${OF_SOURCE})`,
  `create index capture_by_source on capture (library_id, source_id, id)`,
  `create index capture_by_given on capture (library_id, given) where given is not null`,
  `create table import (
     ${LIBRARY}, id bigint not null, kind ${TEXT} not null, status ${TEXT} not null, source_id bigint, capture_id bigint,
     url ${TEXT}, format ${TEXT}, name ${TEXT}, file_hash ${TEXT}, version ${TEXT}, counts ${TEXT} not null default '{}', failure ${TEXT},
     remarks ${TEXT}, text_id bigint, read_to integer, waits integer not null default 0, resumes bigint,
     created_at ${TEXT} not null, finished_at ${TEXT}, undone_at ${TEXT}, report ${TEXT}, primary key (library_id, id),
     ${OF_LIBRARY})`,
  `create index import_by_source on import (library_id, source_id, id) where source_id is not null`,
  `create index import_by_file on import (library_id, file_hash, id) where file_hash is not null`,
  `create index import_waiting on import (library_id, id) where waits = 1`,
  `create table import_batch (
     ${LIBRARY}, id bigint not null, import_id bigint not null, rows ${TEXT} not null, primary key (library_id, id),
     ${partOf('import', 'import_id')})`,
  `create index import_batch_by_import on import_batch (library_id, import_id, id)`,
  `create table imported (
     ${LIBRARY}, id bigint not null, source_id bigint not null, kind ${TEXT} not null, key ${TEXT} not null,
     place ${TEXT}, row_id bigint not null, primary key (library_id, id), ${OF_LIBRARY})`,
  `create index imported_by_source on imported (library_id, source_id)`,
  `create index imported_source on imported (library_id, key) where kind = 'source'`,
  `create index imported_row on imported (library_id, row_id)`,
  `create table highlight (
     ${SYNCED}, source_id bigint not null, text_id bigint, quote ${TEXT} not null, prefix ${TEXT}, suffix ${TEXT},
     start_offset integer, end_offset integer, state ${TEXT} not null, matched ${TEXT}, locator ${TEXT},
     color ${TEXT}, origin ${TEXT} not null, written ${TEXT}, ${TIMES}, ${OF_SOURCE})`,
  `create index highlight_by_source on highlight (library_id, source_id, start_offset)`,
  `create index highlight_listed on highlight (library_id, created_at desc, id desc, source_id) where trashed_at is null`,
  `create table note (
     ${SYNCED}, source_id bigint not null, highlight_id bigint, kind ${TEXT} not null, body ${TEXT} not null,
     written ${TEXT}, ${TIMES}, ${OF_SOURCE}, ${partOf('highlight', 'highlight_id')})`,
  `create index note_by_source on note (library_id, source_id)`,
  `create index note_by_highlight on note (library_id, highlight_id) where highlight_id is not null`,
  `create index note_listed on note (library_id, created_at desc, id desc) where trashed_at is null`,
  `create table read (
     ${SYNCED}, source_id bigint not null, status ${TEXT} not null, started_on ${TEXT}, finished_on ${TEXT},
     format ${TEXT}, until ${TEXT}, rating integer check (rating between 1 and 20), review ${TEXT}, ${TIMES},
     ${OF_SOURCE})`,
  `create index read_by_source on read (library_id, source_id, id)`,
  `create table review (
     ${SYNCED}, source_id bigint not null, highlight_id bigint not null, rating integer not null check (rating between 1 and 4),
     reviewed_at ${TEXT} not null, due_at ${TEXT} not null, stability double precision not null,
     difficulty double precision not null, state ${TEXT} not null, learning_steps integer not null,
     scheduled_days integer not null, reps integer not null, lapses integer not null,
     ${OF_SOURCE}, ${partOf('highlight', 'highlight_id')})`,
  `create index review_by_source on review (library_id, source_id)`,
  `create index review_by_highlight on review (library_id, highlight_id, reviewed_at, id, due_at)`,
  `create index review_by_time on review (library_id, reviewed_at, highlight_id)`,
  `create table version (
     ${SYNCED}, source_id bigint not null, table_name ${TEXT} not null, row_id bigint not null, field ${TEXT} not null,
     value ${TEXT} not null, created_at ${TEXT} not null, ${OF_SOURCE})`,
  `create index version_by_source on version (library_id, source_id)`,
  `create index version_by_row on version (library_id, row_id, id)`,
  `create table tag (
     ${SYNCED}, name ${TEXT} not null, name_key ${TEXT} not null, unique (library_id, name_key), ${OF_LIBRARY})`,
  `create table tagging (
     ${SYNCED}, tag_id bigint not null, target_id bigint not null, ${partOf('tag', 'tag_id')})`,
  `create unique index tagging_once on tagging (library_id, target_id, tag_id)`,
  `create index tagging_by_tag on tagging (library_id, tag_id)`,
  `create table alias (${SYNCED}, target_id bigint not null, ${OF_LIBRARY})`,
  `create table tombstone (
     ${LIBRARY}, id bigint not null, table_name ${TEXT} not null, clock ${TEXT} not null,
     primary key (library_id, id), ${OF_LIBRARY})`,
  `create table change_log (
     ${LIBRARY}, seq bigint generated by default as identity, table_name ${TEXT} not null, row_id bigint not null,
     fields ${TEXT}, clock ${TEXT} not null, deleted integer not null default 0, primary key (library_id, seq),
     ${OF_LIBRARY})`,
  `create table audit (
     ${LIBRARY}, id bigint not null, at ${TEXT} not null, connection ${TEXT} not null, tool ${TEXT} not null,
     intent ${TEXT}, request_id ${TEXT}, changes ${TEXT} not null, undone_at ${TEXT}, primary key (library_id, id),
     ${OF_LIBRARY})`,
  `create table request (
     ${LIBRARY}, tool ${TEXT} not null, request_id ${TEXT} not null, arguments_hash ${TEXT} not null,
     state ${TEXT} not null, lease_until ${TEXT}, output ${TEXT}, created_at ${TEXT} not null,
     primary key (library_id, tool, request_id), ${OF_LIBRARY})`,
  `create table job (
     ${LIBRARY}, id bigint not null, kind ${TEXT} not null, input ${TEXT} not null, unique_key ${TEXT},
     state ${TEXT} not null, attempts integer not null default 0, run_at ${TEXT} not null, lease_until ${TEXT},
     lease_owner ${TEXT}, progress ${TEXT}, failure ${TEXT}, created_at ${TEXT} not null, finished_at ${TEXT},
     primary key (library_id, id), ${OF_LIBRARY})`,
  `create index job_due on job (library_id, state, run_at)`,
  `create unique index job_waiting_once on job (library_id, kind, unique_key)
     where unique_key is not null and state = 'pending'`,
  `create table passage (
     ${LIBRARY}, id bigint not null, source_id bigint not null, kind ${TEXT} not null, owner_id bigint not null,
     start_offset integer not null default 0, body ${TEXT} not null, embedded integer, primary key (library_id, id),
     ${OF_SOURCE})`,
  `create index passage_by_source on passage (library_id, source_id, kind, owner_id)`,
  `create index passage_marked on passage (library_id, id) where kind in ('highlight', 'note')`,
  `create index passage_waiting on passage (library_id, id) where embedded is null`,
  // Words begin with the library's number, and so the index, too, keeps each library's apart from all others.
  `create table passage_words (
     ${LIBRARY}, passage_id bigint not null, words tsvector not null, primary key (library_id, passage_id),
     ${partOf('passage', 'passage_id')})`,
  `create index passage_words_index on passage_words using gin (words) with (fastupdate = off)`,
  `create table code (
     ${LIBRARY}, seq bigint generated by default as identity, passage_id bigint not null, model ${TEXT} not null,
     code varbit not null, primary key (library_id, passage_id), ${partOf('passage', 'passage_id')})`,
  // With the codes in it: a search for the nearest reads them one after the other, and no row of the table.
  `create index code_by_model on code (library_id, model) include (passage_id, code)`,
  `create statistics code_length on length(code) from code`,
  `create table vector (
     ${LIBRARY}, passage_id bigint not null, quantised bytea not null, primary key (library_id, passage_id),
     ${partOf('passage', 'passage_id')})`,
  `create table ranking (
     ${LIBRARY}, id ${TEXT} not null, filter ${TEXT} not null, ids ${TEXT} not null, expires_at ${TEXT} not null,
     primary key (library_id, id), ${OF_LIBRARY})`,
  `create index ranking_by_expiry on ranking (library_id, expires_at)`,
]

const tableOf = (statement: string): string | undefined => /^create table (\w+)/.exec(statement)?.[1]

/** A library sees its own rows alone: whoever asks without naming one sees nothing. */
const guard = (table: string): string[] => [
  `alter table ${table} enable row level security`,
  `create policy own on ${table} using (${table === 'library' ? 'id' : 'library_id'} = ${CURRENT_LIBRARY})`,
]

/** Runs with the rights of the tables' owner, past row-level security: each of these says for itself whose rows it reads. */
const DEFINER = (schema: string): string => `security definer set search_path = ${schema}, pg_temp`

const functions = (schema: string): string[] => [
  // Passages are numbered one by one within their library, so that the last number says how many there are.
  `create function number_passage() returns trigger language plpgsql as $$
     declare last bigint := nullif(current_setting('commonplace.last_passage', true), '')::bigint;
     begin
       if last is null then select last_passage into last from library where id = new.library_id; end if;
       new.id := coalesce(new.id, last + 1);
       perform set_config('commonplace.last_passage', greatest(new.id, last)::text, true);
       return new;
     end $$`,
  `create trigger passage_numbered before insert on passage for each row execute function number_passage()`,
  `create function keep_last_passage() returns trigger language plpgsql as $$
     begin
       update library set last_passage = nullif(current_setting('commonplace.last_passage', true), '')::bigint
         where id = ${CURRENT_LIBRARY} and current_setting('commonplace.last_passage', true) <> '';
       return null;
     end $$`,
  `create trigger passage_last_kept after insert on passage for each statement execute function keep_last_passage()`,
  // The number of a library by its name, which nobody can read who does not know it.
  `create function library_named(wanted text) returns integer language sql stable ${DEFINER(schema)} as $$
     select id from library where name = wanted $$`,
  `create function make_library(wanted text) returns integer language plpgsql ${DEFINER(schema)} as $$
     declare made integer;
     begin
       insert into library (name) values (wanted) on conflict (name) do nothing returning id into made;
       if made is null then return (select id from library where name = wanted); end if;
       insert into replica (library_id, number, current, file_mark) values (made, 0, 1, '');
       return made;
     end $$`,
  // Operators on words cannot be shown not to leak, so that row-level security would keep them from their index.
  `create function match_words(query tsquery, low bigint, high bigint, most bigint)
   returns table (passage_id bigint) language plpgsql stable rows 300 ${DEFINER(schema)} as $$
     begin
       return query execute 'select w.passage_id from passage_words w
         where w.words @@ $1 and w.library_id = ${CURRENT_LIBRARY.replaceAll("'", "''")}
           and w.passage_id between $2 and $3
         order by w.passage_id desc limit $4' using query, low, high, most;
     end $$`,
  `create function count_words(query tsquery, most bigint)
   returns table (count bigint, last bigint) language plpgsql stable rows 1 ${DEFINER(schema)} as $$
     begin
       return query execute 'select count(*), max(m.passage_id) from (
         select w.passage_id from passage_words w
         where w.words @@ $1 and w.library_id = ${CURRENT_LIBRARY.replaceAll("'", "''")} limit $2) m'
         using query, most;
     end $$`,
  // Every passage that has a part of the question is among the matches: how many have it says what it is worth, as in BM25.
  `create function rank_words(query tsquery, parts tsquery[], low bigint, high bigint, most bigint)
   returns table (passage_id bigint) language plpgsql stable rows 300 ${DEFINER(schema)} as $$
     begin
       return query execute 'with matched as materialized (
           select w.passage_id, w.words from passage_words w
           where w.words @@ $1 and w.library_id = ${CURRENT_LIBRARY.replaceAll("'", "''")}
             and w.passage_id between $2 and $3),
         part as materialized (
           select p, ln(1 + (greatest(l.last_passage - n, 0) + 0.5) / (n + 0.5)) as weight
           from library l, unnest($5) as p
             cross join lateral (select count(*) as n from matched where words @@ p) held
           where l.id = ${CURRENT_LIBRARY.replaceAll("'", "''")})
         select m.passage_id from matched m
         order by (select sum(weight * ts_rank(''{1,1,1,1}'', m.words, p, 1)) from part where m.words @@ p)
           desc nulls last, m.passage_id desc limit $4' using query, low, high, most, parts;
     end $$`,
]

/** Functions are everybody's until it is said otherwise. */
const NOT_PUBLIC = [
  'library_named(text)',
  'make_library(text)',
  'match_words(tsquery, bigint, bigint, bigint)',
  'count_words(tsquery, bigint)',
  'rank_words(tsquery, tsquery[], bigint, bigint, bigint)',
].map((name) => `revoke execute on function ${name} from public`)

/** The library as it was first released, every library in the same tables, in the schema that new tables go to. */
export function statements(schema: string): string[] {
  return TABLES.flatMap((statement) => {
    const table = tableOf(statement)
    return table === undefined ? [statement] : [statement, ...guard(table)]
  }).concat(functions(schema), NOT_PUBLIC)
}
