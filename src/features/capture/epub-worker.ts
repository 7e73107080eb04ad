import { readEpub } from './epub-reader.ts'
import { answerOnce } from './killable-worker.ts'

answerOnce('EPUB', readEpub)
