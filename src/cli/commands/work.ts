import { defineCommand } from '../command.ts'
import { markWorking } from '../background.ts'
import { EXIT } from '../exit-code.ts'
import { drainJobs } from '../drain-jobs.ts'
import { withLibrary } from '../open-library.ts'

export const work = defineCommand({
  name: 'work',
  usage: [''],
  about:
    'Does what waits (capturing, embedding) and ends when nothing waits any more. `commonplace add` starts it in the background by itself; a running `commonplace mcp` does the same work.',
  flags: [],
  words: { most: 0 },
  run: (context) =>
    withLibrary(
      context,
      async (local) => {
        const { out, err, json, signal } = context
        const unmark = markWorking(local.file.folder)
        try {
          const { done, failed } = await drainJobs(local, { err, signal })
          if (json) out.json({ done, failed })
          else if (done + failed === 0) out.line('Nothing was waiting.')
          else
            out.line(
              `${stamp()}Done: ${done}${failed > 0 ? `, failed: ${failed}; \`commonplace jobs\` says why` : ''}.`,
            )
          return signal.aborted ? EXIT.interrupted : EXIT.ok
        } finally {
          unmark()
        }
        function stamp(): string {
          // In a log a line needs its time; at a terminal the reader knows it.
          return out.tty ? '' : `${new Date().toISOString()} `
        }
      },
      { changes: true, background: false },
    ),
})
