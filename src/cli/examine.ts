import { existsSync, readdirSync, statSync } from 'node:fs'
import { statfs } from 'node:fs/promises'
import { join } from 'node:path'
import { sql } from 'kysely'
import { z } from 'zod'
import { mediaFiles } from '../app/back-up.ts'
import { LIBRARY_FILE } from '../app/open-file.ts'
import type { LocalLibrary } from '../app/open-local.ts'
import type { LocalConfig } from '../config/local.ts'
import { modelInWords } from '../config/model.ts'
import { toFailure } from '../core/to-failure.ts'
import { workerFile } from '../core/worker-file.ts'
import { SCHEMA_VERSION } from '../db/sqlite/connect.ts'
import { backupRecord, backupSettings, isBackupLate } from '../features/backups/backup-settings.ts'
import { rebuildIndex } from '../features/search/index-source.ts'
import { fullText } from '../features/search/indexes.ts'
import { countWaiting, queueEmbedding } from '../features/search/jobs/embed-passages.ts'
import { listNamedMedia } from '../features/sources/owned-store.ts'
import { countJobs, countNeglected } from '../jobs/job-list.ts'
import { count, size, when } from './when.ts'

/** What one check found: `note` is worth knowing, `bad` needs mending. */
export interface Finding {
  check: string
  state: 'good' | 'note' | 'bad'
  found: string
  /** What the reader can do. */
  mend?: string
  /** What `--fix` does about it. Answers with what was done. */
  fix?: () => Promise<string>
}

type Checked = Omit<Finding, 'check'>

const good = (found: string): Checked => ({ state: 'good', found })

/** Below this the next capture may not fit. */
const LITTLE_ROOM = 500e6

/** Looks at everything that an open library needs to work, most basic first. Changes nothing. `askModel` lets it put a question to the model. */
export async function* examine(
  local: LocalLibrary,
  config: LocalConfig,
  { askModel, signal }: { askModel: boolean; signal: AbortSignal },
): AsyncGenerator<Finding> {
  const checks: readonly [string, () => Promise<Checked> | Checked][] = [
    ['library file', () => checkFile(local)],
    ['references', () => checkReferences(local)],
    // Another version does not open at all.
    ['layout', () => good(`version ${SCHEMA_VERSION}`)],
    ['readers', checkReaders],
    ['word index', () => checkWords(local)],
    ['search by meaning', () => checkEmbedder(local, config)],
    ['embeddings', () => checkVectors(local)],
    ['language model', () => checkModel(local, config, askModel, signal)],
    ['files and covers', () => checkMedia(local)],
    ['work', () => checkJobs(local)],
    ['room on the disk', () => checkRoom(local)],
    ['backups', () => checkBackups(local)],
  ]
  for (const [check, look] of checks) {
    signal.throwIfAborted()
    let checked: Checked
    try {
      checked = await look()
    } catch (error) {
      const { message, hint } = toFailure(error)
      checked = { state: 'bad', found: message, mend: hint }
    }
    yield { check, ...checked }
  }
}

function checkFile({ file, library }: LocalLibrary): Checked {
  const rows = file.database.prepare('pragma integrity_check(5)').all() as { integrity_check: string }[]
  const problems = rows.map(({ integrity_check: text }) => text).filter((text) => text !== 'ok')
  if (problems.length > 0) {
    return {
      state: 'bad',
      found: `The file is damaged (${problems.length === 5 ? 'many places' : count(problems.length, 'place')}).`,
      mend: 'Make a copy of the folder, then `commonplace restore` the latest file of its `backups` folder.',
    }
  }
  const bytes = ['', '-wal']
    .map((suffix) => statSync(join(file.folder, LIBRARY_FILE + suffix), { throwIfNoEntry: false })?.size ?? 0)
    .reduce((sum, part) => sum + part)
  return good(
    `${join(file.folder, LIBRARY_FILE)}, ${size(bytes)}${library.readOnly ? ', opened for reading only' : ''}`,
  )
}

function checkReferences({ file }: LocalLibrary): Checked {
  const broken = file.database.prepare('pragma foreign_key_check').all()
  if (broken.length === 0) return good('every row belongs to one that is there')
  return {
    state: 'bad',
    found: `${count(broken.length, 'row')} belong to something that is gone.`,
    mend: 'Take a backup, then restore the latest sound one from the `backups` folder.',
  }
}

