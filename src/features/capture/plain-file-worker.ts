import { answerOnce } from './killable-worker.ts'
import { readPlainFileText } from './plain-file-text.ts'
import type { GivenPlainFile } from './plain-file-text.ts'

answerOnce('file', async (file: GivenPlainFile) => readPlainFileText(file))
