import { answerOnce } from './killable-worker.ts'
import { readPdf } from './pdf-reader.ts'

answerOnce('PDF', readPdf)
