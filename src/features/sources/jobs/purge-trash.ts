import { z } from 'zod'
import { defineJob } from '../../../core/define-job.ts'
import { purgeTrash } from '../trash.ts'

export const purgeTrashJob = defineJob({
  kind: 'purge-trash',
  input: z.object({}),
  run: async (library) => {
    await purgeTrash(library)
  },
})