/** What pages, PDFs, e-books and covers are read with. */
async function checkReaders(): Promise<Checked> {
  const missing = READERS.filter((name) => !existsSync(workerFile(name)))
  const packages: [string, () => unknown][] = [
    ['sharp', () => import('sharp')],
    ['pdfjs-dist', () => import.meta.resolve('pdfjs-dist/package.json')],
  ]
  for (const [name, load] of packages) {
    try {
      await load()
    } catch {
      missing.push(name)
    }
  }
  if (missing.length === 0) return good('pages, PDFs, e-books and covers can be read')
  return {
    state: 'bad',
    found: `Parts of the program are missing: ${missing.join(', ')}.`,
    mend: 'Install Commonplace again; on an unusual system, look whether sharp and pdfjs-dist install there.',
  }
}

const READERS = ['article-worker', 'pdf-worker', 'epub-worker', 'embedding-worker']

async function checkWords({ library }: LocalLibrary): Promise<Checked> {
  const { db } = library
  const unsearchable = await sql<{ sources: number }>`
    select count(*) as sources from source
    where trashed_at is null and not exists (select 1 from passage where passage.source_id = source.id and kind = 'head')`.execute(
    db,
  )
  const missing = await sql<{ passages: number }>`
    select count(*) as passages from passage where id not in (select id from passage_words_docsize)`.execute(
    db,
  )
  const { passages } = await db
    .selectFrom('passage')
    .select(({ fn }) => fn.countAll<number>().as('passages'))
    .executeTakeFirstOrThrow()
  // The index's own check counts as a write.
  const sound = library.readOnly || (await fullText(db).check(db))
  const sources = unsearchable.rows[0]?.sources ?? 0
  const unindexed = missing.rows[0]?.passages ?? 0
  if (sound && sources === 0 && unindexed === 0) return good(`${count(passages, 'passage')}, complete`)
  return {
    state: 'bad',
    found: sound
      ? `${count(sources, 'item')} and ${count(unindexed, 'passage')} cannot be found by words.`
      : 'The word index is damaged.',
    mend: '`commonplace doctor --fix` builds it anew; nothing of yours is touched.',
    fix: async () => {
      await rebuildIndex(library)
      return 'Built the word index anew.'
    },
  }
}

async function checkEmbedder({ library }: LocalLibrary, { embedder }: LocalConfig): Promise<Checked> {
  if (embedder.kind === 'off') return { state: 'note', found: 'switched off: search goes by words only' }
  const { embedder: made } = library.outside
  try {
    const [vector] = made
      ? await made.embed(['The quick brown fox jumps over the lazy dog.'], { priority: 'query' })
      : []
    if (made && vector?.length === made.dimensions)
      return good(`${embedder.kind}: ${made.id}, ${made.dimensions} dimensions`)
  } catch {
    // Said below: what a runtime throws says nothing to the reader.
  }
  return {
    state: 'bad',
    found: `The embedding model (${embedder.kind}) does not answer: search goes by words only.`,
    mend:
      embedder.kind === 'builtin'
        ? 'Install Commonplace again: files of the model or its runtime are missing.'
        : 'Check COMMONPLACE_EMBEDDER_URL, _MODEL and _KEY, and that the server runs.',
  }
}

async function checkModel(
  { library }: LocalLibrary,
  { model: config }: LocalConfig,
  isAsked: boolean,
  signal: AbortSignal,
): Promise<Checked> {
  const { model } = library.outside
  if (!model) return good('none set: what is built in picks passages')
  const named = modelInWords(config)
  if (!isAsked) return good(`${named}, not asked (\`commonplace doctor --model\` does)`)
  const answer = await model.answer({
    task: 'Say again the one word that you are given.',
    material: 'harbour',
    schema: {
      type: 'object',
      properties: { word: { type: 'string' } },
      required: ['word'],
      additionalProperties: false,
    },
    maxTokens: 100,
    signal,
  })
  if (modelAnswer.safeParse(answer).data?.word.toLowerCase().includes('harbour'))
    return good(`${named}, answers`)
  return {
    state: 'bad',
    found: `The language model (${named}) answers something else than it is asked.`,
    mend: 'Set COMMONPLACE_MODEL_NAME to a model that can follow an instruction and answer in JSON.',
  }
}

const modelAnswer = z.object({ word: z.string() })

