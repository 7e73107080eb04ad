import type { Library } from '../../core/library.ts'
import { subjectOf } from '../../features/capture/capture-store.ts'
import { subjectOfImport } from '../../features/imports/describe-import.ts'
import { countWaiting } from '../../features/search/jobs/embed-passages.ts'
import { JOB_STATES, countJobs, listJobs, type JobState } from '../../jobs/job-list.ts'
import { defineCommand } from '../command.ts'
import { progressOf } from '../drain-jobs.ts'
import { EXIT } from '../exit-code.ts'
import { isWorking, workLog } from '../background.ts'
import { withLibrary } from '../open-library.ts'
import { oneLine, STYLE } from '../print.ts'
import { when } from '../when.ts'

const SAID = { pending: 'waiting', running: 'running', failed: 'failed', completed: 'done' } as const
const LISTED = 50

interface ListedJob {
  id: number
  kind: string
  state: JobState
  attempts: number
  /** What it is about: a page or a file. */
  subject: string | null
  progress: string | null
  failure: { code?: string; message: string; hint: string } | null
  createdAt: string
  runAt: string
  finishedAt: string | null
}

export const jobs = defineCommand({
  name: 'jobs',
  usage: ['[--failed] [--all]'],
  about:
    'Shows the work of the library: how much waits, runs, is done and failed; what runs now, and why something failed.',
  flags: [
    { name: 'failed', help: 'Only what failed' },
    { name: 'all', help: 'What is done as well' },
  ],
  words: { most: 0 },
  run: (context) =>
    withLibrary(context, async ({ library, file }) => {
      const { args, out, json } = context
      const counts = await countJobs(library.db)
      const states = JOB_STATES.filter((state) =>
        args.on('failed') ? state === 'failed' : args.on('all') || state !== 'completed',
      )
      const listed = await describeJobs(library.db, states)
      const waiting = await countWaiting(library.db)
      if (json) {
        out.json({ counts, unembeddedPassages: waiting, working: isWorking(file.folder), jobs: listed })
        return EXIT.ok
      }
      out.line(JOB_STATES.map((state) => `${counts[state]} ${SAID[state]}`).join(' · '))
      if (waiting > 0)
        out.line({
          text: `${waiting.toLocaleString('en')} passages wait for their embedding.`,
          style: STYLE.dim,
        })
      const now = library.now()
      if (listed.length > 0) {
        out.line()
        out.table(
          [
            { title: 'STATE' },
            { title: 'WORK' },
            { title: 'ABOUT', flexible: true, least: 16 },
            { title: 'SINCE', spare: true },
          ],
          listed.map((job) => [
            {
              text: SAID[job.state],
              style: job.state === 'failed' ? STYLE.bad : job.state === 'running' ? STYLE.good : STYLE.dim,
            },
            job.kind,
            oneLine([job.progress, job.subject].filter(Boolean).join(' ')),
            when(job.finishedAt ?? job.createdAt, now),
          ]),
        )
        for (const job of listed.filter(({ failure }) => failure !== null)) {
          out.line()
          out.paragraph([{ text: oneLine(job.subject ?? job.kind), style: STYLE.strong }])
          out.paragraph(oneLine(job.failure?.message ?? ''), '  ')
          out.paragraph([{ text: oneLine(job.failure?.hint ?? ''), style: STYLE.dim }], '  ')
        }
      }
      if (counts.pending > 0 && !isWorking(file.folder)) {
        out.line()
        out.line(
          'Nobody is at work: `commonplace work` does what waits. The log of the last time: ',
          workLog(file.folder),
        )
      }
      return EXIT.ok
    }),
})

async function describeJobs(db: Library['db'], states: readonly JobState[]): Promise<ListedJob[]> {
  const jobs: ListedJob[] = []
  for (const row of await listJobs(db, states, LISTED)) {
    const { captureId, importId } = JSON.parse(row.input) as { captureId?: number; importId?: number }
    const about =
      captureId === undefined
        ? importId && (await subjectOfImport(db, importId))
        : await subjectOf(db, captureId)
    jobs.push({
      id: row.id,
      kind: row.kind,
      state: row.state,
      attempts: row.attempts,
      subject: about || null,
      progress: progressOf(row.progress) || null,
      failure: row.failure === null ? null : failureOf(row.failure),
      createdAt: row.created_at,
      runAt: row.run_at,
      finishedAt: row.finished_at,
    })
  }
  return jobs
}

function failureOf(json: string): ListedJob['failure'] {
  const { hint, error } = JSON.parse(json) as { hint: string; error: { code: string; message: string } }
  return { code: error.code, message: error.message, hint }
}
