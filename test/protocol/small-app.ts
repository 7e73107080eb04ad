import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { Worker } from 'node:worker_threads'
import type { App } from '../../src/mcp/protocol/app.ts'

const NAMES = ['echo', 'slow', 'stuck', 'link', 'boom', 'print', 'ask', 'small']

/** An application with one tool for each thing that a transport can get wrong. */
export function createSmallApp(): App & { started: string[]; aborted: string[] } {
  const started: string[] = []
  const aborted: string[] = []
  return {
    started,
    aborted,
    info: { name: 'small', version: '1' },
    tools: NAMES.map((name) => ({ name, inputSchema: { type: 'object', properties: {} } })),
    bodyLimit: (name) => (name === 'small' ? 300 : 2 * 1024 * 1024),
    async callTool(name, args, context) {
      started.push(name)
      const text = (value: string) => ({ content: [{ type: 'text' as const, text: value }] })
      switch (name) {
        case 'echo':
          context.log('emergency', 'not declared, so not sent')
          return text(String(args['q']))
        case 'link':
          return { content: [{ type: 'resource_link', uri: 'becoming://x', name: 'X' }] }
        case 'boom':
          throw new Error('secret')
        case 'print':
          console.log('a dependency prints')
          process.stdout.write('and prints\n')
          await once(new Worker('console.log("a worker prints")', { eval: true }), 'exit')
          return text('printed')
        case 'slow':
          context.signal.addEventListener('abort', () => aborted.push(name))
          for (let i = 1; i < 20 && !context.cancelled; i++) {
            context.progress(i, 20)
            await sleep(10)
          }
          return { content: [] }
        case 'stuck':
          await new Promise((resolve) => {
            context.signal.addEventListener('abort', () => {
              aborted.push(name)
              resolve(undefined)
            })
            context.progress(1)
          })
          return { content: [] }
        case 'ask': {
          const answer = context.inputResponses['sure']
          if (answer !== undefined) return text(JSON.stringify(answer))
          const sure = { method: 'elicitation/create', params: { message: 'Sure?', requestedSchema: {} } }
          return { resultType: 'input_required', inputRequests: { sure } }
        }
        default:
          return text(name)
      }
    },
    prompts: [
      { name: 'recap', arguments: [{ name: 'book', required: true }] },
      { name: 'linked', arguments: [] },
    ],
    getPrompt: (name, args) => ({
      messages: [
        {
          role: 'user',
          content:
            name === 'linked'
              ? { type: 'resource_link', uri: 'becoming://x', name: 'X' }
              : { type: 'text', text: `Recap ${args['book']}` },
        },
      ],
    }),
    complete: ({ argument, chosen }) => ({
      values: Array.from({ length: 150 }, (_, i) => `${argument.value}${chosen['shelf'] ?? ''}${i}`),
    }),
  }
}