async function checkVectors({ library }: LocalLibrary): Promise<Checked> {
  const { db, outside } = library
  const waiting = await countWaiting(db)
  const { others } = await db
    .selectFrom('code')
    .select(({ fn }) => fn.countAll<number>().as('others'))
    .where('model', '<>', outside.embedder?.id ?? '')
    .executeTakeFirstOrThrow()
  const stale = outside.embedder ? others : 0
  if (waiting === 0 && stale === 0) return good('every passage has its vector')
  if (!outside.embedder) return { state: 'note', found: `${count(waiting, 'passage')} without a vector` }
  return {
    state: 'note',
    found: [
      waiting > 0 ? `${count(waiting, 'passage')} wait for a vector` : '',
      stale > 0 ? `${count(stale, 'vector')} of another model` : '',
    ]
      .filter(Boolean)
      .join(', '),
    mend: '`commonplace work` makes them.',
    fix: async () => {
      await queueEmbedding(library)
      return 'Queued the embedding; `commonplace work` does it.'
    },
  }
}

async function checkMedia({ library, file }: LocalLibrary): Promise<Checked> {
  const present = new Set((await mediaFiles(join(file.folder, 'media'))).map(({ hash }) => hash))
  const rows = await listNamedMedia(library.db)
  const wanted = new Set(rows.map(({ hash }) => hash))
  const gone = rows.filter(({ hash }) => !present.has(hash))
  if (gone.length > 0) {
    const titles = [...new Set(gone.map(({ title }) => title))]
    return {
      state: 'bad',
      found: `${count(gone.length, 'file')} of ${count(titles.length, 'item')} missing, of ${titles
        .slice(0, 3)
        .map((title) => `“${title}”`)
        .join(', ')}${titles.length > 3 ? ' and others' : ''}.`,
      mend: 'The texts are whole. `commonplace add URL --refresh` or adding the file again brings an original back; so does restoring a backup.',
    }
  }
  const unused = [...present].filter((hash) => !wanted.has(hash)).length
  return good(`${count(wanted.size, 'file')}, all there${unused > 0 ? `; ${unused} no longer used` : ''}`)
}

async function checkJobs({ library }: LocalLibrary): Promise<Checked> {
  const { db } = library
  const now = library.now()
  const hourAgo = new Date(now.getTime() - 3_600_000)
  const { abandoned, late } = await countNeglected(db, now, hourAgo)
  if (abandoned + late > 0) {
    return {
      state: 'note',
      found: `${count(abandoned, 'job')} left by a process that ended, ${late} waiting for over an hour.`,
      mend: '`commonplace work` does them.',
    }
  }
  const { pending, running, failed } = await countJobs(db)
  if (failed > 0)
    return {
      state: 'note',
      found: `${count(failed, 'job')} failed.`,
      mend: '`commonplace jobs --failed` says why.',
    }
  return good(pending + running === 0 ? 'nothing waits' : `${count(pending + running, 'job')} on the way`)
}

async function checkRoom({ file }: LocalLibrary): Promise<Checked> {
  const { bavail, bsize } = await statfs(file.folder)
  const free = bavail * bsize
  if (free > LITTLE_ROOM) return good(`${size(free)} free`)
  return {
    state: 'bad',
    found: `Only ${size(free)} are free.`,
    mend: 'Make room: what does not fit cannot be captured.',
  }
}

async function checkBackups({ file, library }: LocalLibrary): Promise<Checked> {
  const [settings, record] = [await backupSettings(library.db), await backupRecord(library.db)]
  const now = library.now()
  const { failure, madeAt } = record
  if (settings.every !== 'off' && failure)
    return {
      state: 'bad',
      found: `The one of ${when(failure.at, now)} failed: ${failure.message}`,
      mend: failure.hint,
    }
  if (isBackupLate(settings, record, now))
    return {
      state: 'bad',
      found: `One is wanted every ${settings.every}, and the last was made ${when(madeAt ?? now, now)}.`,
      mend: '`commonplace work` makes one; an assistant that is connected does it by itself.',
    }
  const folder = settings.folder ?? join(file.folder, 'backups')
  const times = existsSync(folder)
    ? readdirSync(folder).map((name) => statSync(join(folder, name)).mtimeMs)
    : []
  if (times.length === 0)
    return {
      state: 'note',
      found: settings.folder === null ? 'none in the library folder' : `none in ${folder}`,
      mend: '`commonplace backup` makes one, `commonplace config backup.every day` one each day.',
    }
  return good(
    `${count(times.length, 'file')}, the last ${when(new Date(Math.max(...times)), now)}${settings.every === 'off' ? '' : `; one every ${settings.every}`}`,
  )
}
