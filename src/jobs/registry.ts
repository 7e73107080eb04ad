import type { Job } from '../core/define-job.ts'
import { backUpJob } from '../features/backups/jobs/back-up.ts'
import { captureJob } from '../features/capture/jobs/capture.ts'
import { importFileJob } from '../features/imports/jobs/import-file.ts'
import { readLink } from '../features/imports/jobs/read-link.ts'
import { resumeImports } from '../features/imports/jobs/resume-imports.ts'
import { embedPassages } from '../features/search/jobs/embed-passages.ts'
import { purgeTrashJob } from '../features/sources/jobs/purge-trash.ts'

/** Every kind of job there is. */
export const JOBS: readonly Job[] = [
  captureJob,
  readLink,
  importFileJob,
  embedPassages,
  purgeTrashJob,
  resumeImports,
  backUpJob,
]
